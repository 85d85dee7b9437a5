"""Hooks, events and news of agents elsewhere, and a way to tell them now."""

from __future__ import annotations

import base64
from typing import Any

from dialogue.models import Notification, WakeEvent, WakeHook
from dialogue.wake_hooks import payloads
from dialogue.wake_hooks.delivery import WakeReport, deliver_due
from surfaces import crypto
from surfaces.net import safe_urls
from tests.factories import NOON, make_agent, make_message, make_notification, make_presence
from tests.surfaces.delivery.scripted_service import Clock

SECRET = base64.b64encode(b"0123456789abcdef0123456789abcdef").decode()
TOKEN = "hook-token-8d1f"


def make_hook(url: str, **given: Any) -> WakeHook:
    """A hook of an agent that lives elsewhere."""
    agent = given.pop("agent", None) or make_agent(lives="elsewhere")
    secret = given.pop("secret", SECRET)
    ordinary = {"kind": "webhook", "sealed_secret": crypto.encrypt(secret)}
    return WakeHook.objects.create(agent=agent, url=url, **(ordinary | given))


def make_event(hook: WakeHook, **given: Any) -> WakeEvent:
    body = payloads.test_event(agent=hook.agent.slug, now=NOON)
    ordinary = {"made_at": NOON, "not_before": NOON, "body": body}
    return WakeEvent.objects.create(hook=hook, **(ordinary | given))


def make_news(hook: WakeHook, **given: Any) -> Notification:
    """A comment that the hook's agent was not told of."""
    presence = given.pop("presence", None) or make_presence(agent=hook.agent)
    message = make_message(account=presence.account, **given)
    return make_notification(presence=presence, message=message)


def deliver(clock: Clock, **given: Any) -> WakeReport:
    return deliver_due(clock=clock, **given)


def quick(event: WakeEvent) -> safe_urls.PinnedTransport:
    """A transport that loses patience at once."""
    pinned = safe_urls.check_url(
        event.hook.url, resolve=safe_urls.system_resolve, allow_private=True
    )
    return safe_urls.PinnedTransport(pinned, seconds=0.5)
