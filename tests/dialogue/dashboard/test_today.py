from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.db import connection
from django.test import Client, RequestFactory
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from dialogue.dashboard import today
from dialogue.dashboard.today import AgentActivity, agents_today, cost_per_day, costs
from dialogue.models import SharedBudget, Spending
from surfaces.home.dashboard import Dashboard
from surfaces.models import Operator, WatchRound
from tests.factories import (
    NOON,
    make_account,
    make_agent,
    make_draft,
    make_operator,
    make_presence,
    make_surface,
)

pytestmark = pytest.mark.django_db

TODAY = NOON.date()


def look(user: Operator | None = None, now: datetime = NOON) -> Dashboard:
    request: Any = RequestFactory().get("/")
    request.user, request.resolver_match = user or make_operator(role="admin"), None
    with timezone.override(request.user.zone):
        return Dashboard(request, now)


def day_of(slug: str, home: Dashboard) -> AgentActivity:
    panel = agents_today(home)
    assert panel
    return next(row for row in panel.context["rows"] if row.agent.slug == slug)


def make_round(account: Any, at: datetime, spam: int) -> None:
    WatchRound.objects.create(account=account, started_at=at, ended_at=at, spam=spam, stored=9)


def spend(owner: str, day: date, money: str, held: str = "0") -> None:
    Spending.objects.create(
        owner=owner, period="day", starts=day, money=Decimal(money), held_money=Decimal(held)
    )


# ── what each did ─────────────────────────────────────────────────────────


def test_a_day_begins_at_midnight_of_who_looks():
    presence = make_presence()
    slug = presence.agent.slug
    for hours in (1, 3, 13):
        make_draft(account=presence.account, agent=slug, what="comment", state="sent",
                   sent_at=NOON - timedelta(hours=hours))  # fmt: skip
    assert day_of(slug, look()).sent == 2, "since 00:00 UTC"
    shanghai = make_operator(role="admin", time_zone="Asia/Shanghai")
    assert day_of(slug, look(shanghai)).sent == 3, "since 16:00 UTC of yesterday"
    auckland = make_operator(role="admin", time_zone="Pacific/Auckland")
    assert day_of(slug, look(auckland)).sent == 1, "since 11:00 UTC"


def test_sent_is_drawn_by_hour_and_the_hour_that_runs_is_the_last():
    presence = make_presence()
    for minutes in (0, 5, 70):
        make_draft(account=presence.account, agent=presence.agent.slug, what="comment",
                   state="sent", sent_at=NOON - timedelta(minutes=minutes))  # fmt: skip
    home = look(now=NOON + timedelta(minutes=10))
    assert day_of(presence.agent.slug, home).hours == [0] * 9 + [1, 1, 1]


def test_waiting_and_failed_are_as_of_now_and_held_is_of_today():
    presence = make_presence()
    facts = {"account": presence.account, "agent": presence.agent.slug, "what": "comment"}
    make_draft(**facts, made_at=NOON - timedelta(days=3))
    make_draft(**facts, state="failed", made_at=NOON - timedelta(days=3))
    make_draft(**facts, state="shadowed", made_at=NOON - timedelta(hours=1))
    make_draft(**facts, state="shadowed", made_at=NOON - timedelta(days=1))
    did = day_of(presence.agent.slug, look())
    assert (did.sent, did.held, did.waiting, did.failed) == (0, 1, 1, 1)


def test_spam_is_that_of_the_accounts_it_speaks_through_today():
    presence, other, former = make_presence(), make_presence(), make_presence()
    former.ended_at = NOON - timedelta(hours=1)
    former.save()
    make_round(presence.account, NOON - timedelta(hours=1), spam=4)
    make_round(presence.account, NOON - timedelta(hours=13), spam=50)
    make_round(other.account, NOON - timedelta(hours=1), spam=7)
    make_round(former.account, NOON - timedelta(hours=1), spam=9)
    home = look()
    assert day_of(presence.agent.slug, home).spam == 4
    assert day_of(former.agent.slug, home).spam == 0


def test_money_is_that_of_the_day_of_utc_with_its_pace():
    presence = make_presence(settings={"money_per_day": Decimal("5")})
    slug = presence.agent.slug
    spend(f"agent:{slug}", TODAY, "3.10", held="0.08")
    spend(f"agent:{slug}", TODAY - timedelta(days=1), "9")
    did = day_of(slug, look())
    assert (did.spent_words, did.most_words) == ("$3.18", "$5.00")
    assert (did.bar.width, did.bar.pace) == ("63.6", "49.6")


def test_the_total_adds_everything_up():
    for _ in range(2):
        presence = make_presence()
        make_draft(account=presence.account, agent=presence.agent.slug, what="comment")
        spend(f"agent:{presence.agent.slug}", TODAY, "1.50")
    panel = agents_today(look())
    assert panel
    total = panel.context["total"]
    assert (total.waiting, total.spent_words) == (2, "$3.00")


def test_fifty_are_shown_and_the_rest_is_named(monkeypatch: Any):
    monkeypatch.setattr(today, "MOST", 2)
    for number in range(3):
        make_agent(slug=f"a{number}")
    panel = agents_today(look())
    assert panel
    assert [row.agent.slug for row in panel.context["rows"]] == ["a0", "a1"]
    assert panel.context["has_more"]


def test_a_limited_operator_does_not_see_other_agents(client: Client):
    mine, other = make_presence(), make_presence()
    kim = make_operator(agents=[mine.agent.slug])
    panel = agents_today(look(kim))
    assert panel
    assert [row.agent.slug for row in panel.context["rows"]] == [mine.agent.slug]
    assert cost_per_day(look(kim)) is None
    client.force_login(kim)
    assert other.agent.slug not in client.get("/").content.decode()


def test_who_looks_after_one_surface_sees_who_speaks_there():
    mine, other, former = make_presence(), make_presence(), make_presence()
    former.account.surface = mine.account.surface
    former.account.save()
    former.ended_at = NOON
    former.save()
    kim = make_operator()
    kim.surfaces.add(mine.account.surface)
    panel = agents_today(look(kim))
    assert panel
    shown = [row.agent.slug for row in panel.context["rows"]]
    assert mine.agent.slug in shown
    assert other.agent.slug not in shown


# ── what all cost ─────────────────────────────────────────────────────────


def test_two_weeks_are_drawn_against_the_limit_of_today():
    SharedBudget.objects.create(pk=1, money_per_day=Decimal("15"))
    spend("house", TODAY, "9.79")
    spend("house", TODAY - timedelta(days=3), "15.60")
    spend("house", TODAY - timedelta(days=14), "99")
    found = costs(NOON)
    assert len(found.days) == 14
    assert (found.today.words, found.limit_words) == ("$9.79", "$15")
    assert [day.words for day in found.over] == ["$15.60"]
    assert found.forecast == "$19.58"
    assert found.has_days


def test_what_is_held_for_calls_under_way_counts_today_only():
    spend("house", TODAY, "1", held="0.50")
    spend("house", TODAY - timedelta(days=1), "1", held="0.50")
    found = costs(NOON)
    assert [day.words for day in found.days[-2:]] == ["$1.00", "$1.50"]


def test_no_pace_is_guessed_in_the_first_hours():
    spend("house", TODAY, "1")
    assert costs(datetime(2026, 11, 21, 1, tzinfo=UTC)).forecast == ""


def test_the_default_limit_holds_where_nobody_set_one_and_the_set_one_where_nobody_spent():
    assert costs(NOON).limit_words == "$5"
    SharedBudget.objects.create(pk=1, money_per_day=Decimal("7"))
    assert costs(NOON).limit_words == "$7"


def test_one_day_is_no_chart(client: Client):
    client.force_login(make_operator(role="admin"))
    make_presence()
    assert "Not enough days for a chart" in client.get("/").content.decode()


def test_the_chart_says_its_figures_in_words(client: Client):
    client.force_login(make_operator(role="admin"))
    make_presence()
    now = timezone.now()
    for back in range(3):
        spend("house", (now - timedelta(days=back)).astimezone(UTC).date(), f"{back + 4}.5")
    page = " ".join(client.get("/").content.decode().split())
    title = page.split('<title id="cost-t">')[1].split("</title>")[0]
    assert "Today $4.50 so far; the limit is $5." in title
    assert "Above the limit 2 times:" in title
    assert title.rstrip().endswith("$5.50.")
    assert page.count('class="col over"') == 2
    assert '<th scope="col">Day (UTC)</th>' in page


# ── all of it ─────────────────────────────────────────────────────────────


def test_home_asks_at_most_twelve_questions_however_many_agents(client: Client):
    def cost() -> int:
        with CaptureQueriesContext(connection) as asked:
            assert client.get("/").status_code == 200
        return len(asked)

    client.force_login(make_operator(role="admin"))
    _grow()
    few = cost()
    for _ in range(5):
        _grow()
    assert cost() == few <= 12
    client.force_login(make_operator(role="moderator"))
    assert cost() <= 12
    client.force_login(kim := make_operator(agents=["iris-1"]))
    kim.surfaces.add(make_presence().account.surface)
    assert cost() <= 12


def _grow() -> None:
    presence = make_presence()
    slug, now = presence.agent.slug, timezone.now()
    make_draft(account=presence.account, agent=slug)
    make_draft(account=presence.account, agent=slug, state="sent", sent_at=now)
    make_round(presence.account, now, spam=1)
    spend(f"agent:{slug}", now.astimezone(UTC).date(), "0.4")
    Spending.objects.get_or_create(owner="house", period="day", starts=now.astimezone(UTC).date())


def test_the_mode_shown_is_the_one_that_delivery_follows(desk: Client):
    presence = make_presence(settings={"mode": "review"}, mode="auto")
    make_presence(agent=presence.agent, mode="shadow")
    assert day_of(presence.agent.slug, look()).modes == ["auto", "shadow"]
    for page in ("surfaces:home", "dialogue:agents"):
        shown = desk.get(reverse(page)).content.decode()
        assert '<span class="badge ok">auto</span>' in shown, page
        assert '<span class="badge info">shadow</span>' in shown, page
        assert '<span class="badge">review</span>' not in shown, page


def test_an_agent_without_an_account_shows_its_own_mode(desk: Client):
    agent = make_agent(settings={"mode": "shadow"})
    assert day_of(agent.slug, look()).modes == ["shadow"]
    shown = desk.get(reverse("dialogue:agents")).content.decode()
    assert '<span class="badge info">shadow</span>' in shown


def test_the_mode_of_an_account_out_of_reach_is_not_told():
    presence = make_presence(mode="auto")
    elsewhere = make_account(surface=make_surface(slug="other"))
    other = make_presence(agent=presence.agent, account=elsewhere)
    limited = make_operator(role="moderator", username="jon")
    limited.surfaces.add(other.account.surface)
    assert day_of(presence.agent.slug, look(limited)).modes == ["review"]
