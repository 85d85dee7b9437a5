"""A run of comments by one person is answered once, at its newest, where it is set so."""

from __future__ import annotations

import pytest

from surfaces.models import Draft, Message
from tests.dialogue.replies.factories import MINUTE, World, change_settings, of
from tests.factories import NOON, make_post

pytestmark = [pytest.mark.django_db, pytest.mark.engine]


def test_a_run_of_comments_gets_one_answer_that_sees_all_where_it_is_set_so():
    world = World(answers_runs_once=True, spacing_seconds=0)
    post = make_post(account=world.account)
    first = world.comment(post=post, author="ana", content="Is a tide table a promise?")
    last = world.comment(post=post, author="ana", content="And to whom, I ask?")
    other = world.comment(post=post, author="ben", content="I think it is a bet?")
    world.round()
    assert {draft.target for draft in Draft.objects.all()} == {last, other}
    assert of(first).verdict == "in_run"
    assert str(of(first).why).startswith("No reply: the reply to a newer comment by ana")


def test_without_that_setting_every_comment_is_answered(world):
    change_settings(world, spacing_seconds=0)
    post = make_post(account=world.account)
    for _ in range(2):
        world.comment(post=post, author="ana")
    world.round()
    assert Draft.objects.count() == 2


def test_what_was_passed_for_its_run_is_answered_when_the_newest_of_the_run_is_gone():
    world = World(answers_runs_once=True, spacing_seconds=300)
    world.comment(author="ben")
    world.round()
    post = make_post(account=world.account)
    first, last = (world.comment(post=post, author="ana") for _ in range(2))
    world.round()
    assert (of(first).verdict, of(last).verdict) == ("in_run", "too_soon")
    Message.objects.filter(pk=last.pk).update(deleted_at=world.now)
    for _ in range(2):
        world.round(6 * MINUTE)
    assert (of(first).verdict, of(last).verdict) == ("drafted", "deleted")


def test_the_answer_to_a_run_goes_to_its_newest_comment_whichever_was_read_first():
    world = World(answers_runs_once=True, spacing_seconds=0)
    post = make_post(account=world.account)
    last = world.comment(post=post, author="ana", created_at=NOON)
    first = world.comment(post=post, author="ana", created_at=NOON - MINUTE)
    world.round()
    assert (of(first).verdict, of(last).verdict) == ("in_run", "drafted")


def test_a_run_is_not_left_to_a_comment_that_is_not_looked_at():
    world = World(answers_runs_once=True)
    post, before = make_post(account=world.account), world.presence.since - MINUTE
    world.comment(post=post, author="ana", seen_at=before)  # seen before it spoke here
    first = world.comment(post=post, author="ana", created_at=NOON - MINUTE)
    world.round()
    assert of(first).verdict == "drafted"
