"""Where an agent elsewhere is woken: set it, try it, send again what it missed.

The secret goes in and never comes out, but for one that we made: it is handed back once.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime

from django.conf import settings
from django.db import transaction
from django.db.models import Q

from dialogue import wake_words
from dialogue.models import Agent, WakeEvent, WakeHook
from dialogue.models.wake import EventState, HookKind
from surfaces import addresses, calling, sealing
from surfaces.errors import BadInput, NotAllowed, StaleState
from surfaces.models import AuditEvent


@dataclass(frozen=True, slots=True)
class Hooked:
    """A hook as it was kept, and the secret we made for it, to be shown once."""

    hook: WakeHook
    new_secret: str = field(default="", repr=False)


@transaction.atomic
def set_hook(
    agent: Agent, *, kind: str, url: str, secret: str, is_on: bool, by: str, now: datetime
) -> Hooked:
    """Keep the address, or say what is wrong with it. No secret given: the old one, or a new."""
    if kind not in HookKind.values:
        raise BadInput(f"{kind!r} is no way to wake. Choose one of {', '.join(HookKind.values)}.")
    Agent.objects.select_for_update(no_key=True).get(pk=agent.pk)  # one at a time
    old = WakeHook.objects.filter(agent=agent).first()
    address = _address(kind, url)
    kept, made = _secret(kind, secret, old, address)
    facts: dict[str, object] = {"kind": kind, "url": address, "is_on": is_on}
    if kept:
        facts["sealed_secret"] = sealing.sealed(kept)
    hook, _ = WakeHook.objects.update_or_create(agent=agent, defaults=facts)
    AuditEvent.objects.record(
        "wake.set",
        actor=by,
        subject=agent,
        kind=kind,
        to=addresses.origin_of(address),
        is_on=is_on,
        signed_with="a new secret" if kept else "the same secret",
    )
    return Hooked(hook, calling.PREFIX + made if made else "")


def _address(kind: str, url: str) -> str:
    parts = addresses.well_formed(url.strip(), allow_private=settings.WAKE_PRIVATE_ADDRESSES)
    address = str(calling.openclaw_url(parts) if kind == HookKind.OPENCLAW else parts)
    addresses.check_length(address)  # spelled out in ASCII it may be longer than it was typed
    return address


def _secret(kind: str, given: str, old: WakeHook | None, address: str) -> tuple[str, str]:
    """What to keep, "" for what is there; and the same again if we made it."""
    has_old = old is not None and old.kind == kind and bool(old.sealed_secret)
    if kind == HookKind.WEBHOOK:
        if given.strip():
            return calling.checked_secret(given), ""
        made = "" if has_old else calling.new_secret()
        return made, made
    if given.strip():
        return calling.checked_token(given), ""
    if old is None or not has_old:
        raise BadInput("Enter the token of the gateway's hooks.")
    if addresses.origin_of(old.url) != addresses.origin_of(address):
        raise BadInput("Enter the token again: it was given for another host.")
    return "", ""


@transaction.atomic
def send_test(hook: WakeHook, *, by: str, now: datetime) -> WakeEvent:
    """An event that says nothing, to see whether the way is open."""
    _check_on(hook)
    body = wake_words.trial(agent=hook.agent.slug, now=now)
    event = WakeEvent.objects.create(hook=hook, made_at=now, not_before=now, body=body)
    AuditEvent.objects.record("wake.tested", actor=by, subject=hook.agent, event=str(event.key))
    return event


@transaction.atomic
def resend(event: WakeEvent, *, by: str, now: datetime) -> None:
    """Deliver it again, with fresh tries and under the same id; what waits, at once."""
    _check_on(event.hook)
    fresh = {"state": EventState.WAITING, "tries": 0, "not_before": now, "delivered_at": None}
    free = Q(lease_until=None) | Q(lease_until__lte=now)
    if not WakeEvent.objects.filter(free, pk=event.pk).update(lease_until=None, why="", **fresh):
        raise StaleState("It is being delivered at this moment. Look again in a few seconds.")
    AuditEvent.objects.record(
        "wake.resent", actor=by, subject=event.hook.agent, event=str(event.key)
    )


def _check_on(hook: WakeHook) -> None:
    if not WakeHook.objects.filter(pk=hook.pk, is_on=True).exists():
        raise NotAllowed("This agent's waking is switched off. Switch it on first.")
