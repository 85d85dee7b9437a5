"""What browsers that listen are told, and who may listen."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from datetime import timedelta

import pytest
from django.db import connection
from django.utils import timezone

from surfaces.live import streams as module
from surfaces.live.streams import Streams
from surfaces.models import DeskItem, Message, Operator
from surfaces.models import OperatorSession as Session
from surfaces.pauses import services as pause_services
from tests.factories import make_account, make_message, make_operator, make_surface
from tests.surfaces.live.browser import Browser, Loop, eventually

pytestmark = pytest.mark.django_db(transaction=True)
Opens = Callable[[Operator], Browser]


@pytest.fixture
def loop() -> Iterator[Loop]:
    with Loop() as running:
        yield running


@pytest.fixture
def streams(loop: Loop) -> Iterator[Streams]:
    held = Streams(10, ping_every=0.3)
    yield held
    loop.start(held.stop()).result(20)


@pytest.fixture
def listens(loop: Loop, streams: Streams) -> Iterator[Opens]:
    with ExitStack() as opened:
        yield lambda operator: opened.enter_context(Browser(loop, streams, operator))


def test_a_new_suspect_is_told_to_everybody(listens):
    browsers = [listens(make_operator()) for _ in range(3)]
    for each in browsers:
        assert eventually(lambda each=each: each.count("suspect")) == "0"
    suspect = make_message(spam_status="suspect")
    for each in browsers:
        eventually(lambda each=each: each.count("suspect") == "1")
        assert each.count("desk") == "1"
    newest = DeskItem.objects.get(item_id=suspect.pk).pk
    assert browsers[0].told[-1]["newest"] == newest


def test_what_leaves_the_desk_is_told_too(listens):
    suspect = make_message(spam_status="suspect")
    listener = listens(make_operator())
    eventually(lambda: listener.count("suspect") == "1")
    Message.objects.filter(pk=suspect.pk).update(spam_status="clean")
    eventually(lambda: listener.count("suspect") == "0")


def test_nobody_is_told_twice_how_things_stand(listens):
    listener = listens(make_operator())
    eventually(lambda: listener.told)
    time.sleep(1.5)  # five pings long
    assert len(listener.told) == 1
    assert listener.heard.count(b": still here") >= 2


def test_two_limited_operators_are_told_their_own_counts(listens):
    reef, moon = make_surface(slug="reef"), make_surface(slug="moon")
    listeners = {}
    for surface in (reef, moon):
        operator = make_operator(username=f"of-{surface.slug}")
        operator.surfaces.add(surface)
        make_account(surface=surface)
        listeners[surface.slug] = listens(operator)
    everything = listens(make_operator())
    account = make_account(surface=reef)
    for operator in Operator.objects.filter(username__startswith="of-"):
        assert operator.reach.accounts
    eventually(lambda: all(each.told for each in listeners.values()))
    time.sleep(0.4)  # the new account comes within reach with the next ping
    make_message(account=account, spam_status="suspect")
    eventually(lambda: everything.count("suspect") == "1")
    eventually(lambda: listeners["reef"].count("suspect") == "1")
    time.sleep(1.2)
    assert listeners["moon"].count("suspect") == "0"
    assert listeners["moon"].told[-1]["newest"] == 0


def test_a_pause_is_told(listens):
    listener = listens(make_operator())
    eventually(lambda: listener.count("paused") == "0")
    pause = pause_services.pause("all", why="odd replies", by="operator:mira", now=timezone.now())
    eventually(lambda: listener.count("paused") == "1")
    assert listener.told[-1]["pauses"] == f"{pause.pk},"
    pause_services.resume("all", by="operator:mira", now=timezone.now())
    eventually(lambda: listener.count("paused") == "0")


def deactivated(operator: Operator, listener: Browser) -> None:
    Operator.objects.filter(pk=operator.pk).update(is_active=False)


def signed_out(operator: Operator, listener: Browser) -> None:
    listener.client.logout()


def with_another_password(operator: Operator, listener: Browser) -> None:
    operator.set_password("another good long password")
    operator.save(update_fields=["password"])


def over_long_ago(operator: Operator, listener: Browser) -> None:
    key = listener.client.cookies["sessionid"].value
    Session.objects.filter(pk=key).update(expire_date=timezone.now() - timedelta(seconds=1))


@pytest.mark.parametrize("become", [deactivated, signed_out, with_another_password, over_long_ago])
def test_who_may_not_listen_any_more_loses_the_stream(listens, become):
    mira, kept = make_operator(), make_operator()
    listener = listens(mira)
    eventually(lambda: listener.told)
    other = listens(kept)
    eventually(lambda: other.told)
    become(mira, listener)
    moment = time.monotonic()
    eventually(listener.has_ended)
    assert time.monotonic() - moment < 2
    assert not other.has_ended()


def test_a_lost_connection_is_opened_again_and_what_was_missed_is_told(listens):
    listener = listens(make_operator())
    eventually(lambda: listener.told)
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity"
            " WHERE pid <> pg_backend_pid() AND datname = current_database()"
            " AND usename = current_user"
        )
        assert cursor.fetchone()[0] >= 1
    make_message(spam_status="suspect")
    eventually(lambda: listener.count("suspect") == "1")
    make_message(spam_status="suspect")
    eventually(lambda: listener.count("suspect") == "2")
    assert not listener.has_ended()


def test_a_stream_ends_by_itself_after_a_while(loop):
    held = Streams(10, lasts=0.3)
    with Browser(loop, held, make_operator()) as listener:
        eventually(listener.has_ended)
    assert not held.open
    loop.start(held.stop()).result(20)


def test_told_to_stop_it_ends_every_stream_at_once(loop, streams, listens):
    listeners = [listens(make_operator()) for _ in range(3)]
    eventually(lambda: all(each.told for each in listeners))
    begun = time.monotonic()
    loop.start(streams.stop()).result(20)
    for each in listeners:
        eventually(each.has_ended)
    assert time.monotonic() - begun < 2


def test_who_does_not_read_is_let_go_and_holds_nobody_up(listens, streams):
    other, listener = listens(make_operator()), listens(make_operator())
    listener.reads = False
    eventually(listener.has_ended)
    make_message(spam_status="suspect")
    eventually(lambda: other.count("suspect") == "1")
    assert len(streams.open) == 1


def test_a_fault_ends_the_streams_and_not_the_thread(listens, monkeypatch):
    whole = module.snapshot
    with monkeypatch.context() as broken:
        broken.setattr(module, "snapshot", lambda *_: 1 / 0)
        eventually(listens(make_operator()).has_ended)
    assert module.snapshot is whole
    again = listens(make_operator())
    eventually(lambda: again.told)


def connections_of_others() -> int:
    """How many are connected to the database of the test besides the test."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(*) FROM pg_stat_activity"
            " WHERE pid <> pg_backend_pid() AND datname = current_database()"
            " AND usename = current_user"
        )
        return cursor.fetchone()[0]


def test_without_a_listener_no_connection_is_kept(monkeypatch, listens, streams):
    monkeypatch.setattr(module, "IDLE", 0.3)
    listener = listens(make_operator())
    eventually(lambda: listener.told)
    listener.leave()
    eventually(lambda: streams._task.done())
    eventually(lambda: connections_of_others() == 0)
    again = listens(make_operator())
    eventually(lambda: again.told)
