"""Senders that die, sleep, end or work at once send each draft once."""

from __future__ import annotations

import threading
import time
from datetime import timedelta
from typing import Any

import pytest
from django.db import OperationalError, connection

from surfaces.delivery import sender as delivery_sender
from surfaces.delivery.sender import DeliveryReport, claim, deliver_due
from surfaces.models import Draft
from surfaces.workers.locks import WorkerLock, is_alive, lock_of_this_thread
from tests.factories import NOON, make_account, make_approved, make_message
from tests.surfaces.delivery.scripted_service import ScriptedMoltbook
from tests.surfaces.delivery.sender import send

pytestmark = [pytest.mark.django_db, pytest.mark.engine]


def test_a_late_sender_cannot_move_what_was_taken_from_it(service: Any, clock: Any):
    make_approved()
    [late] = claim(WorkerLock(), now=NOON)
    Draft.objects.update(lease_until=NOON)
    clock.pass_by(minutes=10)
    send(service, clock)
    assert len(service.posted) == 1
    assert not delivery_sender.send_draft(
        late,
        delivery_sender._open_writer(late.account, clock=clock, transport=service),
        DeliveryReport(),
        clock=clock,
    )
    assert len(service.posted) == 1


def test_a_sleeping_sender_is_not_looked_after(service: Any, clock: Any):
    """It may still post: only when its session is gone may anybody look."""
    draft = make_approved()
    sender = WorkerLock()
    claim(sender, now=NOON)
    Draft.objects.update(asked_at=NOON, sendings=1)
    clock.pass_by(hours=1)
    asleep, wake = threading.Event(), threading.Event()

    def sleep() -> None:
        sender.hold()
        asleep.set()
        wake.wait(10)
        connection.close()

    thread = threading.Thread(target=sleep)
    thread.start()
    asleep.wait(10)
    send(service, clock)
    draft.refresh_from_db()
    assert draft.state == "sending"
    wake.set()
    thread.join()
    while is_alive(sender.name):  # the server notices the closed session a moment later
        time.sleep(0.01)
    send(service, clock)
    draft.refresh_from_db()
    assert draft.state == "unknown"
    assert service.posted == []


def test_what_a_broken_run_left_behind_is_freed_by_its_own_sender(
    service: Any, clock: Any, monkeypatch: Any
):
    draft = make_approved()
    sender = WorkerLock()

    def lost(*args: Any, **kwargs: Any) -> None:
        raise OperationalError("the server closed the connection")

    with monkeypatch.context() as patched:
        patched.setattr(delivery_sender, "record_sent", lost)
        with pytest.raises(OperationalError):
            deliver_due(sender, clock=clock, transport=service)
    deliver_due(sender, clock=clock, transport=service)
    draft.refresh_from_db()
    assert draft.state == "unknown"
    assert len(service.posted) == 1


def test_a_sender_told_to_end_gives_back_what_it_has_not_begun(service: Any, clock: Any):
    account = make_account()
    for number in range(5):
        make_approved(target=make_message(account=account), text=f"answer {number}")
    deliver_due(
        WorkerLock(), clock=clock, until=lambda: len(service.posted) >= 2, transport=service
    )
    assert len(service.posted) == 2
    assert Draft.objects.filter(state="approved", lease_until=None).count() == 3


def test_a_thread_has_one_sender_however_often_it_sends():
    assert lock_of_this_thread() is lock_of_this_thread()


def test_a_claim_of_a_dead_sender_goes_back_at_once_though_its_lease_lasts(
    service: Any, clock: Any
):
    draft = make_approved()
    claim(WorkerLock(), now=NOON)
    assert send(service, clock).sent == 1
    draft.refresh_from_db()
    assert draft.sendings == 1


def test_what_a_dead_sender_had_begun_is_in_doubt_at_once_and_counts_from_the_end_of_its_lease(
    service: Any, clock: Any
):
    draft = make_approved()
    claim(WorkerLock(), now=NOON)
    ends = NOON + timedelta(minutes=2)
    Draft.objects.update(asked_at=NOON, sendings=1, lease_until=ends)
    send(service, clock)
    draft.refresh_from_db()
    assert (draft.state, service.posted) == ("unknown", [])
    assert (draft.unconfirmed_since, draft.unconfirmed_until) == (NOON, ends)


def test_a_sender_that_lives_keeps_its_claim(service: Any, clock: Any):
    draft = make_approved()
    alive = WorkerLock()
    claimed, done = threading.Event(), threading.Event()

    def live() -> None:
        alive.hold()
        claimed.set()
        done.wait(10)
        connection.close()

    thread = threading.Thread(target=live)
    thread.start()
    claimed.wait(10)
    claim(alive, now=NOON)
    clock.pass_by(hours=1)
    try:
        send(service, clock)
        draft.refresh_from_db()
        assert (draft.state, service.posted) == ("sending", [])
    finally:
        done.set()
        thread.join()


@pytest.mark.django_db(transaction=True)
def test_four_senders_at_once_send_each_draft_once(clock: Any):
    account = make_account()
    for number in range(24):
        make_approved(target=make_message(account=account), text=f"answer {number}")
    service, start = ScriptedMoltbook(), threading.Barrier(4)

    def work() -> None:
        sender = WorkerLock()
        start.wait()
        deliver_due(sender, clock=clock, transport=service)
        connection.close()

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    texts = [body["content"] for body in service.posted]
    assert sorted(texts) == sorted({f"answer {number}" for number in range(24)})
    assert Draft.objects.filter(state="sent").count() == 24
