"""What tests lean on: rows that are all gone afterwards, and a demo that is as if made now."""

from __future__ import annotations

import time
from datetime import timedelta

import pytest
from django.contrib.auth.models import Permission
from django.db import IntegrityError, OperationalError, connection
from django.utils import timezone

from surfaces.models import Account, Message, Operator
from tests import truncate, worlds
from tests.factories import make_account, make_message, make_operator, make_post
from tests.worlds import World

pytestmark = pytest.mark.django_db(transaction=True)


def make_talk() -> None:
    """Slowly, as on a busy machine."""
    time.sleep(0.05)
    make_message(post=make_post(account=make_account()), seen_at=timezone.now())


@pytest.fixture(autouse=True)
def _same_hour(monkeypatch) -> None:
    if not truncate.is_quick():
        pytest.skip("only a superuser of the database silences triggers")
    monkeypatch.setattr(worlds, "_hour", lambda: "noon")


def rows() -> dict[str, list[str]]:
    found = {}
    with connection.cursor() as cursor:
        for table in truncate.filled_tables():
            cursor.execute(f"SELECT t::text FROM {table} t ORDER BY 1")
            found[table] = [line for (line,) in cursor]
    return found


def test_everything_is_taken_away_even_what_refuses_to_go():
    make_talk()
    make_operator()
    truncate.empty()
    assert rows() == {}


def test_an_unfinished_writer_is_waited_for():
    other = connection.copy()
    try:
        with other.cursor() as writer, truncate.owner().cursor() as cursor:
            writer.execute("BEGIN; INSERT INTO django_session VALUES ('a', 'b', now())")
            cursor.execute("SET lock_timeout = '50ms'")
            with pytest.raises(OperationalError, match="lock timeout"):
                truncate.empty()
            cursor.execute("RESET lock_timeout")
    finally:
        other.close()


def test_a_moved_permission_is_noticed_and_put_back():
    Permission.objects.first().delete()
    assert truncate.furniture_was_moved()


def test_after_a_moved_permission_all_are_there_again():
    assert Permission.objects.filter(codename="add_operator").exists()
    assert not truncate.furniture_was_moved()


def test_a_world_laid_out_again_is_the_same_world():
    world = World("talk", make_talk)
    world.lay_out()
    made, made_at = rows(), world.made_at
    truncate.empty()
    world.made_at = timezone.now()  # so no time has passed
    world.inserts = world.inserts.replace("%(later)s", "0")
    world.lay_out()
    assert made_at
    assert rows() == made


def test_a_world_is_as_young_as_when_it_was_made(monkeypatch):
    world = World("talk", make_talk)
    world.lay_out()
    made = Message.objects.latest("pk").seen_at
    truncate.empty()
    later = timezone.now() + timedelta(seconds=90)
    monkeypatch.setattr(worlds.timezone, "now", lambda: later)
    world.lay_out()
    again = Message.objects.latest("pk").seen_at
    assert again - made >= timedelta(seconds=90)
    assert again <= later, "no row is of the future"


def test_a_world_leaves_who_looks_at_it_and_collides_with_nobody():
    world = World("talk", make_talk)
    mira = make_operator(username="mira")
    world.lay_out()
    truncate.empty()
    make_operator(username="jonas")
    world.lay_out()
    assert [one.username for one in Operator.objects.all()] == ["jonas"]
    make_talk()
    assert Account.objects.count() == 2
    assert not Operator.objects.filter(pk=mira.pk).exists()


def test_in_a_database_in_use_the_program_itself_fills_it():
    calls = []
    world = World("talk", lambda: calls.append(make_talk()))
    world.lay_out()
    world.lay_out()
    assert len(calls) == 2
    assert Account.objects.count() == 2


def test_in_another_hour_a_world_is_made_anew(monkeypatch):
    calls = []
    world = World("talk", lambda: calls.append(make_talk()))
    world.lay_out()
    truncate.empty()
    monkeypatch.setattr(worlds, "_hour", lambda: "one o'clock")
    world.lay_out()
    assert len(calls) == 2
    assert Message.objects.comments().count() == 1


def test_rules_hold_again_after_a_world_was_laid_out():
    world = World("talk", make_talk)
    world.lay_out()
    truncate.empty()
    world.lay_out()
    with pytest.raises(IntegrityError):
        Account.objects.update(surface_id=0)
