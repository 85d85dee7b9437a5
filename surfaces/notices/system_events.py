"""What concerns the house: everything paused for long, and what other parts have to say.

A source is a function of `now`, of some `Extension.notice_sources`. It returns what holds just
now, as often as it is asked; each key is told once. A floor above is named, never imported.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import DatabaseError

from surfaces.extension_points import extensions
from surfaces.notices.models.notice import Notice, NoticeReason
from surfaces.notices.recipients import Recipient
from surfaces.pauses.models import Pause
from surfaces.text.reasons import StoredReason, reason
from surfaces.workers.models import Worker
from surfaces.workers.status import worker_groups

logger = logging.getLogger(__name__)
PAUSED_LONG = timedelta(hours=4)


@dataclass(frozen=True, kw_only=True, slots=True)
class SystemEvent:
    """Something about the house that somebody should know.

    `key` names this one occurrence, e.g. "budget:2026-11-22": another day is another notice.
    `account` and `agent` say what it is about; with neither, only who sees everything hears it.
    """

    key: str
    words: StoredReason  # what happened
    since: datetime
    account: int | None = None
    agent: str = ""
    is_urgent: bool = False


def paused(hearers: Sequence[Recipient], now: datetime) -> None:
    """Everybody may know: the switch stands on every page."""
    long_ago = now - PAUSED_LONG
    pause = Pause.objects.live().filter(scope="all", since__lte=long_ago).first()
    if pause:
        Notice.objects.keep(
            hearer.notice(
                NoticeReason.PAUSED,
                f"pause:{pause.pk}",
                now=now,
                moment=pause.since,
                words=pause.why,
            )
            for hearer in _listening(hearers)
        )


def extension_events(hearers: Sequence[Recipient], now: datetime) -> None:
    listening = list(_listening(hearers))
    if listening:
        Notice.objects.keep(
            _notice(hearer, occasion, now)
            for occasion in _occasions(now)
            for hearer in listening
            if _may_hear(hearer, occasion)
        )


def _listening(hearers: Sequence[Recipient]) -> Iterator[Recipient]:
    return (hearer for hearer in hearers if hearer.rule.hears_house)


def _may_hear(hearer: Recipient, occasion: SystemEvent) -> bool:
    if occasion.account is None and not occasion.agent:
        return hearer.reach.is_whole
    is_theirs = hearer.reach.allows(occasion.account, occasion.agent)
    agents = hearer.wish.agents
    return is_theirs and (not agents or not occasion.agent or occasion.agent in agents)


def _occasions(now: datetime) -> Iterator[SystemEvent]:
    """A source that fails is logged, and keeps nobody else from being heard."""
    for source in (source for extension in extensions() for source in extension.notice_sources):
        try:
            found: Iterable[SystemEvent] = list(source(now))
        except DatabaseError:
            raise
        except Exception:
            logger.exception("a source of notices failed", extra={"source": source.__qualname__})
            continue
        yield from found


def _notice(hearer: Recipient, occasion: SystemEvent, now: datetime) -> Notice:
    return hearer.notice(
        NoticeReason.HOUSE,
        occasion.key,
        now=now,
        moment=occasion.since,
        is_urgent=occasion.is_urgent,
        words=occasion.words,
        account_id=occasion.account,
        agent=occasion.agent,
    )


LONG = timedelta(minutes=3)  # a restart is no news


def silent_workers(now: datetime) -> Iterator[SystemEvent]:
    """Kinds of which some fell silent and none is left. Each silence once."""
    for group in worker_groups(Worker.objects.all(), now):
        since = max((row.beat_at for row in group.silent), default=now)
        if not group.up and since <= now - LONG:
            yield SystemEvent(
                key=f"silent:{group.kind}@{int(since.timestamp())}",
                words=reason(
                    "notice.silent", kind=reason(f"worker.{group.kind}"), start=group.start
                ),
                since=since,
                is_urgent=True,
            )
