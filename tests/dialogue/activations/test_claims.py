"""A claim leases the most urgent agent; what is due is decided after it has committed."""

from __future__ import annotations

from datetime import timedelta
from threading import Barrier, Thread

import pytest
from django.db import connection

from dialogue.activations import priorities
from dialogue.activations import services as activation_services
from dialogue.activations.models import ActivationState
from dialogue.inbox import collect
from dialogue.models import Activation, ActivationItem, Agent
from dialogue.replies import loop
from dialogue.replies.verdicts import ReplyCounts
from surfaces.pauses import services as pause_services
from tests.dialogue.replies.factories import MINUTE, World, of
from tests.factories import NOON, make_notification, make_presence

pytestmark = [pytest.mark.django_db, pytest.mark.engine]


def never() -> bool:
    return False


def claim(now=NOON) -> Activation | None:
    return activation_services.claim(worker="nobody:1:dead", now=now)


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
    loop.answer_next("w", ReplyCounts(), clock=lambda: NOON, until=never, is_ending=never)
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


@pytest.mark.django_db(transaction=True)
def test_claimers_at_one_moment_take_different_agents():
    agents = {make_notification().agent_id for _ in range(12)}
    barrier, taken = Barrier(4), []

    def work() -> None:
        barrier.wait(10)
        while activation := activation_services.claim(worker="w", now=NOON + timedelta(hours=1)):
            taken.append(activation.agent_id)
        connection.close()

    threads = [Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert sorted(taken) == sorted(agents)
