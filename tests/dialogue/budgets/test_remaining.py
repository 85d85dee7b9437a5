"""What a voice hears of its agent's limits and budget."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal

import pytest

from dialogue.budgets import services as budget_services
from dialogue.models import AgentSettings, Notification, Spending
from dialogue.voice import briefs
from dialogue.voice.prompts import build_prompt
from tests.factories import (
    NOON,
    make_draft,
    make_message,
    make_notification,
    make_post,
    make_presence,
)

pytestmark = [pytest.mark.django_db]


def told(notification: Notification) -> str:
    """The system part, read as a worker reads it."""
    row = Notification.objects.select_related(
        "presence__agent__settings", "presence__account__surface", "message__post"
    ).get(pk=notification.pk)
    return build_prompt(briefs.reply_brief(row, now=NOON)[0]).system


def asked(**settings: object) -> Notification:
    presence = make_presence()
    AgentSettings.objects.filter(agent=presence.agent).update(**settings)
    comment = make_message(post=make_post(account=presence.account))
    return make_notification(presence=presence, message=comment)


def said(notification: Notification, **given: object) -> None:
    comment = notification.comment
    answered = make_message(post=comment.post)
    make_draft(target=answered, agent=notification.agent.slug, made_at=NOON, **given)


def test_it_hears_how_many_replies_are_left_today_and_in_this_thread():
    notification = asked(replies_per_day=5, replies_per_thread=3)
    assert "Left for you, this one included: 5 replies today, 3 in this thread." in told(
        notification
    )
    said(notification)
    said(notification, state="withdrawn")
    assert "this one included: 4 replies today, 2 in this thread." in told(notification)


def test_what_was_said_yesterday_counts_in_the_thread_only():
    notification = asked(replies_per_day=1, replies_per_thread=3)
    said(notification, state="sent", sent_at=NOON - timedelta(days=1))
    assert "this one included: 1 reply today, 2 in this thread." in told(notification)


def test_a_limit_that_a_person_overruled_is_not_spoken_of():
    notification = asked(replies_per_day=5, replies_per_thread=1)
    said(notification)
    assert "this one included" not in told(notification)


def test_it_hears_what_is_left_of_the_money_where_words_cost_something():
    notification = asked(voice="model", money_per_day=Decimal(5))
    assert "Left of your budget of $5.00 for today: $5.00." in told(notification)
    agent = notification.agent
    rows = budget_services.with_room(
        agent.slug, agent.settings, tokens=1, money=Decimal(0), now=NOON
    )
    Spending.objects.filter(pk__in=[row.pk for row in rows]).update(
        money=Decimal("1.50"), held_money=Decimal("0.25")
    )
    assert "Left of your budget of $5.00 for today: $3.25." in told(notification)


def test_a_voice_that_costs_nothing_hears_nothing_of_money():
    assert "budget" not in told(asked(voice="scripted"))
