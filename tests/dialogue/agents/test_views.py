"""The list of agents: what each is doing, a new one, and the budget of all."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from dialogue.budgets import rules as budget_rules
from dialogue.models import Agent, SharedBudget, Spending
from dialogue.voice import endpoints
from tests.dialogue.agents.pages import ADA, html, url
from tests.factories import NOON, make_agent, make_draft, make_message, make_presence

pytestmark = pytest.mark.django_db


def test_no_agent_is_said_with_the_next_step_and_the_command(admin: Client):
    page = html(admin, "agents")
    assert "No agents yet" in page
    assert url("connect") in page
    assert "manage.py connect hub --agent" in page


def test_the_list_says_where_each_speaks_and_what_it_did_today(desk: Client):
    agent = make_agent(slug="lian", name="莲")
    presence = make_presence(agent=agent)
    now = timezone.now()
    sent = {"state": "sent", "agent": "lian", "account": presence.account}
    make_draft(**sent, sent_at=now, target=make_message(account=presence.account))
    yesterday = make_message(account=presence.account)
    make_draft(**sent, sent_at=now - timedelta(days=2), target=yesterday)
    make_draft(state="failed", agent="lian")
    row = html(desk, "agents").partition("<tbody")[2].partition("</tbody>")[0]
    assert "莲" in row
    assert presence.account.name in row
    assert presence.account.surface.name in row
    assert 'data-l="Sent">1<' in row
    assert 'data-l="Failed">1<' in row
    assert "scripted" in row


def test_a_model_is_named_and_its_absence_too(desk: Client):
    agent = make_agent(settings={"voice": "model"})
    assert "no model set" in html(desk, "agents")
    endpoints.add_brain(agent, model="anthropic:claude-sonnet-4-5", by=ADA)
    assert "anthropic:claude-sonnet-4-5" in html(desk, "agents")


def asleep() -> dict[str, Any]:
    """Hours that ended an hour ago, whatever the time is."""
    now = timezone.now()
    return {
        "active_from": (now - timedelta(hours=3)).time(),
        "active_to": (now - timedelta(hours=1)).time(),
    }


@pytest.mark.parametrize(
    ("given", "settings", "words"),
    [
        ({}, {}, "Replies automatically"),
        ({}, {"is_autonomous": False}, "Disabled"),
        ({}, {"mode": "off"}, "Mode off"),
        ({"lives": "elsewhere"}, {}, "An external agent replies"),
        ({"backs_off_until": NOON + timedelta(days=900), "failures": 7}, {}, "Backing off until"),
        ("asleep", {}, "Outside active hours until"),
        ({}, {"money_per_day": 0, "voice": "model"}, "Today: $0.00 of $0 used until"),
        ({}, {"money_per_day": 0, "voice": "scripted"}, "Replies automatically"),
    ],
)
def test_what_an_agent_is_doing_is_said_in_words(
    desk: Client, given: Any, settings: Any, words: str
):
    agent = make_agent(settings=settings, **(asleep() if given == "asleep" else given))
    make_presence(agent=agent)
    assert words in html(desk, "agents")
    assert words in html(desk, "agent", agent.slug)


def test_an_agent_without_a_presence_speaks_nowhere(desk: Client):
    assert "No account assigned" in html(desk, "agent", make_agent().slug)


def test_the_list_goes_on_by_key(desk: Client):
    for number in range(51):
        make_agent(slug=f"a-{number:02}", name=f"Agent {number:02}")
    first = html(desk, "agents")
    assert "Agent 49" in first
    assert "Agent 50" not in first
    assert "?after=a-49" in first
    assert "Agent 50" in html(desk, "agents", query="?after=a-49")
    assert "No more agents" in html(desk, "agents", query="?after=zzz")


def test_a_new_agent_begins_cautiously(admin: Client):
    response = admin.post(url("new_agent"), {"slug": "lian", "name": "莲"}, follow=True)
    assert "Agent 莲 created" in response.content.decode()
    settings = Agent.objects.get(slug="lian").settings
    assert (settings.is_autonomous, settings.mode, settings.voice) == (False, "review", "scripted")


@pytest.mark.parametrize("slug", ["", "Not a slug!", "taken"])
def test_a_new_agent_needs_a_name_of_its_own(admin: Client, slug: str):
    make_agent(slug="taken")
    response = admin.post(url("new_agent"), {"slug": slug})
    assert response.status_code == 422
    assert 'class="error shown"' in response.content.decode()
    assert Agent.objects.count() == 1


def test_the_budget_of_all_is_shown_and_changed(admin: Client):
    Spending.objects.create(
        owner="house", period="day", starts=budget_rules.periods(timezone.now())["day"],
        money=Decimal("1.5"), held_money=Decimal("0.25"), tokens=900,
    )  # fmt: skip
    page = html(admin, "agents")
    assert "$1.75 of $5" in page
    assert "of this, $0.25 is reserved" in page
    page = html(admin, "set_house_budget")
    seen = page.partition('name="seen" value="')[2].partition('"')[0]
    given = {"money_per_day": "4", "money_per_month": "40", "tokens_per_day": "1000000",
             "tokens_per_month": "15000000", "seen": seen}  # fmt: skip
    admin.post(url("set_house_budget"), given)
    assert SharedBudget.current().money_per_day == 4
    refused = admin.post(url("set_house_budget"), given | {"money_per_day": "41"})
    assert refused.status_code == 422
    assert "more than the monthly" in refused.content.decode()
    late = admin.post(url("set_house_budget"), given | {"money_per_day": "3"})
    assert late.status_code == 409
    assert "Money a day</a> is now <b><bdi>4" in late.content.decode()
    assert 'name="money_per_day" value="3"' in late.content.decode()
    assert SharedBudget.current().money_per_day == 4
