"""A claim leases the most urgent agent; what is due is decided after it has committed."""

from __future__ import annotations

import time
from datetime import datetime, timedelta
from threading import Barrier, Event, Thread

import pytest
from django.db import connection

from dialogue.activations import priorities
from dialogue.activations import services as activation_services
from dialogue.activations.models import ActivationState
from dialogue.inbox import collect
from dialogue.models import Activation, ActivationItem, Agent
from dialogue.replies import loop
from dialogue.replies.claims import FreeWorkers
from dialogue.replies.verdicts import ReplyCounts
from surfaces.pauses import services as pause_services
from tests.dialogue.replies.factories import MINUTE, World, of
from tests.factories import NOON, make_notification, make_presence

HOUR = timedelta(hours=1)
pytestmark = [pytest.mark.django_db, pytest.mark.engine]


def never() -> bool:
    return False


def claim(now=NOON) -> Activation | None:
    return next(iter(activation_services.claim(workers=["nobody:1:dead"], now=now)), None)


def begin(activation, now=NOON) -> tuple[bool, ReplyCounts]:
    counts = ReplyCounts()
    return loop.begin(activation, counts, now=now), counts


def test_the_most_urgent_agent_is_leased_with_the_next_number():
    later, sooner = make_presence(), make_presence()
    make_notification(presence=later, made_at=NOON - MINUTE)
    make_notification(presence=sooner, made_at=NOON - 2 * MINUTE)
    first, second = claim(), claim()
    assert [first.agent_id, second.agent_id] == [sooner.agent_id, later.agent_id]
    assert (first.number, first.state) == (1, "running")
    assert first.lease_until == NOON + activation_services.LEASE
    assert claim() is None


def test_who_works_is_not_chosen_until_it_ends():
    row = make_notification()
    for number, state in enumerate(("done", "failed", "released"), 1):
        activation = claim()
        assert activation.number == number
        assert Agent.objects.get().priority_at is None
        assert priorities.differing() == []
        activation_services.finish(activation, ActivationState(state), "over", now=NOON)
        assert Agent.objects.get().priority_at == row.made_at - 5 * MINUTE
        assert priorities.differing() == []


def test_who_waits_for_approval_is_free_for_other_work():
    make_notification()
    activation = claim()
    activation_services.suspend(activation, "it waits", now=NOON)
    assert claim().number == 2


def test_the_first_due_notification_names_the_account():
    first, second = make_presence(), make_presence()
    second.agent = first.agent
    second.save(update_fields=["agent"])
    make_notification(presence=first, look_at=NOON, made_at=NOON - 9 * MINUTE)
    make_notification(presence=second, look_at=NOON - MINUTE)
    assert claim().presence_id == second.pk


def test_a_claim_without_anything_to_answer_leaves_no_trace():
    world = World(spacing_seconds=300)
    world.comment()
    world.round()
    waits = world.comment()
    world.round()
    of(waits).note(look_at=world.now)
    activated_at = Agent.objects.get().last_activated_at
    later = world.now + MINUTE
    is_begun, counts = begin(claim(later), later)
    assert (is_begun, counts.waits) == (False, 1)
    assert Activation.objects.count() == 1
    assert Agent.objects.get().last_activated_at == activated_at
    assert of(waits).verdict == "too_soon"


def test_a_paused_agent_is_not_claimed_and_says_why_it_does_not_answer():
    world = World()
    comment = world.comment()
    pause_services.pause("agent", world.agent.slug, why="a holiday", by="operator:ada", now=NOON)
    assert world.round().waits == 1
    assert of(comment).verdict == "paused"
    assert Agent.objects.get().claims == 0


def test_agents_that_may_work_are_served_before_decisions_about_others():
    paused, able = World(), World()
    older, newer = paused.comment(), able.comment()
    collect.collect(now=NOON)
    of(older).note(made_at=NOON - 99 * MINUTE)
    pause_services.pause("agent", paused.agent.slug, why="a holiday", by="operator:ada", now=NOON)
    free = FreeWorkers()
    loop.answer_next(
        "w", ReplyCounts(), free=free, clock=lambda: NOON, until=never, is_ending=never
    )
    assert [of(older).verdict, of(newer).verdict] == ["", "drafted"]
    assert able.round().waits == 1
    assert of(older).verdict == "paused"


def test_a_worker_that_died_before_it_decided_loses_nothing(worker):
    world = World()
    comment = world.comment()
    collect.collect(now=world.now)
    claim(world.now)
    assert activation_services.reclaim_abandoned(now=world.now) == 1
    assert not ActivationItem.objects.exists()
    world.round()
    assert of(comment).verdict == "drafted"
    comment.refresh_from_db()
    assert comment.reply_attempts == 1


def test_who_was_taken_for_dead_decides_nothing_any_more():
    world = World()
    comment = world.comment()
    collect.collect(now=world.now)
    activation = claim(world.now)
    activation_services.reclaim_abandoned(now=world.now)
    assert begin(activation, world.now)[0] is False
    assert of(comment).verdict == ""
    comment.refresh_from_db()
    assert comment.reply_attempts == 0


def test_several_workers_claim_the_most_urgent_agents_at_once():
    rows = [make_notification(made_at=NOON - n * MINUTE) for n in range(5)]
    claimed = activation_services.claim(workers=["a", "b", "c"], now=NOON)
    assert {one.agent_id for one in claimed} == {row.agent_id for row in rows[2:]}
    assert {one.worker for one in claimed} == {"a", "b", "c"}
    claimed += activation_services.claim(workers=["d", "e", "f"], now=NOON)
    assert {one.agent_id for one in claimed} == {row.agent_id for row in rows}
    stored = Activation.objects.values_list("worker", "agent", "number", "state")
    assert sorted(stored) == sorted((one.worker, one.agent_id, 1, "running") for one in claimed)


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("at_once", [1, 3])
def test_claimers_at_one_moment_take_different_agents(at_once):
    agents = {make_notification().agent_id for _ in range(24)}
    barrier, taken = Barrier(4), []

    def work(name: str) -> None:
        workers = [f"{name} {number}" for number in range(at_once)]
        barrier.wait(10)
        while claimed := activation_services.claim(workers=workers, now=NOON + HOUR):
            taken.extend(one.agent_id for one in claimed)
        connection.close()

    in_threads(work, 4)
    assert sorted(taken) == sorted(agents)


@pytest.mark.django_db(transaction=True)
def test_free_workers_of_a_process_each_get_an_agent_of_their_own():
    agents = {make_notification().agent_id for _ in range(20)}
    free, barrier, taken = FreeWorkers(), Barrier(8), []

    def work(name: str) -> None:
        barrier.wait(10)
        while activation := free.claim(name, clock=lambda: NOON + HOUR):
            taken.append((activation.worker == name, activation.agent_id))
        connection.close()

    in_threads(work, 8)
    assert sorted(taken) == sorted((True, agent) for agent in agents)


def lined_up(monkeypatch, claim) -> dict[str, object]:
    """What three workers get of which two line up while the first asks."""
    free, asks, go, got = FreeWorkers(), Event(), Event(), {}

    def wait_and_claim(*, workers, now):
        asks.set()
        assert go.wait(10)
        return claim(workers)

    def work(name: str) -> None:
        try:
            got[name] = free.claim(name, clock=lambda: NOON)
        except ZeroDivisionError:
            got[name] = "failed"

    monkeypatch.setattr(activation_services, "claim", wait_and_claim)
    first = Thread(target=work, args=["first"])
    first.start()
    assert asks.wait(10)
    others = [Thread(target=work, args=[name]) for name in ("second", "third")]
    for thread in others:
        thread.start()
    while len(free._waiting) < 2:
        time.sleep(0.001)
    go.set()
    for thread in (first, *others):
        thread.join(10)
    return got


def test_who_lines_up_while_one_asks_is_claimed_for_in_one_statement(monkeypatch):
    asked = []

    def claim(workers):
        asked.append(sorted(workers))
        return [f"agent of {name}" for name in workers]

    got = lined_up(monkeypatch, claim)
    assert asked == [["first"], ["second", "third"]]
    assert got == {name: f"agent of {name}" for name in ("first", "second", "third")}


def test_who_lined_up_claims_at_the_time_of_the_statement(monkeypatch):
    free, asks, go, looks = FreeWorkers(), Event(), Event(), []

    def look() -> datetime:
        looks.append(NOON)
        return NOON

    def claim(*, workers, now):
        asks.set()
        assert go.wait(10)
        return []

    monkeypatch.setattr(activation_services, "claim", claim)
    first, second = (
        Thread(target=free.claim, args=[name], kwargs={"clock": look})
        for name in ("first", "second")
    )
    first.start()
    assert asks.wait(10)
    second.start()
    while not free._waiting:
        time.sleep(0.001)
    assert len(looks) == 1, "who lines up has not looked at the clock yet"
    go.set()
    for thread in (first, second):
        thread.join(10)
    assert len(looks) == 2


def test_where_fewer_agents_are_left_than_workers_the_rest_get_none(monkeypatch):
    asked = []

    def claim(workers):
        asked.append(workers)
        return [f"agent of {workers[0]}"]

    got = lined_up(monkeypatch, claim)
    leader = asked[1][0]
    assert got == {"first": "agent of first", "second": None, "third": None} | {
        leader: f"agent of {leader}"
    }


def test_a_claim_that_fails_keeps_no_other_worker_from_claiming(monkeypatch):
    asked = []

    def claim(workers):
        asked.append(workers)
        if len(asked) == 2:
            raise ZeroDivisionError
        return [f"agent of {name}" for name in workers]

    got = lined_up(monkeypatch, claim)
    failed, rest = asked[1]
    assert asked == [["first"], [failed, rest], [rest]]
    assert got == {"first": "agent of first", failed: "failed", rest: f"agent of {rest}"}


def in_threads(work, number: int) -> None:
    threads = [Thread(target=work, args=[f"worker {n}"]) for n in range(number)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
