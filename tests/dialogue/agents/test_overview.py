"""The page of one agent: its budgets, verdicts, what waits, pauses and its back-off."""

from __future__ import annotations

import re
from datetime import timedelta
from decimal import Decimal

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from dialogue.budgets import rules as budget_rules
from dialogue.models import Agent, Spending
from surfaces.models import Pause
from surfaces.pauses import services as pause_services
from tests.dialogue.agents.pages import ADA, html, url
from tests.factories import (
    NOON,
    make_agent,
    make_draft,
    make_message,
    make_notification,
    make_presence,
)

pytestmark = pytest.mark.django_db


def test_budgets_count_what_is_held_and_the_limit_of_today(desk: Client):
    presence = make_presence()
    slug = presence.agent.slug
    for period, starts in budget_rules.periods(timezone.now()).items():
        Spending.objects.create(
            owner=f"agent:{slug}", period=period, starts=starts, money=Decimal("0.40"),
            held_money=Decimal("0.10"), tokens=1_000, held_tokens=200,
        )  # fmt: skip
    waiting = make_message(account=presence.account)
    make_draft(agent=slug, account=presence.account, target=waiting)
    page = html(desk, "agent", slug)
    assert "$0.50 of $1" in page
    assert "$0.50 of $10" in page
    assert "1,200 of 200,000" in page
    assert "1 of 20" in page


def test_verdicts_of_the_last_30_days_are_counted_and_linked(desk: Client):
    agent, now = make_agent(), timezone.now()
    for number, judged in enumerate(["as_written"] * 6 + ["edited", "rejected"]):
        draft = make_draft(
            agent=agent.slug, judged=judged, state="withdrawn", why="repeats us",
            decided_at=now - timedelta(hours=number), decided_by=ADA,
        )  # fmt: skip
    long_ago = now - timedelta(days=40)
    make_draft(agent=agent.slug, judged="rejected", state="withdrawn", decided_at=long_ago)
    page = html(desk, "agent", agent.slug)
    assert "30 days: 88 % approved" in page
    assert page.count('class="badge ok"') == 6  # the last six
    assert reverse("surfaces:draft", args=[draft.pk]) not in page
    assert reverse("surfaces:draft", args=[draft.pk - 5]) in page


def test_what_waits_is_counted_by_verdict_in_words(desk: Client):
    presence = make_presence()
    for verdict in ("too_soon", "too_soon", "", "made_up_later"):
        make_notification(presence=presence, verdict=verdict, look_at=None)
    make_notification(presence=presence, outcome="passed", why="x", read_at=NOON, verdict="spam")
    page = html(desk, "agent", presence.agent.slug)
    assert '<b class="num">2</b> minimum interval between replies' in page
    assert '<b class="num">1</b> not checked yet' in page
    assert '<b class="num">1</b> made up later' in page
    assert "marked as spam" not in page


def test_an_agent_is_paused_with_a_reason_and_resumed(desk: Client):
    agent = make_presence().agent
    place = url("agent", agent.slug)
    given = {"what": f"agent:{agent.slug}", "why": "It repeats itself", "next": place}
    page = desk.post(reverse("surfaces:pause"), given, follow=True).content.decode()
    assert Pause.objects.live().get().subject == agent.slug
    assert "Paused by mira" in page
    assert "It repeats itself" in page
    page = desk.post(reverse("surfaces:resume"), given, follow=True).content.decode()
    assert "Replies automatically" in page


def test_everything_paused_is_said_on_every_agent(desk: Client):
    pause_services.pause("all", why="Lunch", by="operator:mira", now=NOON)
    page = html(desk, "agent", make_presence().agent.slug)
    assert "Everything is paused by mira" in page


def test_a_back_off_is_cleared_by_a_moderator(desk: Client):
    agent = make_agent(failures=6, backs_off_until=timezone.now() + timedelta(hours=1))
    make_presence(agent=agent)
    assert "Clear back-off" in html(desk, "agent", agent.slug)
    desk.post(url("clear_back_off", agent.slug))
    assert Agent.objects.get().backs_off_until is None
    assert "Clear back-off" not in html(desk, "agent", agent.slug)


def test_the_tab_of_the_audit_log_lists_the_events_of_the_agent(desk: Client):
    agent = make_agent(slug="iris")
    pause_services.pause("agent", "iris", why="", by=ADA, now=NOON)
    link = re.search(r'href="(/ledger/[^"]+)"[^>]*>Audit log', html(desk, "agent", agent.slug))
    assert link
    page = desk.get(link[1].replace("&amp;", "&")).content.decode()
    assert "sending paused" in page


def test_an_agent_that_never_had_a_notification_is_told_apart_from_one_without_work(desk: Client):
    presence = make_presence()
    slug = presence.agent.slug
    assert "No notifications yet. Comments on its accounts" in html(desk, "agent", slug)
    make_notification(presence=presence, outcome="passed", why="x", read_at=NOON, verdict="spam")
    assert "Nothing is waiting. Every notification" in html(desk, "agent", slug)
