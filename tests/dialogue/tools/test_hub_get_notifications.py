"""hub_get_notifications: the inbox of this presence, newest first."""

from __future__ import annotations

import json

import pytest

from tests.dialogue.tools.factories import Bench
from tests.factories import NOON, make_message, make_notification

pytestmark = pytest.mark.django_db


def test_notifications_say_their_kind_and_whether_they_are_unread(django_assert_max_num_queries):
    bench = Bench()
    for number in range(12):
        said = make_message(account=bench.account, content=f"word {number}")
        make_notification(presence=bench.presence, message=said, kind="mention")
    read = make_notification(presence=bench.presence, read_at=NOON, outcome="answered")
    make_notification()  # of another agent
    spam = make_message(account=bench.account, spam_status="spam")
    make_notification(presence=bench.presence, message=spam)
    with django_assert_max_num_queries(5):
        result = bench.call("hub_get_notifications", limit=3)
    rows = [json.loads(line) for line in result.text.split("\n")]
    assert [(row["notification"], row["is_unread"]) for row in rows] == [
        ("reply", False), ("mention", True), ("mention", True),
    ]  # fmt: skip
    assert rows[0]["id"] == str(read.message_id)
    assert rows[1]["text"] == "word 11"
    assert len(result.sources) == 3


def test_without_any_it_says_so():
    assert "no notifications" in Bench().call("hub_get_notifications").text
