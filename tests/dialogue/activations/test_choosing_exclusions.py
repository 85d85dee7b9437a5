"""Who is not chosen although there is work: what keeps an agent out, and what does not."""

from __future__ import annotations

from datetime import UTC, datetime, time, timedelta
from decimal import Decimal
from zoneinfo import ZoneInfo

import pytest

from dialogue.activations import services as activation_services
from dialogue.agents.active_hours import next_opening
from dialogue.models import AgentSettings, Presence, SharedBudget, Spending
from surfaces.models import Surface
from surfaces.pauses import services as pause_services
from tests.dialogue.activations.candidates import (
    account_of,
    agent_of,
    due,
    explorer,
    set_of,
    stale,
    wake,
)
from tests.factories import NOON, make_notification, make_presence

pytestmark = pytest.mark.django_db
MINUTE = timedelta(minutes=1)


def spend(presence: Presence, owner: str = "", **facts) -> None:
    set_of(presence, voice="model")
    owner = owner or f"agent:{presence.agent.slug}"
    ordinary = {"period": "day", "starts": NOON.date()}
    Spending.objects.create(owner=owner, **(ordinary | facts))


def spend_a_month(presence: Presence) -> None:
    day = NOON.date().replace(day=1)
    spend(presence, period="month", starts=day, tokens=2_999_999, held_tokens=1)


def spend_a_small_house(presence: Presence) -> None:
    SharedBudget.objects.create(pk=1, tokens_per_day=100)
    spend(presence, "house", tokens=100)


def budget_of_nothing(presence: Presence) -> None:
    set_of(presence, voice="model", money_per_day=0)


def house_of_nothing(presence: Presence) -> None:
    SharedBudget.objects.create(pk=1, tokens_per_day=0)
    set_of(presence, voice="model")


def pause(scope: str):
    def do(presence: Presence) -> None:
        account = presence.account
        subject = {
            "all": "", "surface": account.surface.slug, "account": account.name,
            "agent": presence.agent.slug,
        }[scope]  # fmt: skip
        pause_services.pause(scope, subject, why="", by="operator:mira", now=NOON)

    do.__name__ = f"pause_{scope}"
    return do


def switched_off(presence):
    set_of(presence, is_autonomous=False)


def elsewhere(presence):
    agent_of(presence, lives="elsewhere")


def backed_off(presence):
    agent_of(presence, backs_off_until=NOON + MINUTE)


def outside_hours(presence):
    agent_of(presence, active_from=time(13), active_to=time(18))


def ended(presence):
    Presence.objects.filter(pk=presence.pk).update(ended_at=NOON)


def mode_off(presence):
    account_of(presence, mode="off")


def account_off(presence):
    account_of(presence, is_on=False)


def surface_off(presence):
    Surface.objects.filter(pk=presence.account.surface_id).update(is_on=False)


def signed_out(presence):
    account_of(presence, state="auth_failed")


def suspended(presence):
    account_of(presence, state="suspended", state_until=NOON + MINUTE)


def spent_money(presence):
    spend(presence, money=Decimal("0.6"), held_money=Decimal("0.4"))


def spent_tokens(presence):
    spend(presence, tokens=200_000)


def spent_house(presence):
    spend(presence, "house", money=5)


OUT = [
    switched_off, elsewhere, backed_off, outside_hours, ended, mode_off, account_off, surface_off,
    signed_out, suspended, spent_money, spent_tokens, spent_house, spend_a_month,
    spend_a_small_house, budget_of_nothing, house_of_nothing, wake,
    *map(pause, ("all", "surface", "account", "agent")),
]  # fmt: skip


@pytest.mark.parametrize("out", OUT, ids=lambda out: out.__name__)
def test_an_agent_that_is_out_is_not_chosen(out):
    presence = explorer()
    make_notification(presence=presence)
    assert due() == stale() == [presence.agent_id]
    out(presence)
    assert due() == stale() == []


@pytest.mark.parametrize("out", OUT, ids=lambda out: out.__name__)
def test_who_is_out_is_still_among_those_to_decide_about_but_not_who_is_awake(out):
    presence = explorer()
    make_notification(presence=presence)
    out(presence)
    assert due(is_strict=False) == ([] if out is wake else [presence.agent_id])


def test_what_is_over_or_of_others_keeps_nobody_out():
    presence, other = explorer(), explorer()
    make_notification(presence=presence)
    for out in (pause("account"), pause("agent"), pause("surface"), wake, switched_off):
        out(other)
    agent_of(presence, backs_off_until=NOON)
    account_of(presence, state="suspended", state_until=NOON)
    spend(presence, starts=NOON.date() - timedelta(days=1), money=100)
    spend(presence, f"agent:{other.agent.slug}", money=100)
    AgentSettings.objects.filter(agent=presence.agent).update(tokens_per_day=200_000)
    pause_services.pause("all", why="", by="operator:mira", now=NOON)
    pause_services.resume("all", by="operator:mira", now=NOON)
    assert due() == stale() == [presence.agent_id]


def test_a_scripted_voice_costs_nothing_so_no_budget_keeps_it_out():
    presence = explorer(settings={"money_per_day": 0})
    assert stale() == [presence.agent_id]


def test_one_of_two_places_is_enough():
    presence = explorer()
    make_presence(agent=presence.agent)
    pause("account")(presence)
    assert stale() == [presence.agent_id]


def test_an_activation_that_waits_for_approval_keeps_nobody_out():
    presence = explorer()
    make_notification(presence=presence)
    woken = activation_services.start(
        presence, purpose="reply", why="activation.reply", worker="w", now=NOON - 20 * MINUTE
    )
    assert due() == []
    woken.note(state="waiting")
    assert due() == [presence.agent_id]


ZONES = ["UTC", "Asia/Kathmandu", "America/New_York", "Pacific/Kiritimati", "Europe/Berlin"]
HOURS = [
    (time(9), time(17)), (time(22), time(6)), (time(0), time(12)), (time(12), time(0)),
    (time(12), time(12)), (time(17, 45), time(17, 46)), (time(23, 59, 59), time(0, 0, 1)),
]  # fmt: skip


@pytest.mark.parametrize("zone", ZONES)
def test_active_hours_are_the_same_in_sql_and_in_the_decision(zone):
    """By day, over midnight, on the days when clocks change, to the second."""
    agents = [explorer().agent for _ in HOURS]
    for agent, (start, end) in zip(agents, HOURS, strict=True):
        agent.note(timezone=zone, active_from=start, active_to=end)
    moments = [
        NOON,
        datetime(2026, 3, 29, 0, 59, 59, tzinfo=UTC),
        datetime(2026, 11, 1, 6, tzinfo=UTC),
    ]
    for first in moments:
        for minutes in range(0, 24 * 60, 45):
            now = first + minutes * MINUTE
            expected = [
                agent.pk for agent, (start, end) in zip(agents, HOURS, strict=True)
                if next_opening(now, zone=ZoneInfo(zone), start=start, end=end) is None
            ]  # fmt: skip
            assert stale(now) == expected, now


def test_a_time_zone_that_the_server_does_not_know_stops_nobody_else():
    odd, other = explorer(), explorer()
    agent_of(odd, timezone="Mars/Olympus", active_from=time(11), active_to=time(13))
    assert stale() == [odd.agent_id, other.agent_id]
