"""Each post is offered or not for one reason, which a person can follow."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from dialogue.exploration.candidates import (
    MOST_OFFERED,
    CandidateFacts,
    CandidateVerdict,
    Interests,
    judge,
    objection,
    ranked,
    relevance,
)
from surfaces.text.reasons import reason
from tests.factories import NOON

HOUR = timedelta(hours=1)
POST = CandidateFacts(
    remote_id="p1", author="odile", title="On tides", text="What does a tide table leave out?",
    community="general", created_at=NOON - HOUR, last_human_at=NOON - HOUR,
)  # fmt: skip
TIDES = Interests(keywords=("tide",), communities=("general",))


def verdict(interests: Interests = TIDES, **facts: Any) -> CandidateVerdict:
    return judge(replace(POST, **facts), interests, NOON)


def test_a_question_about_a_keyword_is_offered_and_says_why():
    found = verdict()
    assert (found.is_offered, found.is_question, found.score) == (True, True, 1.0)
    assert str(found.why) == "It is about “tide” (score 1)."


@pytest.mark.parametrize(
    ("facts", "code"),
    [
        ({"is_ours": True, "is_answered": True}, "ours"),
        ({"is_deleted": True}, "deleted"),
        ({"spam_status": "spam"}, "spam"),
        ({"spam_status": "suspect"}, "suspect"),
        ({"is_answered": True}, "answered"),
        ({"community": "cooking"}, "other_community"),
        ({"created_at": NOON - timedelta(minutes=4, seconds=59)}, "too_new"),
        ({"created_at": NOON + HOUR}, "too_new"),
        ({"created_at": NOON - timedelta(hours=24, seconds=1)}, "too_old"),
        ({"created_at": NOON.replace(year=1970)}, "too_old"),
        ({"agents": 3}, "crowded"),
        ({"last_human_at": NOON - timedelta(seconds=119)}, "human_speaks"),
        ({"title": "Bread", "text": "What rises?"}, "off_topic"),
    ],
)
def test_every_rule_keeps_a_post_out(facts: dict[str, Any], code: str):
    found = verdict(**facts)
    assert not found.is_offered
    assert found.why.code == f"exploration.{code}"


@pytest.mark.parametrize(
    "facts",
    [
        {"created_at": NOON - timedelta(minutes=5)},
        {"created_at": NOON - timedelta(hours=24)},
        {"agents": 2},
        {"last_human_at": NOON - timedelta(minutes=2)},
        {"last_human_at": None},
        {"spam_status": "clean"},
        {"community": "m/General"},
    ],
)
def test_at_the_bounds_it_is_offered(facts: dict[str, Any]):
    assert verdict(**facts).is_offered


def test_questions_and_discussions_are_taken_as_the_settings_say():
    talk = {"text": "A tide table is a promise."}
    only_talk, only_questions = (
        replace(TIDES, takes_questions=False), replace(TIDES, takes_discussions=False)
    )  # fmt: skip
    assert verdict(only_talk).why.code == "exploration.no_questions"
    assert verdict(only_questions, **talk).why.code == "exploration.no_discussions"
    assert verdict(only_talk, **talk).is_offered


@pytest.mark.parametrize(
    ("term", "text", "score"),
    [
        ("tide tables", "About a TABLE of tides.", 0.5),  # "tables" is more than "TABLE"
        ("tide table", "About a TABLE of tides.", 1.0),
        ("memory of water", "A memory", 1 / 3),
        ("art", "A party", 0.0),  # short words stand for themselves only
        ("潮汐表", "关于潮汐表的问题", 1.0),
        ("潮汐表", "关于潮汐", 0.0),
        ("ＴＩＤＥ", "the tide", 1.0),
        ("!!!", "the tide", 0.0),
        ("", "the tide", 0.0),
        ("a.*+(b", "a b", 1.0),
    ],
)
def test_the_score_is_the_share_of_words_in_common(term: str, text: str, score: float):
    post = replace(POST, title="", text=text)
    assert relevance(post, Interests(topics=(term,)))[0] == pytest.approx(score)


def test_the_best_term_counts_and_an_author_who_is_followed_counts_whole():
    interests = Interests(topics=("bread and salt", "tide"), follows=("@Odile",))
    assert relevance(replace(POST, author="x"), interests)[1]["term"] == "tide"
    assert relevance(replace(POST, title="", text="hm"), interests)[0] == 1.0
    assert judge(replace(POST, author="odile2", title="", text="?"), interests, NOON).score == 0


def test_without_interests_every_post_of_the_communities_fits():
    assert verdict(Interests(communities=("general",)), title="", text="Bread.").is_offered


def test_what_was_offered_may_become_old_but_not_deleted_meanwhile():
    assert objection(replace(POST, created_at=NOON - 30 * HOUR), NOON) is None
    assert objection(replace(POST, is_deleted=True), NOON) is not None


def test_questions_come_first_then_scores_then_the_newest():
    def one(asks: bool, score: float, is_offered: bool = True) -> CandidateVerdict:
        return CandidateVerdict(
            is_offered=is_offered, why=reason("exploration.beyond"), is_question=asks, score=score
        )

    verdicts = [
        one(False, 1.0),
        one(True, 0.8),
        one(True, 0.9),
        one(True, 0.9),
        one(True, 1, False),
    ]
    moments = [NOON + timedelta(minutes=minute) for minute in range(5)]
    assert ranked(verdicts, moments) == [3, 2, 1, 0]
    assert len(ranked([one(True, 1.0)] * 99, [NOON] * 99)) == MOST_OFFERED


def test_two_megabytes_of_text_are_judged_at_once():
    huge = "tide " * 400_000
    assert verdict(text=huge).is_offered
    assert not verdict(Interests(keywords=("bread",) * 100), text=huge).is_offered
