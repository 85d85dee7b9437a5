"""What operators send themselves: an event once more, and a test that says it is one."""

from __future__ import annotations

from typing import Any

import pytest

from dialogue.models import WakeEvent
from dialogue.wake_hooks import delivery as wake_hook_delivery
from dialogue.wake_hooks.delivery import WakeReport
from surfaces.errors import NotAllowed, StaleState
from surfaces.models import AuditEvent
from tests.dialogue.wake_hooks.factories import TOKEN, deliver, make_event, make_hook
from tests.factories import NOON

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("private_addresses")]


def test_a_resent_event_has_fresh_tries_and_its_old_id(receiver: Any, clock: Any):
    event = make_event(make_hook(receiver.url), state="failed", tries=10, why="It answered 500.")
    wake_hook_delivery.resend(event, by="operator:mira", now=NOON)
    event.refresh_from_db()
    assert (event.state, event.tries, str(event.why)) == ("waiting", 0, "")
    assert deliver(clock) == WakeReport(delivered=1)
    assert receiver.keys == [str(event.key)]
    line = AuditEvent.objects.called("wake.resent").about(event.hook.agent).get()
    assert (line.actor, line.facts) == ("operator:mira", {"event": str(event.key)})


def test_what_is_being_delivered_is_not_sent_again_beside_it(receiver: Any, clock: Any):
    event = make_event(make_hook(receiver.url))
    assert wake_hook_delivery.claim(now=NOON) == event
    with pytest.raises(StaleState, match="at this moment"):
        wake_hook_delivery.resend(event, by="operator:mira", now=NOON)


def test_nothing_is_sent_through_what_is_switched_off():
    hook = make_hook("https://agent.example.org/", is_on=False)
    event = make_event(hook)
    with pytest.raises(NotAllowed, match="switched off"):
        wake_hook_delivery.resend(event, by="operator:mira", now=NOON)
    with pytest.raises(NotAllowed, match="switched off"):
        wake_hook_delivery.send_test(hook, by="operator:mira", now=NOON)
    assert WakeEvent.objects.count() == 1


def test_a_test_says_that_it_is_one(receiver: Any, gateway: Any, clock: Any):
    webhook = make_hook(receiver.url)
    openclaw = make_hook(f"{gateway.base}/hooks/wake", kind="openclaw", secret=TOKEN)
    for hook in (webhook, openclaw):
        wake_hook_delivery.send_test(hook, by="operator:mira", now=NOON)
    assert deliver(clock).delivered == 2
    assert receiver.got[0].body["type"] == "agent.test"
    assert receiver.got[0].body["data"]["is_test"] is True
    assert "A test from Colloquy" in gateway.got[0].body["text"]
    assert AuditEvent.objects.called("wake.tested").count() == 2
