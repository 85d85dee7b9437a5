"""Many workers together keep the limits of one agent and write each draft once."""

from __future__ import annotations

from random import Random
from threading import Barrier, Thread
from time import sleep

import pytest
from django.db import connection

from dialogue.inbox import collect
from dialogue.models import Activation
from dialogue.replies import loop
from dialogue.replies.decision import decide
from surfaces.models import Draft, Message
from tests.dialogue.replies.factories import World
from tests.factories import NOON

pytestmark = [pytest.mark.django_db, pytest.mark.engine]


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(
    "limit",
    [{"spacing_seconds": 3600}, {"spacing_seconds": 0, "replies_per_day": 1}],
    ids=["spacing", "per day"],
)
def test_many_workers_together_keep_the_limits_of_one_agent(limit, monkeypatch):
    world = World(**limit)
    for _ in range(12):
        world.comment()
    collect.collect(now=NOON)
    start, rng = Barrier(4), Random("workers")
    monkeypatch.setattr(loop, "BATCH", 3)

    def decide_slowly(*facts, **given):
        sleep(rng.uniform(0, 0.2))  # between counting and waking, others go on
        return decide(*facts, **given)

    monkeypatch.setattr(loop, "decide", decide_slowly)

    def work(name: str) -> None:
        start.wait(20)
        for _ in range(6):
            loop.answer_due(name, clock=lambda: NOON)
        connection.close()

    threads = [Thread(target=work, args=[f"worker {number}"]) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert Draft.objects.count() == 1


@pytest.mark.django_db(transaction=True)
def test_many_workers_write_one_draft_for_each_comment():
    worlds = [World(mode="auto", spacing_seconds=0, replies_per_day=500) for _ in range(3)]
    comments = [world.comment() for world in worlds for _ in range(4)]
    collect.collect(now=NOON)
    start = Barrier(4)

    def work(name: str) -> None:
        start.wait(20)
        for _ in range(10):
            loop.answer_due(name, clock=lambda: NOON)
        connection.close()

    threads = [Thread(target=work, args=[f"worker {number}"]) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for _ in range(5):
        loop.answer_due("the last", clock=lambda: NOON)
    assert Draft.objects.count() == len(comments)
    assert {message.reply_attempts for message in Message.objects.comments()} == {1}
    assert not Activation.objects.running().exists()
