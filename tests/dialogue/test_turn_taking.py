from dataclasses import fields, replace
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dialogue.turn_taking import Answer, Limits, Turn, Why, decide
from tests.factories import NOON

LATER = NOON + timedelta(hours=1)
FREE = Turn()
MONTH = Limits(oldest=timedelta(days=30))
# The rules in their order: the first that applies wins over all below it.
RULES = [
    (Why.SPAM, Answer.PASS, {"spam_status": "spam"}),
    (Why.SUSPECT, Answer.HOLD, {"spam_status": "suspect"}),
    (Why.TRIED_OUT, Answer.PASS, {"reply_status": "failed", "attempts": 10}),
    (Why.ANSWERED, Answer.PASS, {"is_answered": True}),
    (Why.ANSWERED, Answer.PASS, {"reply_status": "sent"}),
    (Why.REFUSED, Answer.PASS, {"reply_status": "failed", "attempts": 1}),
    (Why.OURS, Answer.PASS, {"is_ours": True}),
    (Why.OUR_AGENT, Answer.PASS, {"is_our_agent": True}),
    (Why.DELETED, Answer.PASS, {"is_deleted": True}),
    (Why.NO_THREAD, Answer.PASS, {"thread_is_known": False}),
    (Why.THREAD_GONE, Answer.PASS, {"thread_is_deleted": True}),
    (Why.SHADOWED, Answer.PASS, {"is_shadowed": True}),
    (Why.PRESENCE_ENDED, Answer.PASS, {"is_present": False}),
    (Why.FORBIDDEN, Answer.PASS, {"forbidden": "too deep"}),
    (Why.REJECTED, Answer.PASS, {"rejection": "mira: off topic"}),
    (Why.DRAFTED, Answer.WAIT, {"has_live_draft": True}),
    (Why.TRIED_OUT, Answer.PASS, {"reply_status": "pending", "attempts": 10}),
    (Why.TOO_OLD, Answer.PASS, {"written_at": NOON - timedelta(days=31)}),
    (Why.IN_RUN, Answer.PASS, {"in_run_of": "the newer one answers it too"}),
    (Why.PAUSED, Answer.WAIT, {"paused": "everything is paused by mira"}),
    (Why.ELSEWHERE, Answer.WAIT, {"lives_elsewhere": True}),
    (Why.SWITCHED_OFF, Answer.WAIT, {"is_autonomous": False}),
    (Why.MODE_OFF, Answer.WAIT, {"mode": "off"}),
    (Why.ACCOUNT_OFF, Answer.WAIT, {"account_trouble": "the account cannot sign in"}),
    (Why.HOURS, Answer.WAIT, {"opens_at": LATER}),
    (Why.BACKED_OFF, Answer.WAIT, {"backs_off_until": LATER}),
    (Why.BETWEEN_TRIES, Answer.WAIT, {"not_before": LATER}),
    (Why.THREAD_FULL, Answer.PASS, {"replies_in_thread": 3}),
    (Why.DAY_FULL, Answer.WAIT, {"replies_today": 20, "day_ends_at": LATER}),
    (Why.TOO_SOON, Answer.WAIT, {"last_reply_at": NOON - timedelta(seconds=59)}),
    (Why.SPENT, Answer.WAIT, {"spent": "Today's money is spent", "spent_until": LATER}),
    (Why.AWAKE, Answer.WAIT, {"is_awake": True}),
]


def test_what_nothing_speaks_against_is_answered():
    assert decide(FREE, Limits(), now=NOON).answer == Answer.REPLY


@pytest.mark.parametrize(("why", "answer", "facts"), RULES, ids=lambda v: getattr(v, "name", None))
def test_each_rule_alone_decides(why, answer, facts):
    verdict = decide(replace(FREE, **facts), MONTH, now=NOON)
    assert (verdict.answer, verdict.why) == (answer, why)


@pytest.mark.parametrize("place", range(len(RULES) - 1))
def test_an_earlier_rule_wins_over_every_later_one(place):
    why, answer, facts = RULES[place]
    for _, _, later in RULES[place + 1 :]:
        verdict = decide(replace(FREE, **(later | facts)), MONTH, now=NOON)
        if not later.keys() & facts.keys():
            assert (verdict.answer, verdict.why) == (answer, why), later


def test_every_reason_can_be_given():
    given = {why for why, _, _ in RULES} | {Why.READY}
    assert given == set(Why)


def test_limits_are_reached_exactly_at_their_number():
    assert decide(replace(FREE, replies_today=19), Limits(), now=NOON).answer == Answer.REPLY
    assert decide(replace(FREE, replies_in_thread=2), Limits(), now=NOON).answer == Answer.REPLY
    assert decide(replace(FREE, attempts=9), Limits(), now=NOON).answer == Answer.REPLY
    rested = replace(FREE, last_reply_at=NOON - timedelta(seconds=60))
    assert decide(rested, Limits(), now=NOON).answer == Answer.REPLY


def test_a_limit_of_none_a_day_answers_nothing():
    assert decide(FREE, Limits(per_day=0), now=NOON).why == Why.DAY_FULL


def test_what_a_person_asked_for_goes_past_the_limit_of_a_thread_but_not_past_a_pause():
    asked = replace(FREE, replies_in_thread=3, was_asked_for=True)
    assert decide(asked, Limits(), now=NOON).answer == Answer.REPLY
    paused = replace(asked, paused="everything is paused by mira")
    assert decide(paused, Limits(), now=NOON).why == Why.PAUSED


def test_age_counts_for_nothing_where_no_limit_is_set_or_a_person_asked():
    old = replace(FREE, written_at=NOON - timedelta(days=900))
    assert decide(old, Limits(), now=NOON).answer == Answer.REPLY
    assert decide(replace(old, was_asked_for=True), MONTH, now=NOON).answer == Answer.REPLY
    assert decide(replace(old, attempts=1), MONTH, now=NOON).answer == Answer.REPLY


def test_the_words_say_until_when():
    verdict = decide(replace(FREE, opens_at=LATER), Limits(), now=NOON)
    assert verdict.words == "Waits: outside the agent's hours, until 21 Nov 13:00 UTC."


SIMPLE = {
    bool: st.booleans(),
    int: st.integers(0, 30),
    str: st.sampled_from(["", "something"]),
}


@given(data=st.data())
def test_every_verdict_has_its_reason_and_no_reply_breaks_a_limit(data):
    facts = {}
    moments = st.none() | st.integers(-90, 90).map(lambda m: NOON + timedelta(minutes=m))
    for field in fields(Turn):
        kind = {"bool": bool, "int": int, "str": str}.get(str(field.type))
        facts[field.name] = data.draw(SIMPLE[kind] if kind else moments)
    facts["spam_status"] = data.draw(st.sampled_from([None, "clean", "suspect", "spam"]))
    facts["reply_status"] = data.draw(st.sampled_from([None, "pending", "failed", "sent"]))
    facts["mode"] = data.draw(st.sampled_from(["auto", "review", "shadow", "off"]))
    turn, limits = Turn(**facts), Limits(tries=data.draw(st.integers(1, 10)))
    verdict = decide(turn, limits, now=NOON)
    assert verdict.words.rstrip(".")
    assert verdict == decide(turn, limits, now=NOON)
    if verdict.answer == Answer.WAIT and verdict.until:
        assert verdict.until > NOON or verdict.why in {Why.DAY_FULL, Why.SPENT}
    if verdict.answer == Answer.REPLY:
        assert turn.spam_status in {None, "clean"}
        assert turn.attempts < limits.tries
        assert turn.replies_today < limits.per_day
        assert turn.replies_in_thread < limits.per_thread or turn.was_asked_for
        assert not (turn.opens_at and turn.opens_at > NOON)
        assert not turn.paused
        assert turn.mode != "off"
        assert not turn.is_answered
        assert not turn.has_live_draft
