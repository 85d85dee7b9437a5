"""Whatever a receiver or its address does is a failed try with a reason, and stops nobody else."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from dialogue.models import WakeHook
from dialogue.wake_hooks.delivery import WakeReport
from tests.dialogue.wake_hooks.factories import deliver, make_event, make_hook, quick
from tests.fakes.receiver import FLOOD, Receiver

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("private_addresses")]


def test_a_redirect_is_not_followed(receiver: Any, clock: Any):
    with Receiver() as elsewhere:
        receiver.elsewhere = elsewhere.url
        receiver.next = ["redirect"]
        event = make_event(make_hook(receiver.url))
        assert deliver(clock).later == 1
        assert elsewhere.got == []
    event.refresh_from_db()
    assert str(event.why) == "It answered 307: a redirect is not followed."


@pytest.mark.parametrize("answer", ["hang", "trickle"])
def test_who_does_not_come_to_an_end_is_left(receiver: Any, clock: Any, answer: str):
    event = make_event(make_hook(receiver.url))
    receiver.next = [answer]
    assert deliver(clock, transport=quick(event)).later == 1
    event.refresh_from_db()
    assert str(event.why) == "No response within 10 s."
    assert event.log.get().status is None


def test_a_cut_line_is_a_failed_try(receiver: Any, clock: Any):
    event = make_event(make_hook(receiver.url))
    receiver.next = ["cut"]
    assert deliver(clock).later == 1
    event.refresh_from_db()
    assert str(event.why) == "The connection broke before it answered."


def test_a_flood_behind_a_yes_is_not_read(receiver: Any, clock: Any):
    make_event(make_hook(receiver.url))
    receiver.next = ["flood"]
    assert deliver(clock).delivered == 1
    assert receiver.flooded < FLOOD


def test_nobody_there_is_a_failed_try(clock: Any):
    with Receiver() as receiver:
        url = receiver.url
    event = make_event(make_hook(url))
    assert deliver(clock).later == 1
    event.refresh_from_db()
    assert str(event.why) == "The address could not be reached."


def test_a_private_address_is_not_called_unless_it_is_allowed(
    receiver: Any, clock: Any, settings: Any
):
    settings.WAKE_PRIVATE_ADDRESSES = False
    event = make_event(make_hook(receiver.url.replace("http:", "https:")))
    assert deliver(clock).later == 1
    assert receiver.got == []
    event.refresh_from_db()
    assert str(event.why).startswith("127.0.0.1 is a loopback address.")
    assert event.log.get().why == event.why


def test_a_name_that_leads_into_our_network_is_asked_again_later(
    receiver: Any, clock: Any, settings: Any
):
    settings.WAKE_PRIVATE_ADDRESSES = False
    event = make_event(make_hook(f"https://agent.example.org:{receiver.port}/wake"))
    assert deliver(clock, resolve=lambda host, port: ["93.184.215.14", "10.0.0.5"]).later == 1
    event.refresh_from_db()
    assert str(event.why).startswith("agent.example.org leads to 10.0.0.5, a private address.")

    settings.WAKE_PRIVATE_ADDRESSES = True
    WakeHook.objects.update(url=f"http://agent.example.org:{receiver.port}/wake")
    clock.pass_by(seconds=5)
    assert deliver(clock, resolve=lambda host, port: ["127.0.0.1"]).delivered == 1
    assert receiver.got[0].headers["host"].startswith("agent.example.org")


def test_a_secret_we_lost_the_key_for_is_a_failed_try_and_stops_nobody(receiver: Any, clock: Any):
    lost = make_event(make_hook(receiver.url, sealed_secret=b"not sealed by us"))
    make_event(make_hook(receiver.url))
    assert deliver(clock) == WakeReport(delivered=1, later=1)
    lost.refresh_from_db()
    assert str(lost.why) == "The secret cannot be decrypted. Enter a new one."


def test_what_fails_in_us_is_a_failed_try_and_its_words_are_not_kept(
    receiver: Any, clock: Any, caplog: pytest.LogCaptureFixture
):
    class Broken(httpx.BaseTransport):
        def handle_request(self, request: httpx.Request) -> httpx.Response:
            raise RuntimeError(f"odd: {request.headers['webhook-signature']}")

    event = make_event(make_hook(receiver.url))
    assert deliver(clock, transport=Broken()).later == 1
    event.refresh_from_db()
    assert str(event.why) == "Internal error during the request (RuntimeError). See the log."
    assert "v1," not in caplog.text
    assert "webhook request failed with an internal error" in caplog.text
