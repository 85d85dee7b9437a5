"""How threads are scored: by what others say there, and never by our own echo."""

from __future__ import annotations

import math
from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given

from dialogue.stones.choice import ChoiceFacts, CommentFacts, PostFacts, choose, score, score_table
from tests.dialogue.stones.choice_facts import DAY, facts, make_talk, posts
from tests.factories import NOON


def test_the_score_is_the_formula_of_the_rules():
    assert score(3, 2, 1, 0.0) == pytest.approx(math.log(4) + 3.0 + 2.0)
    assert score(3, 2, 1, 3.0) == pytest.approx((math.log(4) + 5.0) / 2)
    assert score(3, 2, 1, 6.0) == pytest.approx((math.log(4) + 5.0) / 4)


def test_a_table_row_says_what_was_counted():
    said = [
        CommentFacts(author="ann", is_question=True),
        CommentFacts(author="ann"),
        CommentFacts(author="ben"),
        CommentFacts(author="cat", is_spam=True, is_question=True),
        CommentFacts(author="iris", is_ours=True, is_question=True),
    ]
    post = PostFacts(id=9, title="On tides", created_at=NOON - 1.5 * DAY, comments=said)
    (row,) = score_table([post], now=NOON)
    assert (row.post, row.title, row.age_days) == (9, "On tides", 1.5)
    assert (row.comments, row.commenters, row.questions) == (3, 2, 1)
    assert row.score == pytest.approx(score(3, 2, 1, 1.5))
    assert row.share == 1.0


@given(facts)
def test_our_own_comments_and_spam_never_count(given: ChoiceFacts):
    without = replace(
        given,
        posts=[
            replace(post, comments=[c for c in post.comments if not (c.is_ours or c.is_spam)])
            for post in given.posts
        ],
    )
    assert choose(given, now=NOON) == choose(without, now=NOON)


def test_a_thread_in_which_only_we_speak_has_no_engagement():
    echo = PostFacts(
        id=1, title="", created_at=NOON, comments=[CommentFacts(author="iris", is_ours=True)]
    )
    assert score_table([echo], now=NOON) == ()


@given(facts)
def test_a_post_older_than_14_days_is_never_chosen(given: ChoiceFacts):
    choice = choose(given, now=NOON)
    age = {post.id: NOON - post.created_at for post in given.posts}
    assert all(age[row.post] <= 14 * DAY for row in choice.table)
    assert choice.post_id is None or age[choice.post_id] <= 14 * DAY


def test_the_fourteenth_day_counts_and_not_a_second_more():
    assert score_table([make_talk(1, ago=14)], now=NOON)
    assert not score_table([make_talk(1, ago=14)], now=NOON + timedelta(seconds=1))


def test_a_post_from_a_clock_ahead_of_ours_is_not_worth_more():
    (row,) = score_table([make_talk(1, ago=-2)], now=NOON)
    assert row.age_days == 0
    assert row.score == pytest.approx(score(1, 1, 0, 0.0))


@given(posts)
def test_shares_add_up_and_the_highest_score_is_first(given: list[PostFacts]):
    table = score_table(given, now=NOON)
    if table:
        assert math.fsum(row.share for row in table) == pytest.approx(1)
    assert [row.score for row in table] == sorted((row.score for row in table), reverse=True)
