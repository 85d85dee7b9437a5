"""At least once: whoever dies, is late or works beside another, each event is told."""

from __future__ import annotations

import logging
from typing import Any

import httpx
import pytest
from django.db import connection

from dialogue.models import WakeEvent
from dialogue.wake_hooks.delivery import WakeReport, deliver_due
from tests.dialogue.wake_hooks.factories import SECRET, deliver, make_event, make_hook, quick
from tests.fakes.receiver import Receiver
from tests.surfaces.delivery.scripted_service import Clock
from tests.surfaces.hub.factories import at_once

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("private_addresses")]


class Dying(httpx.BaseTransport):
    """The worker is killed after its request was answered, before it can write that down."""

    def __init__(self, real: httpx.BaseTransport) -> None:
        self.real = real

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        self.real.handle_request(request).read()
        raise SystemExit("killed")

    def close(self) -> None:
        self.real.close()


def test_a_worker_killed_after_its_call_calls_twice_under_one_id(receiver: Any, clock: Any):
    event = make_event(make_hook(receiver.url))
    with pytest.raises(SystemExit):
        deliver(clock, transport=Dying(quick(event)))
    assert len(receiver.got) == 1
    assert deliver(clock) == WakeReport(), "its claim still holds"

    clock.pass_by(seconds=60)
    assert deliver(clock) == WakeReport(delivered=1)
    assert receiver.keys == [str(event.key)] * 2
    event.refresh_from_db()
    assert (event.state, event.tries) == ("delivered", 2)


class Overtaken(httpx.BaseTransport):
    """While this worker's request is on its way, its claim lapses and another one delivers."""

    def __init__(self, clock: Clock, status: int = 500) -> None:
        self.clock = clock
        self.status = status
        self.other = WakeReport()

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        self.clock.pass_by(seconds=61)
        self.other = deliver_due(clock=self.clock)
        return httpx.Response(self.status)


def test_a_late_worker_does_not_overwrite_what_another_found(
    receiver: Any, clock: Any, caplog: pytest.LogCaptureFixture
):
    event = make_event(make_hook(receiver.url))
    late = Overtaken(clock)
    caplog.set_level(logging.WARNING)
    assert deliver(clock, transport=late) == WakeReport()
    assert [line.getMessage() for line in caplog.records] == ["an event was taken over"]
    assert late.other == WakeReport(delivered=1)
    event.refresh_from_db()
    assert event.state == "delivered"
    assert [one.status for one in event.log.all()] == [200]


def test_a_late_worker_has_no_say_in_what_comes_next(receiver: Any, clock: Any):
    event = make_event(make_hook(receiver.url))
    receiver.next = [500]
    late = Overtaken(clock, status=410)
    assert deliver(clock, transport=late) == WakeReport()
    assert late.other == WakeReport(later=1)
    event.refresh_from_db()
    assert (event.state, event.hook.is_on) == ("waiting", True)
    assert [one.status for one in event.log.all()] == [500]


@pytest.mark.django_db(transaction=True)
def test_two_deliverers_at_once_deliver_each_event_once():
    with Receiver(secret=SECRET) as receiver:
        hook = make_hook(receiver.url)
        made = sorted(str(make_event(hook).key) for _ in range(12))
        done: list[int] = []
        at_once([lambda: done.append(deliver_due(clock=Clock()).delivered)] * 2)
        assert sorted(receiver.keys) == made
    assert sum(done) == 12


@pytest.mark.django_db(transaction=True)
def test_no_transaction_is_open_while_we_call():
    with Receiver(secret=SECRET) as receiver:
        event = make_event(make_hook(receiver.url))
        seen: list[int] = []

        def look() -> None:
            # From another connection: were the row locked, this would wait for ever.
            seen.append(WakeEvent.objects.filter(pk=event.pk).update(why="looked"))
            connection.close()

        receiver.before_answer = look
        assert deliver_due(clock=Clock()).delivered == 1
    assert seen == [1]


def test_it_stops_between_two_events_when_told_to(receiver: Any, clock: Any):
    hook = make_hook(receiver.url)
    make_event(hook), make_event(hook)
    assert deliver(clock, until=lambda: bool(receiver.got)).delivered == 1
