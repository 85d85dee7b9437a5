"""Set the webhook of an external agent, send tests, resend events.

Secrets are write-only, except a generated one, which is returned once.
"""

from dataclasses import dataclass, field
from datetime import datetime

from django.conf import settings
from django.db import transaction
from django.db.models import Q
from django.utils.translation import gettext_lazy as _lazy

from dialogue.agents.models.agent import Agent
from dialogue.wake_hooks import payloads
from dialogue.wake_hooks.models import HookKind, WakeEvent, WakeEventState, WakeHook
from surfaces import crypto
from surfaces.errors import BadInput, NotAllowed, StaleState
from surfaces.models import AuditEvent
from surfaces.net import safe_urls, webhooks


@dataclass(frozen=True, slots=True)
class HookResult:
    """The stored hook, and the generated secret, if any, to be shown once."""

    hook: WakeHook
    new_secret: str = field(default="", repr=False)


@transaction.atomic
def set_hook(
    agent: Agent, *, kind: str, url: str, secret: str, is_on: bool, by: str, now: datetime
) -> HookResult:
    """Store the URL, or raise `BadInput`. Without a secret, keep the old one or generate one."""
    if kind not in HookKind.values:
        message = _lazy("There is no request format %(kind)s. Formats: %(value)s.")
        raise BadInput(message, kind=repr(kind), value=", ".join(HookKind.values))
    Agent.objects.select_for_update(no_key=True).get(pk=agent.pk)  # one at a time
    old = WakeHook.objects.filter(agent=agent).first()
    parts = safe_urls.well_formed(url.strip(), allow_private=settings.WAKE_PRIVATE_ADDRESSES)
    address = str(webhooks.openclaw_url(parts) if kind == HookKind.OPENCLAW else parts)
    safe_urls.check_length(address)  # in ASCII it may be longer than as typed
    kept, made = _secret(kind, secret, old, address)
    facts: dict[str, object] = {"kind": kind, "url": address, "is_on": is_on}
    if kept:
        facts["sealed_secret"] = crypto.encrypt(kept)
    hook, _ = WakeHook.objects.update_or_create(agent=agent, defaults=facts)
    # What waited for the old address is delivered to this one at once.
    free = Q(lease_until=None) | Q(lease_until__lte=now)
    waiting = WakeEvent.objects.filter(free, hook=hook, state=WakeEventState.WAITING)
    waiting.filter(not_before__gt=now).update(not_before=now, lease_until=None, why="")
    AuditEvent.objects.record(
        "wake.set", actor=by, subject=agent, kind=kind, to=safe_urls.origin_of(address),
        is_on=is_on, signed_with="a new secret" if kept else "the same secret",
    )  # fmt: skip
    return HookResult(hook, webhooks.PREFIX + made if made else "")


def _secret(kind: str, given: str, old: WakeHook | None, address: str) -> tuple[str, str]:
    """The secret to store, "" to keep the old one; and the secret again if generated."""
    has_old = old is not None and old.kind == kind and bool(old.sealed_secret)
    if kind == HookKind.WEBHOOK:
        if given.strip():
            return webhooks.checked_secret(given), ""
        made = "" if has_old else webhooks.new_secret()
        return made, made
    if given.strip():
        return webhooks.checked_token(given), ""
    if old is None or not has_old:
        raise BadInput(_lazy("Enter the token of the gateway's hooks."))
    if safe_urls.origin_of(old.url) != safe_urls.origin_of(address):
        raise BadInput(_lazy("Enter the token again: it was given for another host."))
    return "", ""


@transaction.atomic
def send_test(hook: WakeHook, *, by: str, now: datetime) -> WakeEvent:
    _check_on(hook)
    body = payloads.test_event(agent=hook.agent.slug, now=now)
    event = WakeEvent.objects.create(hook=hook, made_at=now, not_before=now, body=body)
    AuditEvent.objects.record("wake.tested", actor=by, subject=hook.agent, event=str(event.key))
    return event


@transaction.atomic
def resend(event: WakeEvent, *, by: str, now: datetime) -> None:
    """Deliver it again with the same id and new attempts; a waiting event at once."""
    _check_on(event.hook)
    fresh = {"state": WakeEventState.WAITING, "tries": 0, "not_before": now, "delivered_at": None}
    free = Q(lease_until=None) | Q(lease_until__lte=now)
    if not WakeEvent.objects.filter(free, pk=event.pk).update(lease_until=None, why="", **fresh):
        message = _lazy("It is being delivered at this moment. Look again in a few seconds.")
        raise StaleState(message)
    agent, key = event.hook.agent, str(event.key)
    AuditEvent.objects.record("wake.resent", actor=by, subject=agent, event=key)


def _check_on(hook: WakeHook) -> None:
    if not WakeHook.objects.filter(pk=hook.pk, is_on=True).exists():
        raise NotAllowed(_lazy("This agent's waking is switched off. Switch it on first."))
