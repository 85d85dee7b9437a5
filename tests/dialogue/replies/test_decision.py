from dataclasses import fields, replace
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dialogue.replies.decision import Reason, ReplyAction, ReplyLimits, Situation, decide
from tests.factories import NOON

LATER = NOON + timedelta(hours=1)
FREE = Situation()
MONTH = ReplyLimits(oldest=timedelta(days=30))
# The rules in their order: the first that applies wins over all below it.
RULES = [
    (Reason.SPAM, ReplyAction.PASS, {"spam_status": "spam"}),
    (Reason.SUSPECT, ReplyAction.HOLD, {"spam_status": "suspect"}),
    (Reason.TRIED_OUT, ReplyAction.PASS, {"reply_status": "failed", "attempts": 10}),
    (Reason.ANSWERED, ReplyAction.PASS, {"is_answered": True}),
    (Reason.ANSWERED, ReplyAction.PASS, {"reply_status": "sent"}),
    (Reason.REFUSED, ReplyAction.PASS, {"reply_status": "failed", "attempts": 1}),
    (Reason.OURS, ReplyAction.PASS, {"is_ours": True}),
    (Reason.OUR_AGENT, ReplyAction.PASS, {"is_our_agent": True}),
    (Reason.DELETED, ReplyAction.PASS, {"is_deleted": True}),
    (Reason.NO_THREAD, ReplyAction.PASS, {"thread_is_known": False}),
    (Reason.THREAD_GONE, ReplyAction.PASS, {"thread_is_deleted": True}),
    (Reason.SHADOWED, ReplyAction.PASS, {"is_shadowed": True}),
    (Reason.PRESENCE_ENDED, ReplyAction.PASS, {"is_present": False}),
    (Reason.FORBIDDEN, ReplyAction.PASS, {"forbidden": "too deep"}),
    (Reason.REJECTED, ReplyAction.PASS, {"rejection": "mira: off topic"}),
    (Reason.DRAFTED, ReplyAction.WAIT, {"has_live_draft": True}),
    (Reason.TOOL_WAITS, ReplyAction.WAIT, {"waits_for_tool": True}),
    (Reason.TRIED_OUT, ReplyAction.PASS, {"reply_status": "pending", "attempts": 10}),
    (Reason.TOO_OLD, ReplyAction.PASS, {"written_at": NOON - timedelta(days=31)}),
    (Reason.NOT_WANTED, ReplyAction.PASS, {"is_wanted": False}),
    (Reason.IN_RUN, ReplyAction.PASS, {"in_run_of": "the newer one answers it too"}),
    (Reason.PAUSED, ReplyAction.WAIT, {"paused": "everything is paused by mira"}),
    (Reason.ELSEWHERE, ReplyAction.WAIT, {"lives_elsewhere": True}),
    (Reason.SWITCHED_OFF, ReplyAction.WAIT, {"is_autonomous": False}),
    (Reason.MODE_OFF, ReplyAction.WAIT, {"mode": "off"}),
    (Reason.ACCOUNT_OFF, ReplyAction.WAIT, {"account_trouble": "the account cannot sign in"}),
    (Reason.HOURS, ReplyAction.WAIT, {"opens_at": LATER}),
    (Reason.BACKED_OFF, ReplyAction.WAIT, {"backs_off_until": LATER}),
    (Reason.BETWEEN_TRIES, ReplyAction.WAIT, {"not_before": LATER}),
    (Reason.THREAD_FULL, ReplyAction.PASS, {"replies_in_thread": 3}),
    (Reason.DAY_FULL, ReplyAction.WAIT, {"replies_today": 20, "day_ends_at": LATER}),
    (Reason.TOO_SOON, ReplyAction.WAIT, {"last_reply_at": NOON - timedelta(seconds=59)}),
    (Reason.SPENT, ReplyAction.WAIT, {"spent": "Today's money is spent", "spent_until": LATER}),
    (Reason.AWAKE, ReplyAction.WAIT, {"is_awake": True}),
]


def test_what_nothing_speaks_against_is_answered():
    assert decide(FREE, ReplyLimits(), now=NOON).answer == ReplyAction.REPLY


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
    # The last two are given where no rule is asked: by a person, and for what is no comment.
    given = {why for why, _, _ in RULES} | {Reason.READY, Reason.STOPPED, Reason.UNKNOWN_KIND}
    assert given == set(Reason)


def test_limits_are_reached_exactly_at_their_number():
    assert (
        decide(replace(FREE, replies_today=19), ReplyLimits(), now=NOON).answer == ReplyAction.REPLY
    )
    assert (
        decide(replace(FREE, replies_in_thread=2), ReplyLimits(), now=NOON).answer
        == ReplyAction.REPLY
    )
    assert decide(replace(FREE, attempts=9), ReplyLimits(), now=NOON).answer == ReplyAction.REPLY
    rested = replace(FREE, last_reply_at=NOON - timedelta(seconds=60))
    assert decide(rested, ReplyLimits(), now=NOON).answer == ReplyAction.REPLY


def test_a_limit_of_none_a_day_answers_nothing():
    assert decide(FREE, ReplyLimits(per_day=0), now=NOON).why == Reason.DAY_FULL


def test_what_a_person_asked_for_goes_past_the_limit_of_a_thread_but_not_past_a_pause():
    asked = replace(FREE, replies_in_thread=3, was_asked_for=True)
    assert decide(asked, ReplyLimits(), now=NOON).answer == ReplyAction.REPLY
    paused = replace(asked, paused="everything is paused by mira")
    assert decide(paused, ReplyLimits(), now=NOON).why == Reason.PAUSED


def test_age_counts_for_nothing_where_no_limit_is_set_or_a_person_asked():
    old = replace(FREE, written_at=NOON - timedelta(days=900))
    assert decide(old, ReplyLimits(), now=NOON).answer == ReplyAction.REPLY
    assert decide(replace(old, was_asked_for=True), MONTH, now=NOON).answer == ReplyAction.REPLY
    assert decide(replace(old, attempts=1), MONTH, now=NOON).answer == ReplyAction.REPLY


def test_the_words_say_until_when():
    verdict = decide(replace(FREE, opens_at=LATER), ReplyLimits(), now=NOON)
    assert (
        str(verdict.reason)
        == "Waiting until 21 Nov, 13:00 UTC: outside the active hours of the agent."
    )


SIMPLE = {
    bool: st.booleans(),
    int: st.integers(0, 30),
    str: st.sampled_from(["", "something"]),
}


@given(data=st.data())
def test_every_verdict_has_its_reason_and_no_reply_breaks_a_limit(data):
    facts = {}
    moments = st.none() | st.integers(-90, 90).map(lambda m: NOON + timedelta(minutes=m))
    for field in fields(Situation):
        facts[field.name] = data.draw(SIMPLE.get(field.type, moments))
    facts["spam_status"] = data.draw(st.sampled_from([None, "clean", "suspect", "spam"]))
    facts["reply_status"] = data.draw(st.sampled_from([None, "pending", "failed", "sent"]))
    facts["mode"] = data.draw(st.sampled_from(["auto", "review", "shadow", "off"]))
    turn, limits = Situation(**facts), ReplyLimits(tries=data.draw(st.integers(1, 10)))
    verdict = decide(turn, limits, now=NOON)
    assert str(verdict.reason).rstrip(".")
    assert verdict == decide(turn, limits, now=NOON)
    if verdict.answer == ReplyAction.WAIT and verdict.until:
        assert verdict.until > NOON or verdict.why in {Reason.DAY_FULL, Reason.SPENT}
    if verdict.answer == ReplyAction.REPLY:
        assert turn.spam_status in {None, "clean"}
        assert turn.attempts < limits.tries
        assert turn.replies_today < limits.per_day
        assert turn.replies_in_thread < limits.per_thread or turn.was_asked_for
        assert not (turn.opens_at and turn.opens_at > NOON)
        assert not turn.paused
        assert turn.mode != "off"
        assert not turn.is_answered
        assert not turn.has_live_draft
