"""What agents are chosen by follows their notifications, in every transaction, without circles."""

from __future__ import annotations

import time
from datetime import timedelta
from random import Random
from threading import Barrier, Thread

import pytest
from django.db import OperationalError, connection, transaction
from django.utils import timezone

from dialogue.activations import priorities
from dialogue.inbox import collect
from dialogue.models import Agent, Notification
from dialogue.replies import loop
from surfaces.models import Account, Message, Pause
from surfaces.pauses import services as pause_services
from tests.dialogue.replies.factories import World
from tests.factories import NOON, make_message, make_notification, make_post, make_presence

pytestmark = pytest.mark.django_db
MINUTE = timedelta(minutes=1)


def kept(agent) -> tuple:
    return Agent.objects.values_list("unread", "due_at", "priority_at").get(pk=agent.pk)


def test_a_new_notification_counts_at_once():
    first = make_notification(made_at=NOON - 7 * MINUTE)
    assert kept(first.agent) == (1, NOON, NOON - 12 * MINUTE)
    make_notification(presence=first.presence, look_at=NOON - MINUTE)
    assert kept(first.agent) == (2, NOON - MINUTE, NOON - 17 * MINUTE)


def test_what_was_read_counts_no_more_and_counts_again_when_it_is_opened():
    old = make_notification(made_at=NOON - 7 * MINUTE, look_at=NOON - MINUTE)
    make_notification(presence=old.presence)
    old.note(read_at=NOON, outcome="answered", look_at=None)
    assert kept(old.agent) == (1, NOON, NOON - 5 * MINUTE)
    Notification.objects.filter(pk=old.pk).update(read_at=None, outcome="", look_at=NOON)
    assert kept(old.agent) == (2, NOON, NOON - 17 * MINUTE)


def test_without_a_time_to_look_there_is_nothing_to_choose():
    row = make_notification()
    row.note(look_at=None, verdict="paused")
    assert kept(row.agent) == (1, None, None)
    row.note(look_at=NOON + MINUTE)
    assert kept(row.agent) == (1, NOON + MINUTE, NOON - 5 * MINUTE)


def test_a_deleted_message_takes_its_notification_with_it():
    row = make_notification()
    Message.objects.filter(pk=row.message_id).delete()
    assert kept(row.agent) == (0, None, None)


def test_an_update_that_moves_nothing_writes_no_agent():
    row = make_notification()
    with connection.cursor() as cursor:
        cursor.execute("SELECT xmin FROM dialogue_agent WHERE id = %s", [row.agent_id])
        before = cursor.fetchone()
        row.note(verdict="ready", considered_at=NOON, announced_at=NOON)
        Notification.objects.filter(pk=0).update(look_at=NOON)
        cursor.execute("SELECT xmin FROM dialogue_agent WHERE id = %s", [row.agent_id])
        assert cursor.fetchone() == before


def test_any_mixture_of_statements_leaves_the_columns_right():
    rng = Random("priorities")
    places = [make_presence() for _ in range(3)]
    for _ in range(20):
        make_notification(presence=rng.choice(places), made_at=NOON - rng.randrange(99) * MINUTE)
    ids = list(Notification.objects.values_list("pk", flat=True))
    changes = [
        {"read_at": NOON, "outcome": "answered"}, {"read_at": None, "outcome": ""},
        {"look_at": None}, {"look_at": NOON}, {"look_at": NOON + MINUTE}, {"made_at": NOON},
    ]  # fmt: skip
    for _ in range(60):
        some = Notification.objects.filter(pk__in=rng.sample(ids, rng.randrange(1, 12)))
        some.update(**rng.choice(changes))
        assert priorities.differing() == []
    Notification.objects.filter(pk__in=ids[:9]).delete()
    assert priorities.differing() == []


def test_columns_that_differ_are_named_and_counted_anew():
    row, other = make_notification(), make_notification()
    row.agent.note(unread=9, due_at=None)
    assert priorities.differing() == [row.agent.slug]
    assert priorities.recount([row.agent.slug, other.agent.slug, "nobody"]) == 1
    assert priorities.differing() == []
    assert priorities.recount([]) == 0


def test_a_wrong_number_stops_no_notification():
    """The counter is a help to choose: it never fails a transaction."""
    row = make_notification()
    row.agent.note(unread=0)
    row.note(read_at=NOON, outcome="answered")
    assert kept(row.agent) == (0, None, None)


def fill(presence, number: int) -> None:
    post = make_post(account=presence.account)
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO messages (account_id, post_id, parent_id, remote_id, kind, direction,"
            " author, title, content, created_at, seen_at, reply_attempts, raw_json)"
            " SELECT account_id, id, id, 'n' || g, 'comment', 'incoming', 'a stranger', '', 'hm',"
            " created_at, seen_at, 0, '{}' FROM messages, generate_series(1, %s) AS g"
            " WHERE id = %s RETURNING id",
            [number, post.pk],
        )
        ids = [pk for (pk,) in cursor.fetchall()]
    Notification.objects.bulk_create(
        Notification(
            agent=presence.agent, presence=presence, message_id=pk, kind="reply",
            made_at=NOON + timedelta(seconds=n), look_at=NOON + timedelta(seconds=n),
        ) for n, pk in enumerate(ids)
    )  # fmt: skip


def took(verb, times: int = 50) -> float:
    """The quickest of some, in seconds: what else the machine does is no part of it."""
    found = []
    for _ in range(times):
        began = time.perf_counter()
        verb()
        found.append(time.perf_counter() - began)
    return min(found)


@pytest.mark.django_db(transaction=True)
def test_twenty_thousand_unread_make_an_update_no_slower():
    few, many = make_presence(), make_presence()
    fill(few, 50)
    fill(many, 20_000)
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE dialogue_notification")

    def one_of(presence):
        rows = iter(Notification.objects.filter(agent=presence.agent).order_by("look_at"))
        return lambda: next(rows).note(look_at=NOON + timedelta(days=1))

    short, long = took(one_of(few)), took(one_of(many))
    assert long < 5 * short, (short, long)


# ── no circles ────────────────────────────────────────────────────────────


def in_threads(*verbs, times: int) -> list[Exception]:
    """Each verb in a thread of its own, again and again; the errors of the database."""
    start, errors = Barrier(len(verbs)), []

    def work(verb) -> None:
        start.wait(20)
        try:
            for number in range(times):
                verb(number)
        except OperationalError as error:
            errors.append(error)
        finally:
            connection.close()

    threads = [Thread(target=work, args=[verb]) for verb in verbs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return errors


@pytest.mark.django_db(transaction=True)
def test_statements_over_the_same_agents_in_any_order_wait_in_no_circle():
    ids = [make_notification(presence=place).pk for place in [make_presence() for _ in range(6)]
           for _ in range(4)]  # fmt: skip

    def move(name: str):
        rng = Random(name)

        def verb(number: int) -> None:
            rows = Notification.objects.filter(pk__in=rng.sample(ids, 8))
            priorities.move(rows, look_at=NOON + number * MINUTE)

        return verb

    assert in_threads(*map(move, "abcdef"), times=60) == []
    assert priorities.differing() == []


@pytest.mark.django_db(transaction=True)
def test_workers_inboxes_pauses_and_settings_wait_in_no_circle():
    """Claims, gathering, released waits and put-down replies, all at once over four agents."""
    worlds = [
        World(mode="auto", spacing_seconds=0, replies_per_day=500, replies_per_thread=50,
              answers_runs_once=True)
        for _ in range(4)
    ]  # fmt: skip
    posts = [make_post(account=world.account) for world in worlds]

    def answer(number: int) -> None:
        loop.release_held(now=timezone.now())
        loop.answer_due("a worker", clock=timezone.now)

    def strangers(number: int) -> None:
        post = posts[number % 4]
        at = timezone.now()
        make_message(account=post.account, post=post, created_at=at, seen_at=at)
        if number % 3 == 0:  # one was answered by a person on the service
            asked = Message.objects.comments().filter(post=post).order_by("?").first()
            make_message(account=post.account, post=post, parent=asked, direction="outgoing")

    def gather(number: int) -> None:
        collect.collect(now=timezone.now())

    def operator(number: int) -> None:
        name = worlds[number % 4].account.name
        given = {"by": "operator:mira", "now": timezone.now()}
        pause_services.pause("account", name, why="", **given)
        pause_services.resume("account", name, **given)
        if not number % 5:
            pause_services.pause("all", why="", **given)
            pause_services.resume("all", **given)

    verbs = (answer, answer, answer, answer, strangers, gather, gather, operator)
    assert in_threads(*verbs, times=40) == []
    assert priorities.differing() == []
    assert not Pause.objects.live().exists()
    assert Account.objects.count() == 4


@pytest.mark.django_db(transaction=True)
def test_two_transactions_that_count_one_agent_lose_nothing():
    place = make_presence()
    rows = [make_notification(presence=place) for _ in range(40)]

    def read(mine):
        def verb(number: int) -> None:
            with transaction.atomic():
                mine[number].note(read_at=NOON, outcome="answered", look_at=None)

        return verb

    assert in_threads(read(rows[:20]), read(rows[20:]), times=20) == []
    assert kept(place.agent) == (0, None, None)
