"""Which calls are like each other."""

from __future__ import annotations

import pytest

from dialogue.approvals.similarity import are_alike


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ({}, {}, True),
        ({"post_id": 1}, {"post_id": 2}, True),
        ({"post_id": "41"}, {"post_id": "hub:7c2"}, True),
        ({"post_id": "41"}, {"post_id": "tides"}, False),
        ({"query": "tide tables of 2019"}, {"query": "tide tables of 2020"}, True),
        ({"query": "Tide tables"}, {"query": "tide TABLES!"}, True),
        ({"query": "tide"}, {"query": "reef"}, False),
        ({"query": "tide", "limit": 5}, {"query": "tide", "limit": 10}, True),
        ({"query": "tide"}, {"query": "tide", "limit": 10}, False),
        ({"query": "tide"}, {"query": 5}, False),
        ({"query": True}, {"query": 1}, True),
        ({"query": None}, {"query": None}, True),
        ({"query": ["a"]}, {"query": ["b"]}, False),
        ({"query": "潮水"}, {"query": "潮水"}, True),
        ({"query": "!!"}, {"query": "??"}, True),
    ],
)
def test_texts_share_half_of_their_words_and_numbers_may_differ(one, other, expected):
    assert are_alike(one, other) is expected
