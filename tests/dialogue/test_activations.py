from datetime import timedelta
from decimal import Decimal
from threading import Barrier, Thread

import pytest
from django.db import connection

from dialogue import activations, spending
from dialogue.activations import Cost
from dialogue.errors import Overtaken
from dialogue.models import Activation, Agent, Spending
from dialogue.models.activation import State
from surfaces.errors import StaleState
from surfaces.sender import Sender
from tests.factories import NOON, make_message, make_notification, make_presence

pytestmark = [pytest.mark.django_db, pytest.mark.engine]


def wake(presence=None, **given):
    presence = presence or make_presence()
    ordinary = {"purpose": "reply", "why": "a test", "worker": "nobody:1:dead", "now": NOON}
    return activations.begin(presence, **(ordinary | given))


def test_an_agent_is_awake_once():
    presence = make_presence()
    wake(presence)
    with pytest.raises(StaleState, match="awake already"):
        wake(presence)


def test_the_fencing_number_grows_with_every_waking():
    presence = make_presence()
    first = wake(presence)
    activations.end(first, State.DONE, "done", now=NOON)
    assert wake(presence).number == first.number + 1


def test_steps_are_numbered_and_their_cost_is_added_up():
    woken = wake()
    activations.step(woken, "asked", "x", now=NOON)
    spent = Cost(tokens_in=10, tokens_out=5, money=Decimal("0.01"), is_guess=True)
    activations.step(woken, "answered", "words\0 with NUL", now=NOON, cost=spent, took_ms=7)
    woken.refresh_from_db()
    assert [step.number for step in woken.steps.all()] == [1, 2]
    assert (woken.tokens_in, woken.tokens_out, woken.cost) == (10, 5, Decimal("0.01"))
    assert woken.cost_is_guess
    assert woken.steps.last().words == "words with NUL"


def test_every_step_is_a_sign_of_life():
    woken, later = wake(), NOON + timedelta(seconds=200)
    activations.step(woken, "asked", now=later)
    woken.refresh_from_db()
    assert woken.lease_until == later + activations.LEASE


def test_a_late_worker_writes_nothing():
    woken = wake()
    activations.take_back(now=NOON)
    for write in (
        lambda: activations.step(woken, "answered", "too late", now=NOON),
        lambda: activations.renew(woken, now=NOON),
        lambda: activations.end(woken, State.DONE, "too late", now=NOON),
    ):
        with pytest.raises(Overtaken):
            write()
    woken.refresh_from_db()
    assert (woken.state, woken.steps.count()) == (State.ABANDONED, 0)


def test_what_a_dead_worker_left_is_due_again_and_its_money_counts_as_spent():
    presence = make_presence()
    message = make_message(account=presence.account, reply_status="pending", reply_attempts=1)
    notification = make_notification(presence=presence, message=message, look_at=None)
    woken = wake(presence, notification=notification)
    spending.reserve(woken, presence.agent.settings, tokens=100, money=Decimal("0.2"), now=NOON)
    later = NOON + timedelta(minutes=1)
    assert activations.take_back(now=later) == 1
    notification.refresh_from_db()
    woken.refresh_from_db()
    message.refresh_from_db()
    assert (notification.look_at, notification.read_at) == (later, None)
    assert (woken.state, woken.cost, woken.cost_is_guess) == ("abandoned", Decimal("0.2"), True)
    assert (message.reply_status, message.reply_attempts) == ("pending", 1)
    assert {(row.held_tokens, row.tokens) for row in Spending.objects.all()} == {(0, 100)}


def test_whatever_ends_a_waking_nothing_of_it_stays_held():
    woken = wake()
    spending.reserve(woken, woken.agent.settings, tokens=100, money=Decimal("0.2"), now=NOON)
    activations.end(woken, State.FAILED, "we stumbled", now=NOON)
    woken.refresh_from_db()
    assert (woken.cost, woken.cost_is_guess) == (Decimal("0.2"), True)
    assert {(row.held_tokens, row.tokens) for row in Spending.objects.all()} == {(0, 100)}


@pytest.mark.django_db(transaction=True)
def test_a_worker_that_lives_keeps_its_waking_until_the_lease_is_over():
    sender, lives, over = Sender(), Barrier(2), Barrier(2)

    def live() -> None:
        sender.hold()
        lives.wait(20)
        over.wait(20)
        connection.close()

    thread = Thread(target=live)
    thread.start()
    lives.wait(20)
    wake(worker=sender.name)
    almost = NOON + activations.LEASE - timedelta(seconds=1)
    kept, taken = (
        activations.take_back(now=almost),
        activations.take_back(now=NOON + activations.LEASE),
    )
    over.wait(20)
    thread.join()
    assert (kept, taken) == (0, 1)
    assert Activation.objects.get().state == State.ABANDONED


def test_an_agent_backs_off_from_the_fifth_failure_and_success_forgets():
    presence = make_presence()
    for number in range(1, 7):
        woken = wake(presence)
        activations.end(woken, State.FAILED, "the voice was down", now=NOON)
        agent = Agent.objects.get()
        waits = {5: 60, 6: 120}.get(number)
        assert agent.backs_off_until == (NOON + timedelta(seconds=waits) if waits else None)
    activations.end(wake(presence), State.DONE, "words", now=NOON)
    agent = Agent.objects.get()
    assert (agent.failures, agent.backs_off_until) == (0, None)


def test_backing_off_never_takes_longer_than_an_hour():
    assert activations.back_off(4) is None
    assert activations.back_off(10) == timedelta(seconds=1920)
    assert activations.back_off(11) == timedelta(hours=1)
    assert activations.back_off(10_000) == timedelta(hours=1)


def test_being_told_to_stop_is_nobodys_failure():
    presence = make_presence()
    activations.end(wake(presence), State.RELEASED, "told to stop", now=NOON)
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
