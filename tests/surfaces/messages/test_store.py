"""Storing: once, whole, and nothing dropped."""

from __future__ import annotations

import threading
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.db import connection

from surfaces.adapters.parsing import clean_text
from surfaces.adapters.types import Item, ItemKind, ThreadItems
from surfaces.messages.store import Classification, note_thread, store
from surfaces.models import AuditEvent, Message
from tests.factories import NOON, make_account, make_message, make_post

pytestmark = [pytest.mark.django_db, pytest.mark.engine]


def judge_nothing(account: Any, items: Any, now: Any) -> dict[str, Classification]:
    return {item.remote_id: Classification() for item in items}


def item(name: str, **given: Any) -> Item:
    ordinary = {
        "remote_id": name,
        "kind": ItemKind.COMMENT,
        "post_id": "p",
        "author": "nightjar",
        "created_at": NOON,
        "content": f"words of {name}",
    }
    return Item(**(ordinary | given))


POST = item("p", kind=ItemKind.POST, title="On tides", is_ours=True, comment_count=2)


def keep(account: Any, *items: Item, now: Any = NOON) -> Any:
    return store(account, items, now=now, judge=judge_nothing)


def test_a_thread_is_stored_with_its_shape():
    account = make_account()
    changed = keep(account, POST, item("a"), item("b", parent_id="a"))
    assert changed.new == 3
    post, a, b = Message.objects.order_by("id")
    assert (post.post_id, post.parent_id, post.direction) == (post.pk, None, "outgoing")
    assert (a.post_id, a.parent_id) == (post.pk, None)
    assert (b.post_id, b.parent_id) == (post.pk, a.pk)


def test_reading_twice_changes_nothing():
    account = make_account()
    keep(account, POST, item("a"))
    before = list(Message.objects.values())
    changed = keep(account, POST, item("a"), now=NOON + timedelta(hours=1))
    assert (changed.new, changed.edited) == (0, 0)
    assert list(Message.objects.values()) == before


def test_the_same_item_twice_in_one_answer_is_one_row():
    assert keep(make_account(), POST, item("a"), item("a")).new == 2


def test_an_edit_at_the_source_is_marked_and_the_old_words_are_kept():
    account = make_account()
    keep(account, POST, item("a"))
    changed = keep(account, item("a", content="other words"), now=NOON + timedelta(hours=1))
    row = Message.objects.get(remote_id="a")
    assert changed.edited == 1
    assert (row.content, row.edited_at) == ("other words", NOON + timedelta(hours=1))
    assert AuditEvent.objects.about(row).get().facts["before"] == "words of a"


def test_a_deletion_at_the_source_is_a_mark_and_the_words_stay():
    account = make_account()
    keep(account, POST, item("a"))
    changed = keep(account, item("a", content="[deleted]", is_deleted=True))
    row = Message.objects.get(remote_id="a")
    assert (changed.deleted, row.deleted_at, row.content) == (1, NOON, "words of a")


def test_what_is_missing_from_a_whole_list_is_marked_deleted():
    account = make_account()
    keep(account, POST, item("a"), item("b"))
    later = NOON + timedelta(hours=1)
    thread = ThreadItems(root=POST, comments=(item("a"),))
    assert note_thread(account, "p", thread, now=later) == 1
    assert Message.objects.get(remote_id="b").deleted_at == later


def test_a_cut_list_marks_nothing_deleted():
    account = make_account()
    keep(account, POST, item("a"), item("b"))
    thread = ThreadItems(root=POST, comments=(item("a"),), is_complete=False)
    assert note_thread(account, "p", thread, now=NOON + timedelta(hours=1)) == 0


def test_a_child_of_an_unknown_parent_hangs_under_the_post():
    keep(make_account(), POST, item("b", parent_id="never seen"))
    assert Message.objects.get(remote_id="b").parent is None


def test_our_own_words_answer_what_they_stand_under():
    account = make_account()
    keep(account, POST, item("a"), item("b", parent_id="a", is_ours=True))
    assert Message.objects.get(remote_id="a").reply_status == "sent"
    assert not Message.objects.awaiting_reply().exists()


def test_verdicts_are_stored_with_the_row():
    def suspicious(account: Any, items: Any, now: Any) -> dict[str, Classification]:
        return {
            i.remote_id: Classification("suspect", 0.6, (("links", "3 links"),), "ff")
            for i in items
        }

    changed = store(make_account(), [POST, item("a")], now=NOON, judge=suspicious)
    row = Message.objects.get(remote_id="a")
    assert changed.suspect == 1
    assert (row.spam_status, row.spam_reasons) == ("suspect", [["links", "3 links"]])


def test_hostile_text_is_stored_as_text():
    text = "<script>alert(1)</script> \\N \t \n ''; DROP TABLE messages; -- \u202e %s {}"
    keep(make_account(), POST, item("a", content=text, raw={"x": "\\u0000 ok"}))
    assert Message.objects.get(remote_id="a").content == text


@pytest.mark.django_db(transaction=True)
def test_two_readers_at_once_store_each_item_once():
    account = make_account()
    start = threading.Barrier(4)
    items = [POST, *(item(f"c{n}", parent_id=f"c{n - 1}" if n % 3 else None) for n in range(60))]

    def work() -> None:
        start.wait()
        keep(account, *items)
        connection.close()

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert Message.objects.count() == 61
    assert Message.objects.comments().filter(post__remote_id="p").count() == 60
    child = Message.objects.get(remote_id="c1")
    assert child.parent == Message.objects.get(remote_id="c0")


def test_queries_do_not_grow_with_rows(django_assert_num_queries: Any):
    account = make_account()
    keep(account, POST)
    from django.test.utils import CaptureQueriesContext

    counts = []
    for size in (5, 500):
        with CaptureQueriesContext(connection) as queries:
            keep(account, POST, *(item(f"{size}-{n}") for n in range(size)))
        counts.append(len(queries))
    assert counts[0] == counts[1]


def test_messages_of_two_accounts_do_not_mix():
    first, second = make_account(), make_account()
    keep(first, POST, item("a"))
    keep(second, POST, item("a"))
    assert Message.objects.filter(remote_id="a").count() == 2
    rows = Message.objects.filter(account=second)
    assert {row.post.account_id for row in rows} == {second.pk}


def test_a_deleted_comment_that_comes_back_is_no_longer_deleted():
    post = make_post()
    make_message(post=post, remote_id="a", content="here", deleted_at=NOON)
    keep(post.account, item("a", post_id=post.remote_id, content="here"))
    assert Message.objects.get(remote_id="a").deleted_at is None


def test_a_count_beyond_reason_spoils_no_batch():
    account = make_account()
    keep(account, item("p", kind=ItemKind.POST, comment_count=2**31 - 1), item("a"))
    assert Message.objects.count() == 2


def test_a_comment_that_came_before_its_parent_is_hung_under_it_later():
    account = make_account()
    ours = item("b", parent_id="a", is_ours=True)
    keep(account, POST, ours)
    keep(account, POST, item("a"), ours)
    rows = {row.remote_id: row for row in Message.objects.all()}
    assert rows["b"].parent == rows["a"]
    assert rows["a"].reply_status == "sent"
    assert not Message.objects.awaiting_reply().exists(), "it has our answer: no second one"


def test_a_comment_that_claims_the_id_of_its_post_changes_nothing():
    account = make_account()
    keep(account, POST, item("p", content="I am the post now"), item("a"))
    keep(account, POST, item("p", content="I am the post now"))
    post = Message.objects.get(remote_id="p")
    assert (post.kind, post.content) == ("post", "words of p")
    assert Message.objects.get(remote_id="a").post == post


def test_the_longest_texts_there_can_be_are_stored_and_searched():
    """PostgreSQL refuses search vectors of more than 1 MB and keys of more than 2,704 bytes."""
    letters = [chr(0x20000 + n) for n in range(40_000)]  # four bytes each
    many = clean_text(" ".join(a + b for a, b in zip(letters, reversed(letters), strict=True)))
    widest = chr(0x20000)
    extremes = [
        item("many words", content=many, title=many[:1000]),
        item("one word", content="x" * 100_000),
        item(widest * 500, author=widest * 200, author_id=widest * 200, community=widest * 200),
        item("a link", url="https://moltbook.example/" + "x" * 100_000),
        item("early", created_at=datetime(1990, 1, 1, tzinfo=UTC)),
        item("late", created_at=datetime(2100, 1, 1, tzinfo=UTC)),
    ]
    assert keep(make_account(), POST, *extremes).new == 1 + len(extremes)
    assert Message.objects.matching(many.split()[7]).count() == 1
