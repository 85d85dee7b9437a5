"""The worker dies, or is told to stop, while the model thinks: the comment is taken up again."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from dialogue.models import Activation, ModelEndpoint, Notification, Reservation
from surfaces.models import Draft, Message
from tests.factories import make_message, make_presence
from tests.fakes.openai_chat import FakeOpenAI, Outcome
from tests.stories import processes

pytestmark = [
    pytest.mark.story,
    pytest.mark.django_db(transaction=True),
]
PATIENCE = 60  # seconds


@pytest.fixture
def openai() -> Iterator[FakeOpenAI]:
    with FakeOpenAI() as fake:
        fake.always(Outcome("hang", seconds=120))
        yield fake


@pytest.fixture
def thinking(openai: FakeOpenAI) -> Iterator[Callable[[], Any]]:
    """A comment, and a replier whose model has been asked and says nothing."""
    processes.serve_forks()
    presence = make_presence(settings={"voice": "model", "timeout_seconds": 120})
    ModelEndpoint.objects.create(
        agent=presence.agent, model="openai-chat:slow", base_url=openai.url
    )
    comment = make_message(account=presence.account, author="ana", seen_at=timezone.now())
    # Nothing answers at its account: the thread counts as read throughout the test.
    read_at = timezone.now() + timedelta(seconds=50)
    Message.objects.filter(pk=comment.post_id).update(thread_read_at=read_at)
    alive: list[Any] = []

    def start() -> Any:
        alive.append(processes.start("reply"))
        return alive[-1]

    yield start
    for process in alive:
        processes.kill(process)


def eventually(what: Callable[[], Any]) -> Any:
    ends_at = time.monotonic() + PATIENCE
    while time.monotonic() < ends_at:
        if found := what():
            return found
        time.sleep(0.05)
    raise AssertionError("it did not come to pass")


def test_a_killed_worker_leaves_its_waking_abandoned_and_the_next_one_answers(openai, thinking):
    worker = thinking()
    eventually(lambda: openai.requests)
    processes.kill(worker)
    assert Activation.objects.get().state == "running"
    openai.always("good")
    thinking()
    draft = eventually(Draft.objects.first)
    first, second = Activation.objects.order_by("id")
    assert (first.state, second.draft) == ("abandoned", draft)
    assert [step.kind for step in first.steps.all()] == ["asked"]
    assert first.cost > 0, "what it may have cost is on the books"
    assert not Reservation.objects.filter(settled_at=None).exists()
    comment = Message.objects.incoming().comments().get()
    assert (comment.reply_attempts, comment.reply_status) == (2, "pending")


def test_told_to_stop_it_lets_go_at_once_and_loses_nothing(openai, thinking):
    worker = thinking()
    eventually(lambda: openai.requests)
    os.kill(worker.pid, signal.SIGTERM)
    worker.join(PATIENCE)  # the model would take longer
    assert worker.exitcode == 0
    assert Activation.objects.get().state == "released"
    assert Notification.objects.get().read_at is None
    openai.always("good")
    thinking()
    eventually(Draft.objects.first)
