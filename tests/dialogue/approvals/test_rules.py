"""Rules: made, counted, revoked, and what they would have done."""

from __future__ import annotations

from datetime import timedelta

import pytest

from dialogue.approvals import rules, services
from dialogue.models import ApprovalRule, ToolCall
from surfaces.errors import BadInput, StaleState
from surfaces.models import AuditEvent
from tests.dialogue.approvals.factories import INJECTION, MIRA, TOMAS
from tests.factories import NOON

pytestmark = pytest.mark.django_db
LATER = NOON + timedelta(days=1)


def make(world, **given):
    ordinary = {"tool": "shell", "patterns": {"text": "*"}, "until": LATER, "by": MIRA, "now": NOON}
    return rules.make_rule(world.agent, **(ordinary | given))


def test_a_rule_ends_at_its_time_and_by_hand(asking):
    rule = make(asking)
    fitting = {"text": "x"}
    assert rules.matching(asking.agent.pk, "shell", fitting, now=NOON) == [rule]
    assert rules.matching(asking.agent.pk, "save", fitting, now=NOON) == []
    assert rules.matching(asking.agent.pk, "shell", fitting, now=LATER) == []
    assert not rules.count_hit(rule.pk, now=LATER)
    rules.revoke(rule, by=TOMAS, now=NOON)
    assert rules.matching(asking.agent.pk, "shell", fitting, now=NOON) == []
    assert not rules.count_hit(rule.pk, now=NOON)
    with pytest.raises(StaleState, match="revoked by tomas"):
        rules.revoke(rule, by=MIRA, now=NOON)
    told = AuditEvent.objects.about(rule).order_by("id")
    assert [(event.action, event.actor, event.agent) for event in told] == [
        ("approval_rule.made", MIRA, asking.agent.slug),
        ("approval_rule.revoked", TOMAS, asking.agent.slug),
    ]


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"tool": "no such"}, "no tool"),
        ({"patterns": {"other": "*"}}, "no argument other"),
        ({"patterns": {"text": 5}}, "not a text"),
        ({"patterns": {"text": "x" * 2_001}}, "at most 2,000"),
        ({"patterns": {"text": "a\0"}}, "cannot be stored"),
        ({"patterns": {"text": "\ud800"}}, "cannot be stored"),
        ({"until": NOON}, "in the past"),
    ],
)
def test_a_rule_that_could_never_fit_is_not_made(asking, given, told):
    with pytest.raises(BadInput, match=told):
        make(asking, **given)
    assert not ApprovalRule.objects.exists()


def test_an_agent_has_so_many_rules(asking, monkeypatch):
    monkeypatch.setattr(rules, "MOST_RULES", 1)
    rules.revoke(make(asking), by=MIRA, now=NOON)
    make(asking)
    with pytest.raises(BadInput, match="Revoke one first"):
        make(asking)


def test_the_effect_shows_what_it_would_have_let_through_and_what_was_denied(asking):
    asking.call("shell", "list the tides")
    asking.call("shell", INJECTION)
    asking.call("shell", "list the moons")
    asking.call("shell", {"text": "list the tides", "community": "other"})
    asking.call("shell", '{"text": 5}', raw=True)
    asking.call("call_out", "list the tides")
    tides, injected, moons, *_ = ToolCall.objects.order_by("pk")
    services.deny(moons, words="no", by=MIRA, now=NOON)
    found = rules.effect(asking.agent, tool="shell", patterns={"text": "list*"})
    assert found.allowed == [moons, tides]
    assert found.denied == [moons]
    every = {"tool": "shell", "patterns": {"text": "*"}}
    assert injected in rules.effect(asking.agent, **every).allowed
    assert injected not in rules.effect(asking.agent, **every, asks_when_untrusted=True).allowed


def test_the_effect_is_bounded_and_one_query(asking, monkeypatch, django_assert_num_queries):
    monkeypatch.setattr(rules, "MOST_SHOWN", 2)
    for number in range(4):
        asking.call("shell", f"{number}")
    with django_assert_num_queries(1):
        found = rules.effect(asking.agent, tool="shell", patterns={"text": "*"})
    assert [call.arguments["text"] for call in found.allowed] == ["3", "2"]
