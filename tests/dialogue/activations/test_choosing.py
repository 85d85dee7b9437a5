"""Which agents have work: the most urgent first, and nobody who is out."""

from __future__ import annotations

from datetime import UTC, datetime, time, timedelta
from decimal import Decimal
from zoneinfo import ZoneInfo

import pytest

from dialogue.activations import choosing
from dialogue.activations import services as activation_services
from dialogue.agents.active_hours import next_opening
from dialogue.models import Agent, AgentSettings, Presence, SharedBudget, Spending
from surfaces.models import Account, Surface
from surfaces.pauses import services as pause_services
from surfaces.workers import wait_bounds
from tests.factories import NOON, make_notification, make_presence

pytestmark = pytest.mark.django_db
MINUTE = timedelta(minutes=1)


def due(now: datetime = NOON, **given) -> list[int]:
    return choosing.notification_work(now=now, limit=100, **given)


def stale(now: datetime = NOON) -> list[int]:
    return choosing.exploration_work(now=now, limit=100)


def explorer(**given) -> Presence:
    settings = {"explores": True, **given.pop("settings", {})}
    return make_presence(settings=settings, **given)


def set_of(presence: Presence, **facts) -> None:
    AgentSettings.objects.filter(agent=presence.agent).update(**facts)


def agent_of(presence: Presence, **facts) -> None:
    Agent.objects.filter(pk=presence.agent_id).update(**facts)


def account_of(presence: Presence, **facts) -> None:
    Account.objects.filter(pk=presence.account_id).update(**facts)


def test_more_unread_and_longer_waiting_comes_first():
    one, many, old = make_presence(), make_presence(), make_presence()
    make_notification(presence=one, made_at=NOON - 4 * MINUTE)
    make_notification(presence=many, made_at=NOON)
    make_notification(presence=many, made_at=NOON)
    make_notification(presence=old, made_at=NOON - 6 * MINUTE)
    # Scores: 1 + 6/5, 2 + 0, 1 + 4/5.
    assert due() == [old.agent_id, many.agent_id, one.agent_id]
    assert choosing.notification_work(now=NOON, limit=2) == [old.agent_id, many.agent_id]


def test_the_order_is_the_same_at_any_time():
    for unread, minutes in ((1, 9), (2, 6), (3, 0), (1, 13)):
        presence = make_presence()
        for _ in range(unread):
            make_notification(presence=presence, made_at=NOON - minutes * MINUTE)
    assert due() == due(NOON + timedelta(days=3))


def test_only_agents_with_something_due_are_chosen():
    make_presence()
    make_notification(look_at=NOON + MINUTE)
    make_notification(look_at=None)
    make_notification(read_at=NOON, outcome="answered")
    now = make_notification(look_at=NOON)
    assert due() == [now.agent_id]


def test_stale_agents_come_never_activated_first_then_the_stalest():
    recent, stalest, never = explorer(), explorer(), explorer()
    agent_of(recent, last_activated_at=NOON - 16 * MINUTE)
    agent_of(stalest, last_activated_at=NOON - 90 * MINUTE)
    make_presence()  # does not explore
    assert stale() == [never.agent_id, stalest.agent_id, recent.agent_id]
    assert choosing.exploration_work(now=NOON, limit=1) == [never.agent_id]


@pytest.mark.parametrize(
    ("settings", "idle"),
    [
        ({"explore_frequency": "staleness"}, 15 * MINUTE),
        ({"explore_frequency": "staleness", "stale_minutes": 5}, 5 * MINUTE),
        ({"explore_frequency": "staleness", "stale_minutes": 10_080}, timedelta(days=7)),
        ({"explore_frequency": "hourly", "stale_minutes": 5}, timedelta(hours=1)),
        ({"explore_frequency": "daily", "stale_minutes": 5}, timedelta(days=1)),
    ],
)
def test_an_agent_explores_when_it_was_idle_for_its_time(settings, idle):
    presence = explorer(settings=settings)
    agent_of(presence, last_activated_at=NOON - idle + timedelta(seconds=1))
    assert stale() == []
    agent_of(presence, last_activated_at=NOON - idle)
    assert stale() == [presence.agent_id]


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


def wake(presence: Presence) -> None:
    activation_services.start(
        presence, purpose="explore", why="activation.reply", worker="w", now=NOON
    )
    agent_of(presence, last_activated_at=None)


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


def test_a_clock_that_ran_ahead_stops_exploration_for_no_longer_than_its_time():
    presence = explorer()
    agent_of(presence, last_activated_at=NOON + timedelta(days=999))
    assert stale() == []
    wait_bounds.pull_back(now=NOON)
    assert stale(NOON + 17 * MINUTE) == [presence.agent_id]


def test_a_changed_setting_moves_when_exploration_is_due():
    presence = explorer()
    agent_of(presence, last_activated_at=NOON - 10 * MINUTE)
    assert stale() == []
    set_of(presence, stale_minutes=10)
    assert stale() == [presence.agent_id]
    set_of(presence, explore_frequency="daily")
    assert stale() == []
    set_of(presence, explore_frequency="staleness")
    assert stale() == [presence.agent_id]
    set_of(presence, explores=False)
    assert stale() == []


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


def test_what_operators_asked_for_comes_in_their_order_without_the_awake():
    late, early, awake = make_presence(), make_presence(), make_presence()
    make_presence()
    for presence, minutes in ((late, 1), (early, 2), (awake, 3)):
        Presence.objects.filter(pk=presence.pk).update(
            run_asked_at=NOON - minutes * MINUTE, run_asked_by="operator:mira", run_purpose="task"
        )
    wake(awake)
    switched_off(early)
    assert choosing.asked_for(now=NOON, limit=9) == [early.pk, late.pk]
    assert choosing.asked_for(now=NOON, limit=1) == [early.pk]


def test_each_choice_is_one_query(django_assert_num_queries):
    make_notification(presence=explorer())
    for choice in (choosing.notification_work, choosing.exploration_work, choosing.asked_for):
        with django_assert_num_queries(1):
            choice(now=NOON, limit=5)
