"""What waits, waits until a moment that is said; limits hold and are looked up cheaply."""

from __future__ import annotations

from datetime import datetime, time, timedelta

import pytest
from django.db import connection

from dialogue.activations import services as activation_services
from dialogue.inbox import collect
from dialogue.replies import loop
from dialogue.replies.verdicts import ReplyCounts
from surfaces.models import Draft, Message
from surfaces.pauses import services as pause_services
from tests.dialogue.replies.factories import (
    MINUTE,
    World,
    change_account,
    change_agent,
    change_settings,
    of,
)
from tests.factories import NOON, make_agent, make_post

pytestmark = [pytest.mark.django_db, pytest.mark.engine]


def test_a_paused_agent_waits_and_goes_on_when_the_pause_is_over(world):
    pause_services.pause("agent", world.agent.slug, why="a talk", by="operator:mira", now=NOON)
    comment = world.comment()
    world.round()
    assert str(of(comment).why).startswith("Waiting: agent")
    assert "paused by mira: a talk" in str(of(comment).why)
    assert world.round(MINUTE) == ReplyCounts()
    pause_services.resume("agent", world.agent.slug, by="operator:mira", now=world.now)
    assert world.round(MINUTE).drafted == 1


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            lambda w: change_settings(w, is_autonomous=False),
            lambda w: change_settings(w, is_autonomous=True),
        ),
        (lambda w: change_account(w, mode="off"), lambda w: change_account(w, mode="review")),
        (lambda w: change_account(w, state="auth_failed"), lambda w: change_account(w, state="ok")),
        (lambda w: change_account(w, is_on=False), lambda w: change_account(w, is_on=True)),
        (lambda w: change_agent(w, lives="elsewhere"), lambda w: change_agent(w, lives="here")),
    ],
)
def test_what_holds_without_an_end_is_asked_again_when_it_ended(world, before, after):
    before(world)
    comment = world.comment()
    world.round()
    assert (of(comment).look_at, of(comment).read_at) == (None, None)
    assert str(of(comment).why).startswith("Waiting: ")
    assert world.round(MINUTE) == ReplyCounts()
    after(world)
    assert world.round(MINUTE).drafted == 1


def test_outside_its_hours_it_waits_until_they_begin():
    world = World(agent=make_agent(active_from=time(14), active_to=time(20)))
    comment = world.comment()
    world.round()
    assert of(comment).look_at == datetime(2026, 11, 21, 14, tzinfo=NOON.tzinfo)
    assert str(of(comment).why).startswith("Waiting until 21 Nov, 14:00 UTC: ")
    assert world.round(timedelta(hours=2)).drafted == 1


def test_when_its_reply_is_written_it_says_that_it_is_not_sent_yet(world):
    comment = world.comment()
    world.round()
    assert str(of(comment).why) == "Waiting: its reply is written but not sent yet."


def test_no_more_replies_a_day_than_the_limit_and_the_rest_tomorrow():
    world = World(replies_per_day=2, spacing_seconds=0, replies_per_thread=50)
    for _ in range(4):
        world.comment()
    world.round(MINUTE)
    assert Draft.objects.count() == 2
    Draft.objects.update(state="sent", sent_at=world.now)
    world.now = NOON + timedelta(days=1)
    world.round()
    assert Draft.objects.count() == 4


def test_no_more_replies_in_a_thread_than_the_limit():
    world = World(replies_per_thread=2, spacing_seconds=0)
    post = make_post(account=world.account)
    comments = [world.comment(post=post) for _ in range(3)]
    world.round()
    verdicts = sorted(of(comment).verdict for comment in comments)
    assert verdicts == ["drafted", "drafted", "thread_full"]
    passed = Message.objects.get(reply_why__contains={"code": "decision.passed"})
    assert str(passed.reply_why) == "No reply: 2 of 2 replies allowed per thread are used."


def test_between_two_replies_lies_the_spacing():
    world = World(spacing_seconds=300)
    world.comment()
    second = world.comment()
    world.round()
    assert Draft.objects.count() == 1
    assert of(second).look_at == NOON + timedelta(seconds=300)
    assert world.round(timedelta(seconds=299)).drafted == 0
    assert world.round(timedelta(seconds=1)).drafted == 1


def test_the_number_of_queries_does_not_grow_with_what_waits(django_assert_max_num_queries):
    counts = []
    for number in (5, 20):
        world = World(spacing_seconds=3600)
        world.comment()
        world.round()
        for _ in range(number):
            world.comment()
        collect.collect(now=world.now)
        from django.test.utils import CaptureQueriesContext

        with CaptureQueriesContext(
            connection,
        ) as seen:
            [activation] = activation_services.claim(workers=["a worker"], now=world.now)
            assert not loop.begin(activation, loop.ReplyCounts(), now=world.now)
        reads = [q for q in seen.captured_queries if q["sql"].startswith("SELECT")]
        counts.append(len(reads))
    assert counts[0] == counts[1]


def test_a_reply_that_has_to_leave_hours_later_holds_back_no_other():
    world = World(mode="auto", spacing_seconds=60)
    world.comment()
    world.round()
    Draft.objects.update(not_before=world.now + timedelta(hours=6))
    second = world.comment()
    assert world.round(2 * MINUTE).drafted == 1
    Draft.objects.filter(target=second).update(not_before=world.now + MINUTE / 2)
    third = world.comment()
    assert world.round().drafted == 0
    assert of(third).look_at == world.now + 1.5 * MINUTE
