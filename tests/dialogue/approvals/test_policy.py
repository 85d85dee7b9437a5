"""What becomes of a call, as a table, and what holds for every combination of facts."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dialogue.agents.models.settings import ApprovalMode, Policy, PublishPolicy, ToolRisk
from dialogue.approvals.policy import CallFacts, CallReason, MatchingRule, decide
from surfaces.accounts.models.account import ReplyMode
from surfaces.text.reasons import SENTENCES

STRICT, TRUSTING = MatchingRule(pk=1), MatchingRule(pk=2, asks_when_untrusted=False)


@pytest.mark.parametrize(
    ("facts", "answer", "why"),
    [
        # the defaults
        ({"risk": "read", "policy": "allow"}, "allow", "policy_allows"),
        ({"risk": "write", "policy": "allow"}, "allow", "policy_allows"),
        ({"risk": "publish", "policy": "mode"}, "allow", "policy_allows"),
        ({"risk": "execute", "policy": "ask"}, "ask", "policy_asks"),
        ({"risk": "external", "policy": "ask"}, "ask", "policy_asks"),
        # what publishes follows the mode of the account
        ({"risk": "publish", "policy": "mode", "account_mode": "auto"}, "allow", "policy_allows"),
        ({"risk": "publish", "policy": "mode", "account_mode": "off"}, "deny", "mode_is_off"),
        ({"risk": "publish", "policy": "ask", "account_mode": "auto"}, "ask", "policy_asks"),
        # words of strangers
        ({"risk": "read", "policy": "allow", "is_untrusted": True}, "allow", "policy_allows"),
        ({"risk": "write", "policy": "allow", "is_untrusted": True}, "ask", "words_of_strangers"),
        ({"risk": "write", "policy": "allow", "is_untrusted": True, "keeps_trust": True},
         "allow", "policy_allows"),
        ({"risk": "execute", "policy": "allow", "is_untrusted": True}, "ask", "words_of_strangers"),
        ({"risk": "external", "policy": "allow", "is_untrusted": True}, "ask",
         "words_of_strangers"),
        ({"risk": "publish", "policy": "mode", "is_untrusted": True}, "allow", "policy_allows"),
        ({"risk": "publish", "policy": "mode", "is_untrusted": True, "account_mode": "shadow"},
         "allow", "policy_allows"),
        ({"risk": "publish", "policy": "mode", "is_untrusted": True, "account_mode": "auto"},
         "ask", "words_of_strangers"),
        # rules
        ({"risk": "execute", "policy": "ask", "rules": [STRICT]}, "allow", "rule_allows"),
        ({"risk": "execute", "policy": "ask", "rules": [STRICT], "is_untrusted": True},
         "ask", "policy_asks"),
        ({"risk": "execute", "policy": "ask", "rules": [STRICT, TRUSTING], "is_untrusted": True},
         "allow", "rule_allows"),
        ({"risk": "execute", "policy": "deny", "rules": [TRUSTING]}, "deny", "policy_denies"),
        ({"risk": "read", "policy": "allow", "is_granted": False, "rules": [TRUSTING]},
         "deny", "not_granted"),
        ({"risk": "publish", "policy": "mode", "account_mode": "off", "rules": [TRUSTING]},
         "deny", "mode_is_off"),
        # modes of asking
        ({"risk": "execute", "policy": "ask", "approval_mode": "skip"}, "skip", "skipped"),
        ({"risk": "execute", "policy": "ask", "approval_mode": "policy"}, "deny", "rules_only"),
        ({"risk": "execute", "policy": "ask", "approval_mode": "policy", "rules": [STRICT]},
         "allow", "rule_allows"),
        # again and again
        ({"risk": "execute", "policy": "ask", "was_denied": True}, "deny", "denied_before"),
        ({"risk": "execute", "policy": "ask", "is_waiting": True}, "deny", "asked_already"),
        # what nobody knows
        ({"risk": "read", "policy": "no such policy"}, "ask", "policy_asks"),
        ({"risk": "no such risk", "policy": "mode"}, "ask", "policy_asks"),
    ],
)  # fmt: skip
def test_the_table(facts, answer, why):
    verdict = decide(CallFacts(**facts))
    assert (verdict.answer, verdict.why) == (answer, CallReason[why.upper()])


FACTS = st.builds(
    CallFacts,
    risk=st.sampled_from(ToolRisk.values),
    policy=st.sampled_from([*Policy.values, *PublishPolicy.values, ""]),
    account_mode=st.sampled_from(ReplyMode.values),
    approval_mode=st.sampled_from(ApprovalMode.values),
    is_granted=st.booleans(),
    is_untrusted=st.booleans(),
    keeps_trust=st.booleans(),
    is_waiting=st.booleans(),
    was_denied=st.booleans(),
    rules=st.lists(st.sampled_from([STRICT, TRUSTING]), max_size=2),
)


@given(FACTS)
def test_without_a_rule_that_trusts_them_strangers_get_nothing_done(facts):
    if not facts.is_untrusted or TRUSTING in facts.rules or facts.keeps_trust:
        return
    if decide(facts).answer == "allow":
        waits = facts.account_mode in {"review", "shadow"}
        rule = decide(facts).rule
        assert facts.risk == "read" or (facts.risk == "publish" and waits)
        assert rule is None


@given(FACTS, st.sampled_from([STRICT, TRUSTING]))
def test_a_rule_only_ever_turns_a_question_into_an_allow(facts, rule):
    without, with_it = decide(replace(facts, rules=[])), decide(replace(facts, rules=[rule]))
    if with_it != without:
        assert with_it.answer == "allow"
        assert facts.is_granted
        assert facts.policy != "deny"
        assert not (facts.risk == "publish" and facts.account_mode == "off")


@given(FACTS)
def test_nobody_is_asked_where_the_mode_says_so(facts):
    if facts.approval_mode != "ask":
        assert decide(facts).answer != "ask"


def test_every_reason_has_a_sentence():
    assert {why.value for why in CallReason} <= SENTENCES.keys()
