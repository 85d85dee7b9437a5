"""A plain INSERT of the columns that the documents name, and pages that read what is NULL."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import IntegrityError, connection, transaction
from django.test import Client
from django.urls import reverse

from dialogue.stones import engagement
from dialogue.voice import briefs
from dialogue.voice.prompts import build_prompt
from surfaces.adapters.types import Item, ItemKind
from surfaces.messages import store as message_store
from surfaces.models import Draft, Message
from surfaces.spam import classify
from surfaces.threads import context
from tests.dialogue.replies.factories import World
from tests.factories import (
    NOON,
    make_account,
    make_draft,
    make_message,
    make_notification,
    make_operator,
    make_post,
    make_presence,
)

pytestmark = [pytest.mark.django_db, pytest.mark.engine]

POST = """
INSERT INTO messages (id, parent_id, post_id, created_at, kind, author, direction, title, content,
    url, submolt, raw_json, reply_status, reply_attempts, spam_status)
VALUES (%(id)s, NULL, %(id)s, '2026-11-21 12:00+00', 'post', NULL, 'outgoing', NULL, NULL, NULL,
    NULL, '{"id": "p-there"}', NULL, 0, NULL)
"""
COMMENT = """
INSERT INTO messages (parent_id, post_id, created_at, kind, author, direction, title, content,
    url, submolt, raw_json, reply_status, spam_status)
VALUES (NULL, %(post)s, '2026-11-21 12:01+00', 'comment', NULL, 'incoming', NULL, NULL, NULL, NULL,
    NULL, NULL, %(spam)s)
RETURNING id
"""
AUDIT_QUERIES = """
SELECT DISTINCT post_id, title FROM messages WHERE kind='post';
SELECT * FROM messages incoming WHERE kind='comment' AND direction='incoming'
  AND (reply_status IS NULL OR reply_status='pending') AND spam_status IS NULL
  AND NOT EXISTS (SELECT 1 FROM messages m2 WHERE m2.parent_id=incoming.id AND m2.direction='outgoing');
SELECT * FROM messages WHERE kind='comment' AND direction='incoming' AND reply_status='failed'
"""  # noqa: E501


def rows(sql: str, **given: Any) -> list[tuple]:
    with connection.cursor() as cursor:
        cursor.execute(sql, given or None)
        return cursor.fetchall() if cursor.description else []


def insert(spam: str | None = None) -> tuple[Message, Message]:
    """A post and a comment of which nothing is known."""
    pk = message_store.take_ids(1)[0] + 1000
    rows(POST, id=pk)
    [(comment,)] = rows(COMMENT, post=pk, spam=spam)
    return Message.objects.get(pk=pk), Message.objects.get(pk=comment)


def test_a_plain_insert_of_the_documents_columns_works():
    account = make_account()
    post, comment = insert()
    assert (post.account, post.remote_id, post.post_id) == (account, "p-there", post.pk)
    assert (comment.account, comment.remote_id) == (account, f"row-{comment.pk}")
    assert (comment.reply_attempts, comment.raw_json, comment.spam_reasons) == (0, {}, [])
    stored = "SELECT author, title, content, url, submolt FROM messages"
    assert rows(stored) == [(None,) * 5] * 2


def test_an_id_that_was_given_is_not_given_again():
    account = make_account()
    post, comment = insert()
    assert comment.pk > post.pk
    item = Item(remote_id="x", kind=ItemKind.POST, post_id="x", author="vera", created_at=NOON)
    assert message_store.store(account, [item], now=NOON, judge=lambda *_: {}).new == 1
    assert Message.objects.get(remote_id="x").pk > comment.pk


def test_a_comment_belongs_to_the_account_of_its_post():
    make_account()
    post = make_post(account=make_account())
    [(pk,)] = rows(COMMENT, post=post.pk, spam=None)
    assert Message.objects.get(pk=pk).account == post.account


def test_where_no_account_can_be_told_nothing_is_stored():
    make_account(), make_account()
    refused = pytest.raises(IntegrityError, match="name account_id")
    with refused, transaction.atomic():
        rows(POST, id=5_000_000)
    assert not Message.objects.exists()


def test_the_audit_queries_run_unchanged_over_what_was_inserted():
    make_account()
    post, comment = insert()
    failed = make_message(post=post, reply_status="failed")
    told = [rows(query) for query in AUDIT_QUERIES.split(";")]
    assert told[0] == [(post.pk, None)]
    assert [row[0] for row in told[1]] == [comment.pk]
    assert [row[0] for row in told[2]] == [failed.pk]
    assert [row.pk for row in Message.objects.awaiting_reply()] == [comment.pk]


def test_what_is_unknown_is_stored_as_null_and_read_as_an_empty_text():
    item = Item(remote_id="x", kind=ItemKind.POST, post_id="x", author="", created_at=NOON)
    message_store.store(make_account(), [item], now=NOON, judge=lambda *_: {})
    stored = "SELECT author, title, content, url, submolt FROM messages"
    assert rows(stored) == [(None,) * 5]
    row = Message.objects.get()
    assert [row.author, row.title, row.content, row.url, row.submolt] == [""] * 5
    row.title = "On tides"
    row.save(update_fields=["title"])
    Message.objects.update(title="")
    assert rows(stored) == [(None,) * 5]


def test_reading_again_what_is_null_is_no_edit():
    account = make_account()
    item = Item(remote_id="x", kind=ItemKind.POST, post_id="x", author="", created_at=NOON)
    for edited in (0, 0):
        found = message_store.store(account, [item], now=NOON, judge=lambda *_: {})
        assert found.edited == edited


@pytest.fixture
def admin(client: Client) -> Client:
    client.force_login(make_operator(username="ada", role="admin"))
    return client


@pytest.mark.parametrize("spam", [None, "suspect", "spam"])
def test_pages_show_a_message_of_which_nothing_is_known(admin: Client, spam: str | None):
    account = make_account()
    post, comment = insert(spam)
    draft = make_draft(target=comment, account=account)
    failed = make_message(post=post, reply_status="failed")
    Message.objects.filter(pk=failed.pk).update(author="", content="")
    pages = [
        "/", "/messages/", "/messages/?words=tides", "/messages/?state=suspect", "/threads/",
        f"/threads/{post.pk}/", "/desk/", "/desk/rows", f"/desk/draft/{draft.pk}/",
        f"/desk/draft/{draft.pk}/reading", f"/desk/suspect/{comment.pk}/",
        f"/desk/given_up/{failed.pk}/", f"/drafts/{draft.pk}/", "/drafts/", "/spam-filter/",
        f"/accounts/{account.pk}/", "/audit/", "/inbox/", "/agents/", "/stones/",
        f"/admin/surfaces/message/{comment.pk}/change/", "/admin/surfaces/message/",
    ]  # fmt: skip
    for page in pages:
        said = admin.get(page, follow=True)
        if page.startswith("/desk/suspect") and spam != "suspect":
            continue
        assert said.status_code in {200, 404}, page
        if "/admin/" not in page:
            assert ">None<" not in said.content.decode(), page
    assert admin.get(reverse("surfaces:thread", args=[post.pk])).status_code == 200
    assert admin.get(reverse("surfaces:desk_item", args=["draft", draft.pk])).status_code == 200


def test_spam_filter_thread_and_prompt_read_what_is_null():
    presence = make_presence()
    _, comment = insert()
    assert context.of_message(comment).names
    brief, _ = briefs.reply_brief(make_notification(presence=presence, message=comment), now=NOON)
    said = [*brief.thread, brief.comment]
    assert {(one.author, one.text, one.title) for one in said} == {("", "", "")}
    assert "None" not in build_prompt(brief).user
    item = Item(
        remote_id="c", kind=ItemKind.COMMENT, post_id="p-there", author="", created_at=NOON,
        content="hello",
    )  # fmt: skip
    assert classify.classify_items(presence.account, [item], NOON)["c"].status != "spam"


def test_the_reply_loop_reads_a_comment_without_words():
    world = World(mode="auto")
    post, comment = insert()
    Message.objects.filter(pk=post.pk).update(thread_read_at=NOON)
    world.round()
    draft = Draft.objects.get(target=comment)
    assert "None" not in draft.text


def test_an_explored_stone_reads_threads_without_title_and_words():
    presence = make_presence()
    post, _ = insert()
    Message.objects.filter(pk=post.pk).update(created_at=NOON)
    facts = engagement.facts_of(presence, "2026-11-21/0", now=NOON)
    assert [(one.id, one.title) for one in facts.posts] == [(post.pk, "a post without words")]
