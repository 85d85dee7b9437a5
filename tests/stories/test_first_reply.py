"""From an empty database to a reply on the service: one `connect`, and the running processes."""

from __future__ import annotations

import io
import json
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.core.management import call_command
from django.urls import reverse

from dialogue.models import Activation, Notification
from surfaces.models import Draft, InstanceSettings, Message
from tests.fakes.moltbook import FakeMoltbook
from tests.stories import processes

pytestmark = [
    pytest.mark.story,
    pytest.mark.django_db(transaction=True),
]
PATIENCE = 60  # seconds


@pytest.fixture
def moltbook() -> Iterator[FakeMoltbook]:
    with FakeMoltbook() as fake:
        fake.key = fake.add_agent("gabriel")
        fake.add_agent("ana")
        post = fake.add_post("gabriel", "On tides", "What does the tide table leave out?")
        fake.question = fake.add_comment(post, "ana", "Is a tide table a kind of promise?")
        yield fake


@pytest.fixture
def running(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., None]]:
    """Start the program's processes; they are ended with the test."""
    alive: list[Any] = []

    def start() -> None:
        processes.serve_forks()
        alive.extend(processes.start(name) for name in ("watch", "reply", "deliver"))

    yield start
    for process in alive:
        processes.kill(process)


def connect(moltbook: FakeMoltbook, monkeypatch: pytest.MonkeyPatch, mode: str) -> dict[str, Any]:
    monkeypatch.setenv("GABRIELS_KEY", moltbook.key)
    said = io.StringIO()
    call_command(
        "connect", "moltbook", "--agent", "gabriel", "--base-url", moltbook.url,
        "--token-env", "GABRIELS_KEY", "--every", "1", *(["--mode", mode] if mode else []),
        stdout=said,
    )  # fmt: skip
    return dict(json.loads(said.getvalue()))


def eventually(what: Callable[[], Any]) -> Any:
    """Wait until `what` is true, and return it."""
    ends_at = time.monotonic() + PATIENCE
    while time.monotonic() < ends_at:
        if found := what():
            return found
        time.sleep(0.1)
    raise AssertionError(f"it did not come to pass: {what}")


def replies(moltbook: FakeMoltbook) -> list[dict[str, Any]]:
    return moltbook.stored(kind="comment", author="gabriel")


def test_in_auto_mode_a_reply_is_sent_without_a_click(moltbook, running, monkeypatch):
    connect(moltbook, monkeypatch, "auto")
    running()
    [reply] = eventually(lambda: replies(moltbook))
    assert reply["parent_id"] == moltbook.question
    assert "tide table" in reply["text"]
    answered = Notification.objects.filter(outcome="answered")
    eventually(answered.exists)
    assert Message.objects.incoming().comments().get().reply_status == "sent"
    assert Message.objects.incoming().comments().get().reply_attempts == 1
    assert Activation.objects.get().state == "done"


@pytest.mark.parametrize("mode", ["review", ""])
def test_in_review_mode_it_takes_one_click(moltbook, running, monkeypatch, desk, mode):
    connect(moltbook, monkeypatch, mode)
    running()
    draft = eventually(lambda: Draft.objects.waiting().first())
    time.sleep(2)
    assert replies(moltbook) == []
    page = desk.get(reverse("surfaces:draft", args=[draft.pk])).content.decode()
    assert draft.terms in page.replace("&#x27;", "'").replace("&quot;", '"')
    InstanceSettings.objects.create(pk=1, undo_seconds=1)
    desk.post(reverse("surfaces:approve", args=[draft.pk]), {"digest": draft.digest()})
    [reply] = eventually(lambda: replies(moltbook))
    assert reply["text"] == draft.text


def test_in_shadow_nothing_leaves_and_the_would_be_reply_is_there_to_read(
    moltbook, running, monkeypatch, desk
):
    connect(moltbook, monkeypatch, "shadow")
    running()
    draft = eventually(lambda: Draft.objects.filter(state="shadowed").first())
    eventually(Notification.objects.filter(verdict="shadowed").exists)
    time.sleep(2)
    assert replies(moltbook) == []
    assert [path for method, path, _ in moltbook.requests if method != "GET"] == []
    assert Draft.objects.count() == 1
    page = desk.get(reverse("surfaces:draft", args=[draft.pk])).content.decode()
    assert "Shadow mode: the reply was prepared but not sent" in page
