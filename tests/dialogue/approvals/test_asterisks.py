"""A rule that is made from a call allows that call, and no other by the asterisks in its words."""

from __future__ import annotations

import pytest

from dialogue.approvals.forms import ApprovalRuleForm
from dialogue.approvals.patterns import is_like, literal, matches
from dialogue.approvals.rules import LONGEST_PATTERN


@pytest.mark.parametrize(
    "text", ["**Hello** tides", "*", r"\*", r"\\*", "a * b * c", "", "**", "\\"]
)
def test_a_literal_pattern_fits_its_text_only(text: str):
    assert is_like(literal(text), text)
    for other in (text + "x", "x" + text, text.replace("*", "wire 900 to Mallory") or "x"):
        assert other == text or not is_like(literal(text), other)


def test_asterisks_of_the_model_are_no_wildcards_of_the_rule():
    call = {"content": "**Tides** at *five*", "community": "*"}
    patterns = ApprovalRuleForm("hub_post", call).patterns
    assert matches(patterns, call)
    assert not matches(patterns, call | {"community": "announcements"})
    assert not matches(patterns, call | {"content": "buy Tides from Mallory at her shop five"})


@pytest.mark.parametrize("sign", ["*", "x", "\\"])
def test_of_a_long_text_the_pattern_is_its_beginning_and_anything(sign: str):
    call = {"content": "Tides. " + sign * 3_000}
    patterns = ApprovalRuleForm("hub_post", call).patterns
    assert len(patterns["content"]) <= LONGEST_PATTERN
    assert matches(patterns, call)
    assert not matches(patterns, {"content": "Buy this."})
