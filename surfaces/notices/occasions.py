"""What concerns the house: everything paused for long, and what other parts have to say.

A source is a function of `now`, named in `settings.NOTICE_SOURCES`. It returns what holds just
now, as often as it is asked; each key is told once. A floor above is named, never imported.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.conf import settings
from django.db import DatabaseError
from django.utils.module_loading import import_string

from surfaces.models import Notice, Pause
from surfaces.models.notice import Reason
from surfaces.notices.hearers import Hearer

logger = logging.getLogger(__name__)
PAUSED_LONG = timedelta(hours=4)


@dataclass(frozen=True, kw_only=True, slots=True)
class Occasion:
    """Something about the house that somebody should know.

    `key` names this one occurrence, e.g. "budget:2026-11-22": another day is another notice.
    `account` and `agent` say what it is about; with neither, only who sees everything hears it.
    """

    key: str
    words: str  # one English sentence
    since: datetime
    account: int | None = None
    agent: str = ""
    is_urgent: bool = False


def paused(hearers: Sequence[Hearer], now: datetime) -> None:
    """Everybody may know: the switch stands on every page."""
    long_ago = now - PAUSED_LONG
    pause = Pause.objects.live().filter(scope="all", since__lte=long_ago).first()
    if pause:
        Notice.objects.keep(
            hearer.notice(
                Reason.PAUSED, f"pause:{pause.pk}", now=now, moment=pause.since, words=pause.why
            )
            for hearer in _listening(hearers)
        )


def told_by_others(hearers: Sequence[Hearer], now: datetime) -> None:
    listening = list(_listening(hearers))
    if listening:
        Notice.objects.keep(
            _notice(hearer, occasion, now)
            for occasion in _occasions(now)
            for hearer in listening
            if _may_hear(hearer, occasion)
        )


def _listening(hearers: Sequence[Hearer]) -> Iterator[Hearer]:
    return (hearer for hearer in hearers if hearer.rule.hears_house)


def _may_hear(hearer: Hearer, occasion: Occasion) -> bool:
    if occasion.account is None and not occasion.agent:
        return hearer.reach.is_whole
    is_theirs = hearer.reach.allows(occasion.account, occasion.agent)
    agents = hearer.wish.agents
    return is_theirs and (not agents or not occasion.agent or occasion.agent in agents)


def _occasions(now: datetime) -> Iterator[Occasion]:
    """A source that fails is logged, and keeps nobody else from being heard."""
    for name in settings.NOTICE_SOURCES:
        try:
            found: Iterable[Occasion] = list(import_string(name)(now))
        except DatabaseError:
            raise
        except Exception:
            logger.exception("a source of notices failed", extra={"source": name})
            continue
        yield from found


def _notice(hearer: Hearer, occasion: Occasion, now: datetime) -> Notice:
    return hearer.notice(
        Reason.HOUSE,
        occasion.key,
        now=now,
        moment=occasion.since,
        is_urgent=occasion.is_urgent,
        words=occasion.words,
        account_id=occasion.account,
        agent=occasion.agent,
    )
