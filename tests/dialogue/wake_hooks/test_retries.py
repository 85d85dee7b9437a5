"""Patience: ten tries with growing waits, longer where the answer asks for it, none after gone."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from dialogue.wake_hooks.delivery import WakeReport
from surfaces.models import AuditEvent
from tests.dialogue.wake_hooks.factories import deliver, make_event, make_hook
from tests.factories import NOON

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("private_addresses")]

SCHEDULE = [5, 30, 120, 600, 3_600, 10_800, 21_600, 43_200, 86_400]  # seconds


def test_it_is_tried_ten_times_with_growing_waits_then_it_has_failed(receiver: Any, clock: Any):
    event = make_event(make_hook(receiver.url))
    receiver.next = [500] * 10
    for seconds in SCHEDULE:
        assert deliver(clock) == WakeReport(later=1)
        event.refresh_from_db()
        assert event.not_before == clock.now + timedelta(seconds=seconds)
        clock.pass_by(seconds=seconds - 1)
        assert deliver(clock) == WakeReport(), "not before its time"
        clock.pass_by(seconds=1)

    assert deliver(clock) == WakeReport(failed=1)

    event.refresh_from_db()
    assert (event.state, event.tries) == ("failed", 10)
    assert str(event.why) == "It answered 500."
    assert event.log.count() == 10
    assert receiver.keys == [str(event.key)] * 10
    assert receiver.refused == [], "each try is signed anew"
    clock.pass_by(days=30)
    assert deliver(clock) == WakeReport()


def test_a_later_yes_counts(receiver: Any, clock: Any):
    event = make_event(make_hook(receiver.url))
    receiver.next = [500, 204]
    deliver(clock)
    clock.pass_by(seconds=5)
    assert deliver(clock) == WakeReport(delivered=1)
    event.refresh_from_db()
    assert (event.state, str(event.why), event.delivered_at) == ("delivered", "", clock.now)
    assert [one.status for one in event.log.all()] == [204, 500]


IN_TWO_HOURS = "Sat, 21 Nov 2026 14:00:00 GMT"


@pytest.mark.parametrize(
    ("answer", "wait"),
    [
        ((429, "90"), timedelta(seconds=90)),
        ((503, "90"), timedelta(seconds=90)),
        ((503, IN_TWO_HOURS), timedelta(hours=2)),
        ((429, "1"), timedelta(seconds=5)),  # shorter than ours
        ((429, "99999999999"), timedelta(hours=24)),
        ((429, "soon"), timedelta(seconds=5)),
        ((429, "Sat, 21 Nov 1026 14:00:00 GMT"), timedelta(seconds=5)),
        ((500, "90"), timedelta(seconds=5)),  # not an answer that may ask
    ],
)
def test_what_an_answer_asks_to_wait_is_waited(
    receiver: Any, clock: Any, answer: tuple[int, str], wait: timedelta
):
    event = make_event(make_hook(receiver.url))
    receiver.next = [answer]
    deliver(clock)
    event.refresh_from_db()
    assert event.not_before == NOON + wait


@pytest.mark.parametrize("day", ["2026" + "0" * 20 + " 14:00:00 GMT", "2026 14:00:00 +" + "9" * 20])
def test_a_day_that_no_clock_knows_is_no_failure_of_ours(receiver: Any, clock: Any, day: str):
    event = make_event(make_hook(receiver.url))
    receiver.next = [(429, f"Sat, 21 Nov {day}")]
    deliver(clock)
    event.refresh_from_db()
    assert str(event.why) == "It answered 429: too many requests."
    assert event.log.get().status == 429


def test_who_cannot_take_one_event_is_left_in_peace_for_a_minute(receiver: Any, clock: Any):
    hook = make_hook(receiver.url)
    first, second, third = (make_event(hook) for _ in range(3))
    receiver.next = [503]
    assert deliver(clock) == WakeReport(later=1)
    assert receiver.keys == [str(first.key)]
    clock.pass_by(minutes=1)
    assert deliver(clock).delivered == 3
    assert set(receiver.keys) == {str(event.key) for event in (first, second, third)}


def test_others_do_not_wait_for_who_is_slow(receiver: Any, clock: Any):
    slow = make_event(make_hook(receiver.url))
    well = make_event(make_hook(receiver.url))
    receiver.next = [503]
    assert deliver(clock) == WakeReport(delivered=1, later=1)
    assert receiver.keys == [str(slow.key), str(well.key)]


def test_gone_is_believed_and_switches_the_waking_off(receiver: Any, clock: Any):
    hook = make_hook(receiver.url)
    event, waiting = make_event(hook), make_event(hook)
    receiver.next = [410]

    assert deliver(clock) == WakeReport(failed=1)

    hook.refresh_from_db()
    event.refresh_from_db()
    waiting.refresh_from_db()
    assert not hook.is_on
    assert event.state == "failed"
    assert str(event.why) == "It answered 410: it wants no more events."
    line = AuditEvent.objects.called("wake.gone").about(hook.agent).get()
    assert line.why == event.why
    clock.pass_by(days=1)
    assert deliver(clock) == WakeReport()
    assert waiting.state == "waiting"
    assert len(receiver.got) == 1
