"""How an agent is woken is set strictly: its address is judged, its secret is never shown again."""

from __future__ import annotations

import base64
import logging
from typing import Any

import pytest

from dialogue.models import WakeAttempt, WakeEvent, WakeHook
from dialogue.wake_hooks import delivery as wake_hook_delivery
from dialogue.wake_hooks.delivery import WakeReport
from surfaces.errors import BadInput
from surfaces.models import AuditEvent
from surfaces.net import safe_urls
from tests.dialogue.wake_hooks.factories import SECRET, TOKEN, deliver, make_event
from tests.factories import NOON, make_agent

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("private_addresses")]


def set_hook(agent: Any = None, **given: Any) -> Any:
    ordinary = {
        "kind": "webhook", "url": "https://agent.example.org/in/3f7a?key=k-77", "secret": "",
        "is_on": True, "by": "operator:ada", "now": NOON,
    }  # fmt: skip
    return wake_hook_delivery.set_hook(agent or make_agent(lives="elsewhere"), **(ordinary | given))


def test_without_a_secret_one_is_made_and_given_back_once(receiver: Any, clock: Any):
    hooked = set_hook(url=receiver.url)
    agent = hooked.hook.agent
    assert hooked.new_secret.startswith("whsec_")
    assert len(base64.b64decode(hooked.new_secret.removeprefix("whsec_"))) == 32
    assert hooked.new_secret not in repr(hooked)

    again = set_hook(agent, url=receiver.url)
    assert again.new_secret == ""
    receiver.secret = hooked.new_secret
    make_event(again.hook)
    assert deliver(clock).delivered == 1, "the secret is still the first one"


def test_a_given_secret_is_kept_with_or_without_its_prefix(receiver: Any, clock: Any):
    for given in (SECRET, f"whsec_{SECRET}", f"  whsec_{SECRET.rstrip('=')}\n"):
        hooked = set_hook(url=receiver.url, secret=given)
        assert hooked.new_secret == ""
        assert hooked.hook.secret == SECRET
        make_event(hooked.hook)
    assert deliver(clock).delivered == 3


@pytest.mark.parametrize(
    ("secret", "says"),
    [
        ("whsec_not base64!", "base64"),
        ("whsec_" + base64.b64encode(b"short").decode(), "holds 5 bytes; it must hold 24 to 64"),
        ("whsec_" + base64.b64encode(b"x" * 65).decode(), "24 to 64"),
        ("whsec_ключ", "base64"),
        ("whsec_", "24 to 64"),
    ],
)
def test_a_secret_that_cannot_sign_is_refused(secret: str, says: str):
    with pytest.raises(BadInput, match=says) as why:
        set_hook(secret=secret)
    assert secret not in str(why.value)
    assert not WakeHook.objects.exists()


@pytest.mark.parametrize(
    "token", ["two words", "line\nbreak", "nul\0", "schlüssel", "“quoted”", ""]
)
def test_a_token_that_no_header_can_carry_is_refused(token: str):
    with pytest.raises(BadInput):
        set_hook(kind="openclaw", secret=token)
    assert not WakeHook.objects.exists()


def test_a_gateways_token_stays_with_its_host(gateway: Any, clock: Any):
    hooked = set_hook(kind="openclaw", url=gateway.base, secret=f" {TOKEN}\n")
    agent = hooked.hook.agent
    assert hooked.hook.url == f"{gateway.base}/hooks/wake"
    set_hook(agent, kind="openclaw", url=f"{gateway.base}/hooks/wake", secret="", is_on=True)
    make_event(hooked.hook)
    assert deliver(clock).delivered == 1, "the same host: the token is kept"

    with pytest.raises(BadInput, match="another host"):
        set_hook(agent, kind="openclaw", url="https://other.example.org")
    with pytest.raises(BadInput, match="another host"):
        set_hook(agent, kind="openclaw", url=gateway.base.replace("http:", "https:"))


def test_another_way_of_waking_needs_another_secret():
    agent = set_hook(secret=SECRET).hook.agent
    with pytest.raises(BadInput, match="Enter the token"):
        set_hook(agent, kind="openclaw")
    set_hook(agent, kind="openclaw", secret=TOKEN)
    assert set_hook(agent).new_secret, "the token of a gateway never signs"


def test_an_address_is_judged_when_it_is_kept_and_resolved_only_when_it_is_called(
    settings: Any, monkeypatch: pytest.MonkeyPatch
):
    settings.WAKE_PRIVATE_ADDRESSES = False

    def asked(*given: Any, **more: Any) -> None:
        raise AssertionError("somebody was asked for an address")

    monkeypatch.setattr("socket.getaddrinfo", asked)
    assert set_hook(url="https://not-yet-there.example.org/").hook.url
    for url in ("http://agent.example.org/", "https://10.0.0.5/", "https://localhost/", "nonsense"):
        with pytest.raises(BadInput):
            set_hook(url=url)
    with pytest.raises(BadInput, match="There is no request format"):
        set_hook(kind="pigeon")
    assert WakeHook.objects.count() == 1


@pytest.mark.parametrize(
    ("kind", "url"),
    [
        ("webhook", "https://agent.example.org/" + "é" * 90),  # each is six characters in ASCII
        ("openclaw", "https://agent.example.org/" + "a" * 470),  # and /hooks/wake behind it
    ],
)
def test_an_address_that_is_too_long_once_spelled_out_is_refused(kind: str, url: str):
    assert len(url) < safe_urls.LONGEST
    with pytest.raises(BadInput, match="Enter at most 500"):
        set_hook(kind=kind, url=url, secret=SECRET)
    assert not WakeHook.objects.exists()


def test_the_ledger_says_who_set_what_and_no_secret():
    hooked = set_hook(secret=f"whsec_{SECRET}")
    line = AuditEvent.objects.called("wake.set").about(hooked.hook.agent).get()
    assert line.actor == "operator:ada"
    assert line.facts == {
        "kind": "webhook",
        "to": "https://agent.example.org",
        "is_on": True,
        "signed_with": "a new secret",
    }


@pytest.mark.parametrize("answer", [200, 401, 500, 410, "cut", "redirect"])
def test_no_secret_is_ever_written_down(
    gateway: Any, clock: Any, caplog: pytest.LogCaptureFixture, answer: Any
):
    caplog.set_level(logging.DEBUG)
    hook = set_hook(kind="openclaw", url=gateway.base, secret=TOKEN).hook
    gateway.next = [answer]
    wake_hook_delivery.send_test(hook, by="operator:mira", now=NOON)
    assert deliver(clock) != WakeReport()
    rows = [
        *AuditEvent.objects.values(),
        *WakeEvent.objects.values(),
        *WakeAttempt.objects.values(),
    ]
    written = caplog.text + repr(rows) + repr(WakeHook.objects.values())
    assert TOKEN not in written
    assert gateway.got[0].headers["authorization"] == f"Bearer {TOKEN}"
