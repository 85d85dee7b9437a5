"""Say what is left of an agent's limits and budget, in sentences for its voice."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from decimal import Decimal

from dialogue import budget, spending
from dialogue.circumstances import in_threads, replies_of, said_today
from dialogue.models import Agent, Notification
from dialogue.models.settings import VoiceKind
from dialogue.models.spending import Period


def left_for_reply(notification: Notification, *, now: datetime) -> Iterator[str]:
    """Nothing of a limit that a person overruled by asking."""
    agent, post = notification.presence.agent, notification.comment.post_id
    mine, kept = replies_of([agent.slug]), agent.settings
    today = kept.replies_per_day - said_today(mine, agent, now=now)
    here = kept.replies_per_thread - in_threads(mine, [post])[agent.slug, post]
    if min(today, here) > 0:
        yield f"Left for you, this one included: {_replies(today)} today, {here} in this thread."
    yield from left_to_spend(agent, now=now)


def left_to_spend(agent: Agent, *, now: datetime) -> Iterator[str]:
    """Where words cost something."""
    if agent.settings.voice != VoiceKind.MODEL:
        return
    owner, most = spending.owner_of(agent.slug), agent.settings.money_per_day
    days = spending.rows_of([owner], now).filter(period=Period.DAY)
    spent = sum((row.money + row.held_money for row in days), Decimal(0))
    left = budget.dollars(max(most - spent, Decimal(0)))
    yield f"Left of your budget of {budget.dollars(most)} for today: {left}."


def _replies(count: int) -> str:
    return "1 reply" if count == 1 else f"{count} replies"
