"""Deliver events about new comments to external agents, at least once.

    unread, not sent ──announce──> event ──claim──commit──> call ──> delivered
                                     ^                        ├─> waiting (until later)
                                     └──────── resend ────────┴─> failed

Notifications are marked in the transaction that creates the event. No transaction is open
during a request. If a worker dies after its request, the lease expires and the event is
delivered again with the same id.
"""

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import httpx
from django.conf import settings
from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.urls import reverse

from dialogue.agents.models.agent import AgentLocation
from dialogue.models import Notification, Presence, WakeAttempt, WakeEvent, WakeHook
from dialogue.wake_hooks import payloads
from dialogue.wake_hooks.models import HookKind, WakeEventState
from dialogue.wake_hooks.services import resend, send_test, set_hook
from surfaces import crypto
from surfaces.messages.models import beginning
from surfaces.models import AuditEvent
from surfaces.net import safe_urls, webhooks
from surfaces.net.webhooks import CallResult
from surfaces.pauses import services as pause_services
from surfaces.text.reasons import reason

__all__ = ["WakeReport", "announce", "deliver_due", "resend", "send_test", "set_hook"]

logger = logging.getLogger(__name__)
Clock = Callable[[], datetime]

LEASE = timedelta(seconds=60)  # longer than the timeout of a request
MOST_AT_ONCE = 1_000  # notifications per event; the rest follows in another
# Waits after failed attempts, two days in all; after the last, the event failed.
WAITS = [
    *(timedelta(seconds=seconds) for seconds in (5, 30, 120, 600)),
    *(timedelta(hours=hours) for hours in (1, 3, 6, 12, 24)),
]
QUIET = timedelta(minutes=1)  # for the other events of a hook that does not respond


@dataclass(slots=True)
class WakeReport:
    delivered: int = 0
    later: int = 0
    failed: int = 0


def announce(*, now: datetime) -> int:
    """Create events for notifications that external agents were not sent; return the number."""
    news = _untold().filter(agent=OuterRef("agent"))
    hooks = _awake().filter(Exists(news)).values_list("pk", flat=True)
    return sum(_announce_to(pk, now) for pk in list(hooks))


def _awake() -> QuerySet[WakeHook]:
    return WakeHook.objects.filter(is_on=True, agent__lives=AgentLocation.ELSEWHERE)


def _unread() -> QuerySet[Notification]:
    """Unread notifications that may be sent; not those that wait for an operator."""
    is_clean = Q(message__spam_status=None) | Q(message__spam_status="clean")
    return Notification.objects.unread().filter(is_clean, message__deleted_at=None)


def _untold() -> QuerySet[Notification]:
    return _unread().filter(announced_at=None)


@transaction.atomic
def _announce_to(pk: int, now: datetime) -> int:
    """One event per account with new comments. Concurrent workers create it once."""
    rows = _awake().select_related("agent")
    locked = rows.select_for_update(of=("self",), skip_locked=True, no_key=True)
    hook = locked.filter(pk=pk).first()
    if hook is None:
        return 0
    news = Exists(_untold().filter(presence=OuterRef("pk")))
    live = Presence.objects.live().filter(news, agent=hook.agent_id)
    presences = list(live.select_related("account__surface"))
    # Paused accounts follow when the pause ends.
    told = [one for one in presences if not pause_services.reasons(one.account, hook.agent.slug)]
    return sum(_tell(hook, presence, now) for presence in told)


def _tell(hook: WakeHook, presence: Presence, now: datetime) -> int:
    """Create the event and mark its notifications; return the number of events."""
    untold = _untold().filter(presence=presence).order_by("id")
    ids = list(untold.values_list("pk", flat=True)[:MOST_AT_ONCE])
    if not ids:
        return 0  # read a moment ago
    account, surface = presence.account, presence.account.surface
    desk = settings.COLLOQUY_URL + reverse("surfaces:threads")
    body = payloads.new_items_event(
        agent=hook.agent.slug, account=account.name, surface=surface.name, kind=surface.kind,
        items=_items(ids), count=len(ids), unread=_unread().filter(presence=presence).count(),
        fetch={"desk": desk, "surface": surface.base_url or surface.traits.base_url}, now=now,
    )  # fmt: skip
    WakeEvent.objects.create(hook=hook, account=account, made_at=now, not_before=now, body=body)
    Notification.objects.filter(pk__in=ids).update(announced_at=now)
    return 1


def _items(ids: list[int]) -> list[dict[str, Any]]:
    first = Notification.objects.filter(pk__in=ids).order_by("id")[: payloads.MOST_ITEMS]
    wanted = first.values_list(
        "pk", "kind", "message__author", beginning("message__content", payloads.EXCERPT * 8),
        "message", "message__post", "message__url",
    )  # fmt: skip
    items = []
    for pk, kind, author, words, message, thread, url in wanted:
        site = settings.COLLOQUY_URL
        page = site + reverse("surfaces:thread", args=[thread]) if thread else ""
        items.append(
            payloads.item(
                notification=pk, kind=kind, author=author or "", words=words or "",
                message=message, thread=thread, url=url or "", page=page,
            )
        )  # fmt: skip
    return items


def deliver_due(
    *,
    clock: Clock,
    until: Callable[[], bool] = lambda: False,
    transport: httpx.BaseTransport | None = None,
    resolve: safe_urls.Resolve = safe_urls.system_resolve,
) -> WakeReport:
    """Deliver until nothing is due or `until` is true. Safe in several workers."""
    told = WakeReport()
    while not until() and (event := claim(now=clock())):
        at, began = clock(), time.monotonic()
        heard = _call(event, transport=transport, resolve=resolve, now=at)
        took_ms = round((time.monotonic() - began) * 1_000)
        state = _record(event, heard, at=at, took_ms=took_ms, now=clock())
        told.delivered += state == WakeEventState.DELIVERED
        told.later += state == WakeEventState.WAITING
        told.failed += state == WakeEventState.FAILED
    return told


@transaction.atomic(durable=True)
def claim(*, now: datetime) -> WakeEvent | None:
    """Claim the longest-waiting event and count the attempt."""
    due = WakeEvent.objects.due(now).filter(hook__is_on=True).order_by("not_before", "id")
    locked = due.select_for_update(of=("self",), skip_locked=True)
    event = locked.select_related("hook__agent").first()
    if event is None:
        return None
    event.lease_until, event.tries = now + LEASE, event.tries + 1
    WakeEvent.objects.filter(pk=event.pk).update(lease_until=event.lease_until, tries=event.tries)
    return event


def _call(
    event: WakeEvent,
    *,
    transport: httpx.BaseTransport | None,
    resolve: safe_urls.Resolve,
    now: datetime,
) -> CallResult:
    """Validate and pin the address, sign and send. Every error is a failed attempt."""
    hook, key, private = event.hook, str(event.key), settings.WAKE_PRIVATE_ADDRESSES
    try:
        pinned = safe_urls.check_url(hook.url, resolve=resolve, allow_private=private)
        way = transport or safe_urls.PinnedTransport(pinned, seconds=webhooks.SECONDS)
        if hook.kind == HookKind.OPENCLAW:
            text = payloads.sentences(event.body)
            call = webhooks.openclaw_call(pinned.url, text, key=key, token=hook.secret)
        else:
            secret = hook.secret
            call = webhooks.signed_call(pinned.url, event.body, key=key, secret=secret, at=now)
        return webhooks.post(call, transport=way, now=now)
    except safe_urls.UnsafeUrl as error:
        return CallResult(why=error.reason)
    except crypto.InvalidToken:
        return CallResult(why=reason("wake.secret_lost"))
    except Exception as error:  # noqa: BLE001 - its words may hold a header: not even logged
        kind = type(error).__name__
        facts = {"event_id": event.pk, "kind": kind}
        logger.error("webhook request failed with an internal error", extra=facts)
        return CallResult(why=reason("wake.program_failed", kind=kind))


@transaction.atomic
def _record(
    event: WakeEvent, heard: CallResult, *, at: datetime, took_ms: int, now: datetime
) -> WakeEventState | None:
    """Record the outcome, unless another worker claimed the event meanwhile."""
    state, facts = _outcome(event, heard, now)
    ours = WakeEvent.objects.filter(
        pk=event.pk, state=WakeEventState.WAITING, tries=event.tries, lease_until=event.lease_until
    )
    if not ours.update(state=state, lease_until=None, why=heard.why, **facts):
        logger.warning("an event was taken over", extra={"event_id": event.pk})
        return None
    WakeAttempt.objects.create(
        event=event, at=at, status=heard.status, why=heard.why, took_ms=took_ms
    )
    hook = event.hook
    if heard.status == webhooks.GONE:
        # Switch the hook off, unless its URL was changed meanwhile.
        same = WakeHook.objects.filter(pk=hook.pk, url=hook.url, is_on=True)
        if same.update(is_on=False):
            AuditEvent.objects.record(
                "wake.gone", actor="system", subject=hook.agent, why=heard.why
            )
    elif heard.is_overwhelmed:
        _keep_quiet(event, heard.wait or QUIET, now)
    return state


def _outcome(
    event: WakeEvent, heard: CallResult, now: datetime
) -> tuple[WakeEventState, dict[str, Any]]:
    if heard.is_taken:
        return WakeEventState.DELIVERED, {"delivered_at": now}
    if heard.status == webhooks.GONE or event.tries > len(WAITS):
        return WakeEventState.FAILED, {}
    wait = max(WAITS[event.tries - 1], heard.wait or timedelta())
    return WakeEventState.WAITING, {"not_before": now + wait}


def _keep_quiet(event: WakeEvent, length: timedelta, now: datetime) -> None:
    """Delay the other events of a hook that failed."""
    soon = WakeEvent.objects.due(now + length).filter(hook=event.hook_id, lease_until=None)
    others = soon.exclude(pk=event.pk).select_for_update(skip_locked=True)
    pks = list(others.values_list("pk", flat=True))
    WakeEvent.objects.filter(pk__in=pks).update(not_before=now + length)
