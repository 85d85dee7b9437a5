"""Wake agents that live elsewhere: say what is new to the address they gave, at least once.

    unread, not told ──announce──> event ──claim──commit──> call ──> delivered
                                     ^                        ├─> waiting (until later)
                                     └──────── resend ────────┴─> failed

What was told is marked in the transaction that makes the event. No transaction is open
while we call. A worker killed after its call leaves a claim that lapses: the event is
delivered once more, under the same id.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from typing import Any

import httpx
from django.conf import settings
from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.db.models.functions import Left
from django.urls import reverse

from dialogue import wake_words
from dialogue.hooking import resend, send_test, set_hook
from dialogue.models import Notification, Presence, WakeEvent, WakeHook, WakeTry
from dialogue.models.agent import Lives
from dialogue.models.wake import EventState, HookKind
from surfaces import addresses, calling, pausing, sealing
from surfaces.calling import Call, Heard
from surfaces.models import AuditEvent

__all__ = ["Told", "announce", "deliver_due", "resend", "send_test", "set_hook"]

logger = logging.getLogger(__name__)
Clock = Callable[[], datetime]

LEASE = timedelta(seconds=60)  # well over what a call may take
MOST_AT_ONCE = 1_000  # notifications told of by one event; the rest follows
# How long to wait after each failed try; after the last, it has failed: two days in all.
WAITS = [
    timedelta(seconds=5),
    timedelta(seconds=30),
    timedelta(minutes=2),
    timedelta(minutes=10),
    timedelta(hours=1),
    timedelta(hours=3),
    timedelta(hours=6),
    timedelta(hours=12),
    timedelta(hours=24),
]
QUIET = timedelta(minutes=1)  # for the other events of a hook that answers nobody


@dataclass(slots=True)
class Told:
    """What one run of delivering did, in events."""

    delivered: int = 0
    later: int = 0
    failed: int = 0

    @property
    def did(self) -> int:
        return sum(asdict(self).values())

    def count(self, state: EventState) -> None:
        self.delivered += state == EventState.DELIVERED
        self.later += state == EventState.WAITING
        self.failed += state == EventState.FAILED


# ── what is new ───────────────────────────────────────────────────────────


def announce(*, now: datetime) -> int:
    """Make an event of what each agent elsewhere was not told of; return how many were made."""
    news = _untold().filter(agent=OuterRef("agent"))
    hooks = _awake().filter(Exists(news)).values_list("pk", flat=True)
    return sum(_announce_to(pk, now) for pk in list(hooks))


def _awake() -> QuerySet[WakeHook]:
    return WakeHook.objects.filter(is_on=True, agent__lives=Lives.ELSEWHERE)


def _unread() -> QuerySet[Notification]:
    """What an agent may be told of: not what a person must look at first."""
    is_clean = Q(message__spam_status=None) | Q(message__spam_status="clean")
    return Notification.objects.unread().filter(is_clean, message__deleted_at=None)


def _untold() -> QuerySet[Notification]:
    return _unread().filter(announced_at=None)


@transaction.atomic
def _announce_to(pk: int, now: datetime) -> int:
    """One event for each account with news. Of two announcers at once, one does it."""
    hook = (
        _awake()
        .select_related("agent")
        .select_for_update(of=("self",), skip_locked=True, no_key=True)
        .filter(pk=pk)
        .first()
    )
    if hook is None:
        return 0
    news = Exists(_untold().filter(presence=OuterRef("pk")))
    presences = list(
        Presence.objects.live().filter(news, agent=hook.agent_id).select_related("account__surface")
    )
    # What is paused is told of when that is over.
    told = [one for one in presences if not pausing.reasons(one.account, hook.agent.slug)]
    return sum(_tell(hook, presence, now) for presence in told)


def _tell(hook: WakeHook, presence: Presence, now: datetime) -> int:
    """Make the event and mark what it tells of; return how many were made."""
    untold = _untold().filter(presence=presence).order_by("id")
    ids = list(untold.values_list("pk", flat=True)[:MOST_AT_ONCE])
    if not ids:
        return 0  # read a moment ago
    account = presence.account
    surface = account.surface
    body = wake_words.news(
        agent=hook.agent.slug,
        account=account.name,
        surface=surface.name,
        kind=surface.kind,
        items=_items(ids),
        count=len(ids),
        unread=_unread().filter(presence=presence).count(),
        fetch={
            "desk": settings.COLLOQUY_URL + reverse("surfaces:threads"),
            "surface": surface.base_url or surface.traits.base_url,
        },
        now=now,
    )
    WakeEvent.objects.create(hook=hook, account=account, made_at=now, not_before=now, body=body)
    Notification.objects.filter(pk__in=ids).update(announced_at=now)
    return 1


def _items(ids: list[int]) -> list[dict[str, Any]]:
    """The first of them, with no more of each text than is told."""
    first = Notification.objects.filter(pk__in=ids).order_by("id")[: wake_words.MOST_ITEMS]
    wanted = first.annotate(words=Left("message__content", wake_words.EXCERPT * 8)).values_list(
        "pk", "kind", "message__author", "words", "message", "message__post", "message__url"
    )
    return [
        wake_words.item(
            notification=pk,
            kind=kind,
            author=author or "",
            words=words or "",
            message=message,
            thread=thread,
            url=url or "",
            page=_page_of(thread) if thread else "",
        )
        for pk, kind, author, words, message, thread, url in wanted
    ]


def _page_of(thread: int) -> str:
    return settings.COLLOQUY_URL + reverse("surfaces:thread", args=[thread])


# ── delivering ────────────────────────────────────────────────────────────


def deliver_due(
    *,
    clock: Clock,
    until: Callable[[], bool] = lambda: False,
    transport: httpx.BaseTransport | None = None,
    resolve: addresses.Resolve = addresses.system_resolve,
) -> Told:
    """Deliver until nothing is due, or `until` says so. Safe to run many times at once."""
    told = Told()
    while not until() and (event := claim(now=clock())):
        at, began = clock(), time.monotonic()
        heard = _call(event, transport=transport, resolve=resolve, now=at)
        took_ms = round((time.monotonic() - began) * 1_000)
        if state := _record(event, heard, at=at, took_ms=took_ms, now=clock()):
            told.count(state)
    return told


@transaction.atomic(durable=True)
def claim(*, now: datetime) -> WakeEvent | None:
    """Take the event that has waited longest; its try is counted from here."""
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
    resolve: addresses.Resolve,
    now: datetime,
) -> Heard:
    """Check, pin, sign, call. Whatever goes wrong is a failed try with its reason."""
    try:
        pinned = addresses.checked(
            event.hook.url, resolve=resolve, allow_private=settings.WAKE_PRIVATE_ADDRESSES
        )
        way = transport or addresses.PinnedTransport(pinned, seconds=calling.SECONDS)
        return calling.make(_written(event, pinned.url, now), transport=way, now=now)
    except addresses.BadAddress as error:
        return Heard(why=str(error)[:400])
    except sealing.InvalidToken:
        return Heard(why="Its secret cannot be decrypted any more. Enter a new one.")
    except Exception as error:  # noqa: BLE001 - its words may hold a header: not even logged
        kind = type(error).__name__
        logger.error("a waking failed in us", extra={"event_id": event.pk, "kind": kind})
        return Heard(why=f"Colloquy failed while it called ({kind}).")


def _written(event: WakeEvent, url: str, now: datetime) -> Call:
    hook, key = event.hook, str(event.key)
    if hook.kind == HookKind.OPENCLAW:
        text = wake_words.sentences(event.body)
        return calling.bearing(url, text, key=key, token=hook.secret)
    return calling.signed(url, event.body, key=key, secret=hook.secret, at=now)


# ── what came of it ───────────────────────────────────────────────────────


@transaction.atomic
def _record(
    event: WakeEvent, heard: Heard, *, at: datetime, took_ms: int, now: datetime
) -> EventState | None:
    """Write the outcome down, unless somebody took the event over while we were slow."""
    state, facts = _outcome(event, heard, now)
    ours = WakeEvent.objects.filter(
        pk=event.pk, state=EventState.WAITING, tries=event.tries, lease_until=event.lease_until
    )
    if not ours.update(state=state, lease_until=None, why=heard.why, **facts):
        logger.warning("an event was taken over", extra={"event_id": event.pk})
        return None
    WakeTry.objects.create(event=event, at=at, status=heard.status, why=heard.why, took_ms=took_ms)
    if heard.status == calling.GONE:
        _switch_off(event.hook, heard)
    elif heard.is_overwhelmed:
        _keep_quiet(event, heard.wait or QUIET, now)
    return state


def _outcome(event: WakeEvent, heard: Heard, now: datetime) -> tuple[EventState, dict[str, Any]]:
    if heard.is_taken:
        return EventState.DELIVERED, {"delivered_at": now}
    if heard.status == calling.GONE or event.tries > len(WAITS):
        return EventState.FAILED, {}
    wait = max(WAITS[event.tries - 1], heard.wait or timedelta())
    return EventState.WAITING, {"not_before": now + wait}


def _switch_off(hook: WakeHook, heard: Heard) -> None:
    """Who says it is gone is not asked again, unless a person gave another address meanwhile."""
    same = WakeHook.objects.filter(pk=hook.pk, url=hook.url, is_on=True)
    if same.update(is_on=False):
        AuditEvent.objects.record("wake.gone", actor="system", subject=hook.agent, why=heard.why)


def _keep_quiet(event: WakeEvent, length: timedelta, now: datetime) -> None:
    """Who cannot take one event is not asked to take the next at once."""
    soon = WakeEvent.objects.due(now + length).filter(hook=event.hook_id, lease_until=None)
    others = soon.exclude(pk=event.pk).select_for_update(skip_locked=True)
    pks = list(others.values_list("pk", flat=True))
    WakeEvent.objects.filter(pk__in=pks).update(not_before=now + length)
