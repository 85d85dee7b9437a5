"""A round that lasts does for all agents what cannot wait for its end."""

from __future__ import annotations

from contextlib import contextmanager
from threading import Event, Thread

import pytest
from django.db import connection

from dialogue import replier
from dialogue.activations import services as activation_services
from dialogue.activations.models import Purpose
from dialogue.models import Activation
from dialogue.replies.item_work import ItemWork
from surfaces.models import Draft
from tests.dialogue.replies.factories import World
from tests.factories import NOON, make_notification

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.engine]
PATIENCE = 30  # seconds


def die() -> Activation:
    """A worker that is dead takes up a notification."""
    note = make_notification()
    left = activation_services.start(
        note.presence, purpose=Purpose.REPLY, why="a comment", worker="killed", now=NOON,
        notification=note,
    )  # fmt: skip
    note.note(look_at=None)
    return left


def until_ended(activation: Activation) -> None:
    for _ in range(PATIENCE * 20):
        activation.refresh_from_db()
        if activation.ended_at:
            return
        Event().wait(0.05)


@pytest.mark.parametrize("size", [1, 3])
def test_what_a_dead_worker_left_is_taken_back_while_a_voice_still_writes(size, monkeypatch):
    world, writes, go_on, reports = World(mode="review"), Event(), Event(), []
    comment = world.comment()
    write, alive = ItemWork.write, replier._alive

    def write_slowly(*given):
        writes.set()
        assert go_on.wait(PATIENCE)
        return write(*given)

    @contextmanager
    def alive_and_closed():
        with alive() as name:
            yield name
        connection.close()  # or the test database cannot be dropped

    def work() -> None:
        with replier.ReplierPool(size) as crew:
            reports.append(replier.run_round(crew, clock=lambda: NOON))
        connection.close()

    monkeypatch.setattr(ItemWork, "write", write_slowly)
    monkeypatch.setattr(replier, "_alive", alive_and_closed)
    monkeypatch.setattr(replier, "LOOKS_EVERY", 0.05)
    round_of_it = Thread(target=work)
    round_of_it.start()
    assert writes.wait(PATIENCE)
    left = die()
    until_ended(left)
    assert (left.state, Draft.objects.count()) == ("abandoned", 0), "the voice still writes"
    go_on.set()
    round_of_it.join(PATIENCE)
    assert [report.taken_back for report in reports] == [1]
    assert Draft.objects.filter(target=comment).count() == 1
