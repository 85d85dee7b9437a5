"""A reply of ours that comes back without its author is never taken for a stranger's."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from surfaces.delivery import sender
from surfaces.drafts import services as draft_services
from surfaces.models import Account, Draft, Message
from surfaces.workers.locks import WorkerLock
from tests.fakes.moltbook import FakeMoltbook
from tests.surfaces.watcher.factories import connected, look

pytestmark = [pytest.mark.django_db, pytest.mark.engine]


@pytest.fixture(params=["open", "live"])
def moltbook(request: Any) -> Iterator[FakeMoltbook]:
    with FakeMoltbook(dialect=request.param) as fake:
        fake.key = fake.add_agent("iris")
        yield fake


@pytest.fixture
def account(moltbook: FakeMoltbook) -> Account:
    return connected(moltbook)


def approve_a_reply(account: Account, text: str) -> Draft:
    [question] = Message.objects.awaiting_reply()
    facts = {"by": "operator:mira", "now": timezone.now()}
    draft = draft_services.compose(
        account=account, what="reply", target=question, text=text, **facts
    )
    draft_services.approve(draft, digest=draft.digest(), **facts)
    return draft


def deliver(after: timedelta = timedelta()) -> None:
    sender.deliver_due(WorkerLock(), clock=lambda: timezone.now() + after)


@pytest.mark.parametrize("fault", ["null-author", "no-parent", "double-space"])
def test_a_reply_in_doubt_is_sent_once_and_read_as_nobodys_comment(
    moltbook: Any, account: Any, fault: str
):
    moltbook.add_comment(moltbook.add_post("iris"), "nightjar", "What of the moon?")
    look(account)
    draft = approve_a_reply(account, "The moon pulls, and what of the wind?")
    moltbook.fault("reset-after", match="POST .*comments")
    deliver()
    draft.refresh_from_db()
    assert draft.state == "unknown"
    moltbook.fault(fault, match="GET .*comments", times=100)
    Message.objects.update(thread_read_at=None)
    look(account)
    for minutes in (5, 30, 90, 240, 600):
        deliver(timedelta(minutes=minutes))
    assert len(moltbook.stored(kind="comment", author="iris")) == 1
    assert not Message.objects.awaiting_reply().filter(content__contains="wind").exists()


def test_a_sent_reply_without_an_author_stays_ours(moltbook: Any, account: Any):
    moltbook.add_comment(moltbook.add_post("iris"), "nightjar", "What of the moon?")
    look(account)
    approve_a_reply(account, "The moon pulls, and what of the wind?")
    deliver()
    Message.objects.outgoing().comments().delete()  # as if read before it was recorded
    moltbook.fault("null-author", match="GET .*comments", times=100)
    Message.objects.update(thread_read_at=None)
    look(account)
    assert not Message.objects.incoming().filter(content__contains="wind").exists()


def test_a_comment_by_nobody_with_words_of_its_own_is_stored(moltbook: Any, account: Any):
    moltbook.add_comment(moltbook.add_post("iris"), "nightjar", "What of the moon?")
    moltbook.fault("null-author", match="GET .*comments", times=100)
    look(account)
    assert Message.objects.incoming().comments().get().author == ""
