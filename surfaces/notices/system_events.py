"""What concerns the house: everything paused for long, and what other parts have to say.

A source is a function of `now`, of some `Extension.notice_sources`. It returns what holds just
now, as often as it is asked; each key is told once. A floor above is named, never imported.
"""

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
LONG = timedelta(minutes=3)  # of silence: a restart is no news


@dataclass(frozen=True, kw_only=True, slots=True)
class SystemEvent:
    """`key` names this one occurrence, e.g. "budget:2026-11-22": another day is another notice.
    `account` and `agent` say what it is about; with neither, only who sees everything hears it.
    """

    key: str
    words: StoredReason  # what happened
    since: datetime
    account: int | None = None
    surface: int | None = None  # of the account, for rules of some surfaces
    agent: str = ""
    is_urgent: bool = False
    is_report: bool = False  # for rules with `sends_reports`, and no others


def paused(hearers: Sequence[Recipient], now: datetime) -> None:
    """Everybody may know: the switch stands on every page."""
    pause = Pause.objects.live().filter(scope="all", since__lte=now - PAUSED_LONG).first()
    if pause:
        subject, moment = f"pause:{pause.pk}", pause.since
        Notice.objects.keep(
            hearer.notice(NoticeReason.PAUSED, subject, now=now, moment=moment, words=pause.why)
            for hearer in _listening(hearers)
        )


def extension_events(hearers: Sequence[Recipient], now: datetime) -> None:
    """Sources are asked also where nobody listens: what is told by the hour is over then."""
    Notice.objects.keep(
        hearer.notice(
            NoticeReason.REPORT if event.is_report else NoticeReason.HOUSE,
            event.key,
            now=now,
            moment=event.since,
            is_urgent=event.is_urgent,
            words=event.words,
            account_id=event.account,
            agent=event.agent,
        )
        for event in _events(now)
        for hearer in hearers
        if _may_hear(hearer, event)
    )


def _listening(hearers: Sequence[Recipient]) -> list[Recipient]:
    return [hearer for hearer in hearers if hearer.rule.hears_house]


def _may_hear(hearer: Recipient, event: SystemEvent) -> bool:
    rule, wish = hearer.rule, hearer.wish
    if not (rule.sends_reports if event.is_report else rule.hears_house):
        return False
    if event.account is None and not event.agent:
        return hearer.reach.is_whole
    is_meant = wish.agents is None or not event.agent or event.agent in wish.agents
    if event.is_report and wish.surfaces is not None:
        is_meant = is_meant and event.surface in wish.surfaces
    return is_meant and hearer.reach.allows(event.account, event.agent)


def _events(now: datetime) -> Iterator[SystemEvent]:
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


def silent_workers(now: datetime) -> Iterator[SystemEvent]:
    """Kinds of which some fell silent and none is left. Each silence once."""
    for group in worker_groups(Worker.objects.all(), now):
        since = max((row.beat_at for row in group.silent), default=now)
        if not group.up and since <= now - LONG:
            kind = reason(f"worker.{group.kind}")
            yield SystemEvent(
                key=f"silent:{group.kind}@{int(since.timestamp())}",
                words=reason("notice.silent", kind=kind, start=group.start),
                since=since,
                is_urgent=True,
            )
