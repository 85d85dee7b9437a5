"""Describe what is left of limits and budgets, in sentences for the prompt."""

from collections.abc import Iterator
from datetime import datetime
from decimal import Decimal

from dialogue.agents.limits import in_threads, replies_of, said_today
from dialogue.agents.models.settings import VoiceKind
from dialogue.budgets import rules as budget_rules
from dialogue.budgets import services as budget_services
from dialogue.budgets.models import Period
from dialogue.models import Agent, Notification


def left_for_reply(notification: Notification, *, now: datetime) -> Iterator[str]:
    """Leave out limits that an operator overruled by requesting the reply."""
    agent, post = notification.presence.agent, notification.comment.post_id
    mine, kept = replies_of([agent.slug]), agent.settings
    today = kept.replies_per_day - said_today(mine, agent, now=now)
    here = kept.replies_per_thread - in_threads(mine, [post])[agent.slug, post]
    if min(today, here) > 0:
        replies = "1 reply" if today == 1 else f"{today} replies"
        yield f"Left for you, this one included: {replies} today, {here} in this thread."
    yield from left_to_spend(agent, now=now)


def left_to_spend(agent: Agent, *, now: datetime) -> Iterator[str]:
    """Budgets; only for voices that cost money."""
    if agent.settings.voice != VoiceKind.MODEL:
        return
    owner, most = budget_services.owner_of(agent.slug), agent.settings.money_per_day
    days = budget_services.rows_of([owner], now).filter(period=Period.DAY)
    spent = sum((row.money + row.held_money for row in days), Decimal(0))
    left = budget_rules.dollars(max(most - spent, Decimal(0)))
    yield f"Left of your budget of {budget_rules.dollars(most)} for today: {left}."
