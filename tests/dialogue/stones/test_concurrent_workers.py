"""Whoever dies or is faster, each slot gets one stone and each stone one draft."""

from __future__ import annotations

import threading
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection, transaction

from dialogue.activations import services as activation_services
from dialogue.models import Activation, Kernel, Stone
from dialogue.stones import scheduler, writer
from dialogue.stones.writer import WriteReport
from surfaces.models import Draft
from surfaces.workers.locks import WorkerLock
from tests.dialogue.stones.factories import Pen, lay, make_layer
from tests.factories import NOON, make_draft

pytestmark = pytest.mark.django_db


def test_killed_between_choice_and_writing_the_stone_is_taken_up_again(worker, clock):
    scheduler.choose(make_layer(), now=NOON)  # and then nothing: the process is gone
    assert Stone.objects.get().state == "chosen"
    clock.pass_by(seconds=30)
    assert lay(worker, clock) == WriteReport(written=1)


def test_killed_while_the_voice_writes_the_stone_is_taken_up_again(worker, clock):
    class Killed(BaseException):
        pass

    def die(*given: Any, **named: Any) -> Any:
        raise Killed

    make_layer()
    with pytest.raises(Killed):
        writer.write_due(worker="nobody", clock=clock, speak=die)
    assert Activation.objects.get().state == "running"
    assert not Draft.objects.exists()

    assert activation_services.reclaim_abandoned(now=clock()) == 1
    clock.pass_by(minutes=10)
    assert lay(worker, clock) == WriteReport(written=1)
    assert Stone.objects.get().tries == 2


def test_an_overtaken_writer_keeps_nothing(worker, clock):
    make_layer()

    def overtaken(woken: Activation) -> None:
        Activation.objects.filter(pk=woken.pk).update(
            state="abandoned", outcome="taken back", ended_at=NOON
        )

    pen = Pen()
    pen.before = overtaken
    assert lay(worker, clock, pen) == WriteReport(chosen=1, later=1)
    assert not Draft.objects.exists()
    assert Stone.objects.get().state == "chosen"


def test_a_late_writer_does_not_write_a_second_post(worker, clock):
    """Its activation still lives, but somebody wrote the stone meanwhile."""
    make_layer()
    pen = Pen()
    other = make_draft(what="post")
    pen.before = lambda woken: Stone.objects.update(state="written", draft=other) and None
    lay(worker, clock, pen)
    assert list(Draft.objects.all()) == [other]
    assert Stone.objects.get().draft == other
    assert Activation.objects.get().state == "released"


def test_an_agent_that_is_awake_writes_its_stone_later(worker, clock):
    presence = make_layer()
    woken = activation_services.start(presence, purpose="reply", why="x", worker=worker, now=NOON)
    assert lay(worker, clock) == WriteReport(chosen=1)
    activation_services.finish(woken, "done", "It answered.", now=NOON)
    assert lay(worker, clock) == WriteReport(written=1)
    assert Stone.objects.get().tries == 1


@pytest.mark.django_db(transaction=True)
def test_two_processes_at_once_lay_one_stone_per_slot(clock):
    presences = [make_layer() for _ in range(4)]
    pen, start, laid = Pen(), threading.Barrier(2), []

    def work() -> None:
        sender = WorkerLock()
        sender.hold()
        start.wait()
        try:
            for _ in range(3):
                laid.append(lay(sender.name, clock, pen))
        finally:
            connection.close()

    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert sum(one.chosen for one in laid) == sum(one.written for one in laid) == len(presences)
    assert Stone.objects.filter(state="written").count() == len(presences)
    assert Draft.objects.count() == len(pen.briefs) == len(presences)


@pytest.mark.django_db(transaction=True)
def test_what_another_process_wrote_meanwhile_is_not_written_again(clock):
    make_layer()
    make_layer()
    pen, other = Pen(), Pen()

    def work() -> None:
        sender = WorkerLock()
        sender.hold()
        lay(sender.name, clock, other)
        connection.close()

    def meanwhile(woken: Activation) -> None:
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()

    pen.before = meanwhile
    sender = WorkerLock()
    sender.hold()
    assert lay(sender.name, clock, pen) == WriteReport(chosen=2, written=1)
    assert (len(pen.briefs), len(other.briefs)) == (1, 1)
    assert Draft.objects.count() == 2


@pytest.mark.django_db(transaction=True)
def test_two_choosers_at_once_choose_once(clock):
    presence = make_layer()
    start, chosen = threading.Barrier(4), []

    def work() -> None:
        connection.ensure_connection()
        start.wait()
        try:
            chosen.append(scheduler.choose(presence, now=NOON))
        finally:
            connection.close()

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [stone is not None for stone in chosen].count(True) == 1
    assert Kernel.objects.get().used == 1


@pytest.mark.django_db(transaction=True)
def test_two_presences_of_one_agent_do_not_use_one_kernel_at_once(clock):
    presence = make_layer(explore_share=1.0)
    chosen = []

    def work() -> None:
        chosen.append(scheduler.choose(presence, now=NOON))
        connection.close()

    thread = threading.Thread(target=work)
    with transaction.atomic():  # the other presence, about to commit
        Kernel.objects.update(last_used_at=NOON - timedelta(seconds=1))
        thread.start()
        while thread.is_alive() and not _somebody_waits_for_us():
            thread.join(0.02)
    thread.join()
    assert chosen == [None]
    assert scheduler.choose(presence, now=NOON) is not None


def _somebody_waits_for_us() -> bool:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT EXISTS (SELECT 1 FROM pg_locks WHERE NOT granted"
            " AND pg_backend_pid() = ANY(pg_blocking_pids(pid)))"
        )
        return bool(cursor.fetchone()[0])


def test_a_slot_that_somebody_took_is_not_laid_twice(worker, clock):
    presence = make_layer(stones_per_day=2)
    lay(worker, clock)
    Draft.objects.update(state="withdrawn")
    Stone.objects.update(slot="2026-11-21#2")  # so that the next would be the same
    clock.pass_by(hours=7)
    assert lay(worker, clock) == WriteReport()
    assert presence.stones.count() == 1
