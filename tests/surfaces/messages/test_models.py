"""The table of messages: the audit queries, and what the database itself refuses."""

from __future__ import annotations

import pytest
from django.db import IntegrityError, connection, transaction
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from surfaces.models import Message
from tests.factories import NOON, make_account, make_message, make_post

pytestmark = [pytest.mark.django_db, pytest.mark.engine]

THREADS = "SELECT DISTINCT post_id, title FROM messages WHERE kind='post'"
AWAITING = """
SELECT * FROM messages incoming WHERE kind='comment' AND direction='incoming'
  AND (reply_status IS NULL OR reply_status='pending') AND spam_status IS NULL
  AND NOT EXISTS (SELECT 1 FROM messages m2
                  WHERE m2.parent_id=incoming.id AND m2.direction='outgoing')
"""
FAILED = (
    "SELECT * FROM messages WHERE kind='comment' AND direction='incoming' AND reply_status='failed'"
)


def rows(sql: str) -> list[dict]:
    with connection.cursor() as cursor:
        cursor.execute(sql)
        names = [column.name for column in cursor.description]
        return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]


one = st.fixed_dictionaries(
    {
        "kind": st.sampled_from(["post", "comment", "comment", "comment"]),
        "direction": st.sampled_from(["incoming", "outgoing"]),
        "reply_status": st.sampled_from([None, "pending", "sent", "failed"]),
        "spam_status": st.sampled_from([None, None, "spam", "clean", "suspect"]),
        "reply_attempts": st.integers(0, 10),
        "parent": st.one_of(st.none(), st.integers(0, 30)),
        "deleted": st.booleans(),
    }
)


@settings(
    max_examples=60,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(st.lists(one, max_size=30))
def test_the_audit_queries_agree_with_our_words_on_any_data(facts: list[dict]):
    sid = transaction.savepoint()
    account = make_account()
    root = make_post(account=account)
    made: list[Message] = [root]
    for fact in facts:
        shared = {
            "account": account,
            "direction": fact["direction"],
            "reply_status": fact["reply_status"],
            "spam_status": fact["spam_status"],
            "reply_attempts": fact["reply_attempts"],
            "deleted_at": NOON if fact["deleted"] else None,
        }
        if fact["kind"] == "post":
            made.append(make_post(**shared))
        else:
            above = None if fact["parent"] is None else made[fact["parent"] % len(made)]
            made.append(make_message(post=root, parent=above, **shared))
    threads = Message.objects.posts().values_list("post_id", "title").distinct()
    assert {(r["post_id"], r["title"]) for r in rows(THREADS)} == set(threads)
    assert {r["id"] for r in rows(AWAITING)} == set(
        Message.objects.awaiting_reply().values_list("pk", flat=True)
    )
    assert {r["id"] for r in rows(FAILED)} == set(
        Message.objects.failed_replies().values_list("pk", flat=True)
    )
    transaction.savepoint_rollback(sid)


def test_the_table_has_the_columns_the_documents_name():
    with connection.cursor() as cursor:
        columns = {
            c.name for c in connection.introspection.get_table_description(cursor, "messages")
        }
    assert columns >= {
        "id", "parent_id", "post_id", "created_at", "kind", "author", "direction", "title",
        "content", "url", "submolt", "raw_json", "reply_status", "reply_attempts", "spam_status",
    }  # fmt: skip


def test_a_message_is_stored_once_per_account():
    first = make_message()
    with pytest.raises(IntegrityError, match="message_stored_once"), transaction.atomic():
        make_message(post=first.post, remote_id=first.remote_id)


def test_a_post_names_itself_as_its_post():
    other = make_post()
    with pytest.raises(IntegrityError, match="message_post_is_its_own_root"), transaction.atomic():
        Message.objects.filter(pk=make_post().pk).update(post=other)


def test_an_eleventh_try_is_refused_by_the_database():
    comment = make_message()
    with pytest.raises(IntegrityError, match="message_tried_at_most_10"), transaction.atomic():
        Message.objects.filter(pk=comment.pk).update(reply_attempts=11)


def test_a_cleared_comment_waits_for_an_answer_too():
    cleared = make_message(spam_status="clean")
    make_message(spam_status="clean", reply_status="failed")
    assert list(Message.objects.cleared()) == [cleared]


def test_words_are_found_wherever_they_stand():
    post = make_post(title="Reef survey", content="corals")
    comment = make_message(post=post, content="The tide table starts in 2019", author="marrow")
    found = Message.objects.matching("tide 2019")
    assert list(found) == [comment]
    assert list(Message.objects.matching("marrow")) == [comment]
    assert list(Message.objects.matching("reef")) == [post]


@pytest.mark.parametrize(
    ("words", "index"),
    [
        (lambda: Message.objects.awaiting_reply().order_by("-created_at", "-id")[:50],
         "message_awaiting"),
        (lambda: Message.objects.suspect().order_by("-created_at", "-id")[:50], "message_judged"),
    ],
)  # fmt: skip
def test_each_list_has_its_index(words, index: str):
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_seqscan = off")
        cursor.execute("SET LOCAL enable_sort = off")
    assert index in words().explain()
