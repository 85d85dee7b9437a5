"""Lengths of time, and the facts of an audit event, in the reader's language."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils.translation import override

from surfaces.templatetags.formatting import facts
from surfaces.text.reasons import reason
from surfaces.text.spans import span as said


@pytest.mark.parametrize(
    ("seconds", "long", "short"),
    [
        (0, "0 s", "0 s"),
        (59, "59 s", "59 s"),
        (192, "3 min 12 s", "3 min"),
        (3600, "1 h", "1 h"),
        (8040, "2 h 14 min", "2 h"),
        (90_000, "1 day 1 h", "1 day"),
        (500_000, "5 days 18 h", "5 days"),
    ],
)
def test_lengths_of_time_have_units(seconds: int, long: str, short: str):
    assert said(timedelta(seconds=seconds)) == long
    assert said(timedelta(seconds=seconds), short=True) == short


def test_lengths_of_time_are_said_in_chinese():
    with override("zh-hans"):
        assert said(timedelta(minutes=134)) == "2 小时 14 分钟"


def test_facts_of_the_ledger_are_words():
    given = {"every": [5, 10], "is_on": [True, False], "before": {}, "was": "waiting"}
    assert facts(given | {"anyway": reason("draft.expired"), "mode": "auto"}) == [
        ("every", "5 → 10"),
        ("is on", "yes → no"),
        ("before", "nothing"),
        ("was", "waiting"),
        ("anyway", "The draft expired before an operator decided."),
        ("mode", "auto"),
    ]
    assert facts({"topics": [[], ["tides", "tools"]]}) == [("topics", "nothing → tides, tools")]
    with override("zh-hans"):
        [(name, words)] = facts({"is_on": [True, False]})
        assert (name.isascii(), words) == (False, "是 → 否")
