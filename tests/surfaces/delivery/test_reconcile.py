"""Doubt: words that may be out there are looked for before anything is repeated."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from surfaces.delivery import sender, settle
from surfaces.delivery.sender import DeliveryReport, deliver_due
from surfaces.models import Account, AuditEvent, Draft, Message
from surfaces.watcher import rounds
from surfaces.workers.locks import WorkerLock
from tests.factories import (
    NOON,
    make_account,
    make_approved,
    make_draft,
    make_post,
    make_surface,
)
from tests.fakes.moltbook import FakeMoltbook
from tests.surfaces.delivery.scripted_service import Clock, ScriptedMoltbook, hanging, saying

pytestmark = [pytest.mark.django_db, pytest.mark.engine]
POST = "POST .*/(comments|posts)$"


@pytest.fixture(params=["open", "live"])
def moltbook(request: Any) -> Iterator[FakeMoltbook]:
    with FakeMoltbook(dialect=request.param) as fake:
        fake.key = fake.add_agent("iris")
        fake.add_agent("nightjar")
        fake.add_submolt("general")
        yield fake


@pytest.fixture
def account(moltbook: FakeMoltbook) -> Account:
    surface = make_surface(base_url=moltbook.url, dialect=moltbook.world.dialect)
    me = moltbook.world.agent("iris")
    return make_account(surface=surface, token=moltbook.key, remote_id=me.id)


@pytest.fixture
def clock() -> Clock:
    return Clock(timezone.now())


def a_post(account: Account) -> Draft:
    return make_approved(what="post", account=account, title="On tides", community="general",
                         not_before=timezone.now() - timedelta(hours=1))  # fmt: skip


def a_comment(account: Account) -> Draft:
    """A top-level comment under a stranger's post."""
    fake = account.fake  # type: ignore[attr-defined]
    post = make_post(account=account, remote_id=fake.add_post("nightjar"), direction="incoming")
    return make_approved(
        what="comment", target=post, not_before=timezone.now() - timedelta(hours=1)
    )


def send(clock: Clock, transport: Any = None) -> DeliveryReport:
    return deliver_due(WorkerLock(), clock=clock, transport=transport)


KINDS = pytest.mark.parametrize("make", [a_post, a_comment])


@KINDS
@pytest.mark.parametrize("fault", ["500-after", "reset-after"])
def test_what_was_stored_in_silence_is_found_and_not_said_twice(
    moltbook: Any, account: Any, clock: Any, make: Any, fault: str
):
    account.fake = moltbook
    draft = make(account)
    moltbook.fault(fault, match=POST)
    assert send(clock).unknown == 1
    clock.pass_by(minutes=1)
    assert send(clock).looked == 1
    draft.refresh_from_db()
    assert draft.state == "sent"
    assert draft.message.kind == ("post" if draft.what == "post" else "comment")
    assert len(moltbook.stored(author="iris")) == 1


@KINDS
@pytest.mark.parametrize("fault", ["500-before", "reset-before"])
def test_what_is_twice_absent_is_sent_once_more(
    moltbook: Any, account: Any, clock: Any, make: Any, fault: str
):
    account.fake = moltbook
    draft = make(account)
    moltbook.fault(fault, match=POST)
    for _ in range(5):
        send(clock)
        clock.pass_by(minutes=10)
    draft.refresh_from_db()
    assert draft.state == "sent"
    assert len(moltbook.stored(author="iris")) == 1
    assert AuditEvent.objects.about(draft).called("draft.found_absent").count() == 1


@KINDS
def test_killed_in_the_middle_it_is_looked_for(
    moltbook: Any, account: Any, clock: Any, make: Any, monkeypatch: Any
):
    account.fake = moltbook
    draft = make(account)

    class Killed(BaseException):
        pass

    def die(*args: Any, **kwargs: Any) -> None:
        raise Killed

    with monkeypatch.context() as patched:
        patched.setattr(sender, "record_sent", die)
        with pytest.raises(Killed):
            send(clock)
    for _ in range(3):
        clock.pass_by(minutes=3)
        send(clock)
    draft.refresh_from_db()
    assert draft.state == "sent"
    assert len(moltbook.stored(author="iris")) == 1


def test_a_post_the_watcher_read_back_is_the_drafts_own(moltbook: Any, account: Any, clock: Any):
    draft = a_post(account)
    moltbook.fault("500-after", match=POST)
    send(clock)
    rounds.round_of(account)
    clock.pass_by(minutes=1)
    send(clock)
    draft.refresh_from_db()
    assert draft.state == "sent"
    assert Message.objects.posts().get() == draft.message


# ── with a service of a few lines ─────────────────────────────────────────


def in_doubt(service: ScriptedMoltbook, clock: Clock) -> Draft:
    draft = make_approved()
    service.next = [hanging]
    clock.now = NOON
    send(clock, service)
    draft.refresh_from_db()
    assert draft.state == "unknown"
    clock.pass_by(minutes=1)
    return draft


def test_a_switched_off_account_is_not_asked_until_it_is_on_again(service: Any, clock: Any):
    in_doubt(service, clock)
    Account.objects.update(is_on=False)
    assert send(clock, service).looked == 0
    Account.objects.update(is_on=True)
    assert send(clock, service).looked == 1


def test_a_key_refused_while_looking_stops_the_account_and_proves_nothing(service: Any, clock: Any):
    draft = in_doubt(service, clock)
    service._read = saying(401, error="Invalid token", code="UNAUTHORIZED")
    for _ in range(6):
        send(clock, service)
        clock.pass_by(hours=2)
    draft.refresh_from_db()
    account = Account.objects.get()
    assert (account.state, draft.state, draft.needs_person) == ("auth_failed", "unknown", False)
    assert (draft.looks, draft.absences) == (0, 0)

    del service._read
    account.becomes("ok", now=clock())
    for _ in range(4):
        send(clock, service)
        clock.pass_by(hours=2)
    draft.refresh_from_db()
    assert (draft.state, len(service.posted)) == ("sent", 2)


def test_a_service_that_is_down_proves_nothing(service: Any, clock: Any):
    draft = in_doubt(service, clock)
    service._read = saying(503, error="gone fishing")
    for _ in range(10):
        send(clock, service)
        clock.pass_by(hours=2)
    draft.refresh_from_db()
    assert (draft.state, draft.absences, len(service.posted)) == ("unknown", 0, 1)


def test_a_wait_named_while_looking_is_honoured(service: Any, clock: Any):
    in_doubt(service, clock)
    service._read = saying(429, headers={"Retry-After": "7200"}, error="slow down")
    assert send(clock, service).looked == 1
    clock.pass_by(seconds=7199)
    assert send(clock, service).looked == 0
    clock.pass_by(seconds=1)
    assert send(clock, service).looked == 1


def test_the_words_of_another_draft_are_not_this_drafts_words(service: Any, clock: Any):
    draft = in_doubt(service, clock)
    other = make_draft(account=draft.account, what="comment", target=draft.target.post)
    Draft.objects.filter(pk=other.pk).update(remote_id="c-1")
    service.comments.append(
        {
            "id": "c-1",
            "content": draft.text,
            "parent_id": draft.target.remote_id,
            "created_at": "2026-11-21T12:00:00.000Z",
            "author_name": "iris",
            "replies": [],
        }
    )
    for _ in range(6):
        send(clock, service)
        clock.pass_by(hours=2)
    draft.refresh_from_db()
    assert (draft.state, draft.needs_person, len(service.posted)) == ("unknown", True, 1)


def test_two_senders_never_look_for_the_same_words(service: Any, clock: Any):
    from surfaces.delivery import reconcile

    draft = in_doubt(service, clock)
    first = reconcile.claim_look(WorkerLock(), now=clock())
    assert first == draft
    assert reconcile.claim_look(WorkerLock(), now=clock()) is None


def test_a_person_who_settles_first_wins_over_a_look_under_way(service: Any, clock: Any):
    draft = in_doubt(service, clock)
    from surfaces.delivery import reconcile

    looking = reconcile.claim_look(WorkerLock(), now=clock())
    assert looking is not None
    draft.refresh_from_db()
    settle.settle_as_sent(draft, remote_id="c-9", by="operator:mira", now=clock())
    sender._settle(looking, clock=clock, transport=service)
    draft.refresh_from_db()
    assert (draft.state, draft.remote_id) == ("sent", "c-9")
    assert draft.sent_at - NOON < timedelta(hours=1)
