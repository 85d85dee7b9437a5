from datetime import timedelta
from decimal import Decimal
from threading import Barrier, Thread

import pytest
from django.db import connection

from dialogue.activations import services as activation_services
from dialogue.activations.models import ActivationState
from dialogue.activations.services import ActivationCost
from dialogue.budgets import services as budget_services
from dialogue.errors import LeaseLost
from dialogue.models import Activation, Agent, Spending
from surfaces.errors import StaleState
from surfaces.workers.locks import WorkerLock
from tests.factories import NOON, make_message, make_notification, make_presence

pytestmark = [pytest.mark.django_db, pytest.mark.engine]


def wake(presence=None, **given):
    presence = presence or make_presence()
    ordinary = {"purpose": "reply", "why": "a test", "worker": "nobody:1:dead", "now": NOON}
    return activation_services.start(presence, **(ordinary | given))


def test_an_agent_is_awake_once():
    presence = make_presence()
    wake(presence)
    with pytest.raises(StaleState, match="already has a running activation"):
        wake(presence)


def test_the_fencing_number_grows_with_every_waking():
    presence = make_presence()
    first = wake(presence)
    activation_services.finish(first, ActivationState.DONE, "done", now=NOON)
    assert wake(presence).number == first.number + 1


def test_steps_are_numbered_and_their_cost_is_added_up():
    woken = wake()
    activation_services.record_step(woken, "asked", "x", now=NOON)
    spent = ActivationCost(tokens_in=10, tokens_out=5, money=Decimal("0.01"), is_guess=True)
    activation_services.record_step(
        woken, "answered", "words\0 with NUL", now=NOON, cost=spent, took_ms=7
    )
    woken.refresh_from_db()
    assert [step.number for step in woken.steps.all()] == [1, 2]
    assert (woken.tokens_in, woken.tokens_out, woken.cost) == (10, 5, Decimal("0.01"))
    assert woken.cost_is_guess
    assert woken.steps.last().words == "words with NUL"


def test_every_step_is_a_sign_of_life():
    woken, later = wake(), NOON + timedelta(seconds=200)
    activation_services.record_step(woken, "asked", now=later)
    woken.refresh_from_db()
    assert woken.lease_until == later + activation_services.LEASE


def test_a_late_worker_writes_nothing():
    woken = wake()
    activation_services.reclaim_abandoned(now=NOON)
    for write in (
        lambda: activation_services.record_step(woken, "answered", "too late", now=NOON),
        lambda: activation_services.renew(woken, now=NOON),
        lambda: activation_services.finish(woken, ActivationState.DONE, "too late", now=NOON),
    ):
        with pytest.raises(LeaseLost):
            write()
    woken.refresh_from_db()
    assert (woken.state, woken.steps.count()) == (ActivationState.ABANDONED, 0)


def test_what_a_dead_worker_left_is_due_again_and_its_money_counts_as_spent():
    presence = make_presence()
    message = make_message(account=presence.account, reply_status="pending", reply_attempts=1)
    notification = make_notification(presence=presence, message=message, look_at=None)
    woken = wake(presence, notification=notification)
    budget_services.reserve(
        woken, presence.agent.settings, tokens=100, money=Decimal("0.2"), now=NOON
    )
    later = NOON + timedelta(minutes=1)
    assert activation_services.reclaim_abandoned(now=later) == 1
    notification.refresh_from_db()
    woken.refresh_from_db()
    message.refresh_from_db()
    assert (notification.look_at, notification.read_at) == (later, None)
    assert (woken.state, woken.cost, woken.cost_is_guess) == ("abandoned", Decimal("0.2"), True)
    assert (message.reply_status, message.reply_attempts) == ("pending", 1)
    assert {(row.held_tokens, row.tokens) for row in Spending.objects.all()} == {(0, 100)}


def test_whatever_ends_a_waking_nothing_of_it_stays_held():
    woken = wake()
    budget_services.reserve(woken, woken.agent.settings, tokens=100, money=Decimal("0.2"), now=NOON)
    activation_services.finish(woken, ActivationState.FAILED, "we stumbled", now=NOON)
    woken.refresh_from_db()
    assert (woken.cost, woken.cost_is_guess) == (Decimal("0.2"), True)
    assert {(row.held_tokens, row.tokens) for row in Spending.objects.all()} == {(0, 100)}


@pytest.mark.django_db(transaction=True)
def test_a_worker_that_lives_keeps_its_waking_until_the_lease_is_over():
    sender, lives, over = WorkerLock(), Barrier(2), Barrier(2)

    def live() -> None:
        sender.hold()
        lives.wait(20)
        over.wait(20)
        connection.close()

    thread = Thread(target=live)
    thread.start()
    lives.wait(20)
    wake(worker=sender.name)
    almost = NOON + activation_services.LEASE - timedelta(seconds=1)
    kept, taken = (
        activation_services.reclaim_abandoned(now=almost),
        activation_services.reclaim_abandoned(now=NOON + activation_services.LEASE),
    )
    over.wait(20)
    thread.join()
    assert (kept, taken) == (0, 1)
    assert Activation.objects.get().state == ActivationState.ABANDONED


def test_an_agent_backs_off_from_the_fifth_failure_and_success_forgets():
    presence = make_presence()
    for number in range(1, 7):
        woken = wake(presence)
        activation_services.finish(woken, ActivationState.FAILED, "the voice was down", now=NOON)
        agent = Agent.objects.get()
        waits = {5: 60, 6: 120}.get(number)
        assert agent.backs_off_until == (NOON + timedelta(seconds=waits) if waits else None)
    activation_services.finish(wake(presence), ActivationState.DONE, "words", now=NOON)
    agent = Agent.objects.get()
    assert (agent.failures, agent.backs_off_until) == (0, None)


def test_backing_off_never_takes_longer_than_an_hour():
    assert activation_services.backoff_delay(4) is None
    assert activation_services.backoff_delay(10) == timedelta(seconds=1920)
    assert activation_services.backoff_delay(11) == timedelta(hours=1)
    assert activation_services.backoff_delay(10_000) == timedelta(hours=1)


def test_being_told_to_stop_is_nobodys_failure():
    presence = make_presence()
    activation_services.finish(wake(presence), ActivationState.RELEASED, "told to stop", now=NOON)
    assert Agent.objects.get().failures == 0


@pytest.mark.django_db(transaction=True)
def test_of_many_that_wake_one_agent_at_once_one_does():
    presence = make_presence()
    start, won, lost = Barrier(4), [], []

    def try_it() -> None:
        start.wait(20)
        try:
            won.append(wake(presence).number)
        except StaleState:
            lost.append(1)
        connection.close()

    threads = [Thread(target=try_it) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (len(won), len(lost)) == (1, 3)
