from __future__ import annotations

from datetime import timedelta
from urllib.parse import parse_qsl

import pytest
from django.core.exceptions import BadRequest
from django.db import connection
from django.http import QueryDict
from django.test.utils import CaptureQueriesContext

from surfaces.messages import listing as message_listing
from surfaces.messages.filters import Filters
from surfaces.models import Message
from tests.factories import NOON, make_account, make_message, make_post

pytestmark = pytest.mark.django_db


def filters(query: str = "") -> Filters:
    return Filters.of({name: str(value) for name, value in QueryDict(query).items()})


def found(query: str = "") -> list[int]:
    return [row.pk for row in message_listing.list_messages(filters(query), {}).rows]


def many(count: int, **given) -> list[int]:
    """Messages under one post, the newest last."""
    post = make_post(created_at=NOON - timedelta(days=9))
    return [
        make_message(post=post, created_at=NOON + timedelta(seconds=i), **given).pk
        for i in range(count)
    ]


def walk(query: str = "", size: int = 7) -> list[int]:
    """Every row, page after page, as the older links lead."""
    seen: list[int] = []
    page = message_listing.list_messages(filters(query), {}, size=size)
    while True:
        seen += [row.pk for row in page.rows]
        if not page.older:
            return seen
        given = dict(parse_qsl(page.older))
        page = message_listing.list_messages(Filters.of(given), given, size=size)


# ── filters ───────────────────────────────────────────────────────────────


def test_newest_come_first_and_ties_are_settled_by_id():
    post = make_post(created_at=NOON - timedelta(days=1))
    first, second = make_message(post=post), make_message(post=post)
    assert found() == [second.pk, first.pk, post.pk]


@pytest.mark.parametrize(
    ("query", "given"),
    [
        ("spam_status=spam", {"spam_status": "spam"}),
        ("spam_status=suspect", {"spam_status": "suspect"}),
        ("spam_status=none", {"spam_status": None, "reply_status": "sent"}),
        ("reply_status=failed", {"reply_status": "failed"}),
        ("reply_status=none", {"reply_status": None, "spam_status": "spam"}),
        ("community=m/tides", {"submolt": "m/tides"}),
        ("author=ann", {"author": "ann"}),
        ("author=@ann", {"author": "ann"}),
        ("q=@ann", {"author": "ann"}),
        ("q=@ann+reef", {"author": "ann", "content": "the reef"}),
        ("q=reef+moon", {"content": "moon over the reef"}),
    ],
)
def test_a_filter_keeps_what_it_names(query, given):
    ordinary = {"spam_status": "clean", "reply_status": "sent", "author": "ben", "content": "hm"}
    post = make_post(spam_status="clean", reply_status="sent")
    wanted = make_message(post=post, **(ordinary | given))
    make_message(post=post, **ordinary)
    assert found(query) == [wanted.pk]


def test_account_kind_and_direction_narrow_together():
    account = make_account()
    post = make_post(account=account)
    make_post()
    make_message(post=post)
    assert found(f"account={account.pk}&kind=post&direction=outgoing") == [post.pk]
    assert found(f"account={account.pk}&kind=post&direction=incoming") == []


def test_waiting_is_exactly_what_awaits_a_reply():
    post = make_post()
    waiting = make_message(post=post)
    make_message(post=post, spam_status="suspect")
    answered = make_message(post=post)
    make_message(post=post, parent=answered, direction="outgoing")
    assert found("waiting=1") == [waiting.pk]
    assert set(found("waiting=1")) == set(
        Message.objects.awaiting_reply().values_list("pk", flat=True)
    )


def test_chinese_is_found_inside_a_sentence():
    wanted = make_message(content="潮汐表遗漏了什么？")
    make_message(content="别的话")
    assert found("q=遗漏") == [wanted.pk]


@pytest.mark.parametrize(
    "query",
    ["spam_status=purple", "kind=poem", "account=seven", "account=-1", "waiting=yes",
     "account=99999999999999999999", "direction=sideways"],
)  # fmt: skip
def test_an_unknown_value_is_left_out_and_said(query):
    message = make_message()
    assert message.pk in found(query)
    assert filters(query).notes


@pytest.mark.parametrize(
    "query", ["q=%F0%28", "author=%20x", "community=%E2%80%AE", "q=" + "x" * 9000]
)
def test_strange_text_in_a_filter_breaks_nothing(query):
    make_message()
    message_listing.list_messages(filters(query), {})


@pytest.mark.parametrize("words", ["!!!", "'; drop table x; --", "a & | b", '"open', "-", ":*"])
def test_no_search_is_a_syntax_error(words):
    make_message()
    message_listing.list_messages(Filters(words=words), {})


def test_a_filter_survives_the_way_through_its_query_string():
    given = "account=3&direction=incoming&kind=comment&spam_status=none&community=m/x&waiting=1"
    again = Filters.of(filters(given + "&author=ann&q=reef").query())
    assert again == filters(given + "&author=ann&q=reef")


# ── pages ─────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("query", ["", "author=a+stranger", "spam_status=none", "q=hello"])
def test_paging_shows_each_row_once(query):
    many(30)
    assert walk(query, size=7) == [
        row.pk for row in message_listing.list_messages(filters(query), {}, size=99).rows
    ]


def test_the_way_back_is_the_way_there():
    ids = many(30)[::-1]
    second = message_listing.list_messages(
        Filters(author="a stranger"), {"before": _key(ids[9])}, size=10
    )
    given = dict(parse_qsl(second.newer))
    first = message_listing.list_messages(Filters.of(given), given, size=10)
    assert [row.pk for row in first.rows] == ids[:10]
    assert first.newer == ""
    assert first.older


def test_a_row_that_arrives_meanwhile_moves_nothing():
    ids = many(20)[::-1]
    older = dict(
        parse_qsl(message_listing.list_messages(Filters(author="a stranger"), {}, size=10).older)
    )
    make_message(created_at=NOON + timedelta(days=1))
    again = message_listing.list_messages(Filters.of(older), older, size=10)
    assert [row.pk for row in again.rows] == ids[10:]


def test_nothing_newer_than_the_newest_is_the_first_page():
    (pk,) = many(1)
    page = message_listing.list_messages(Filters(author="a stranger"), {"after": _key(pk)})
    assert [row.pk for row in page.rows] == [pk]


@pytest.mark.parametrize(
    "given", ["garbage", "%%%", "0", "x" * 900, "é", "~", "2026-11-21~3", "2026-11-21T00:00Z~-3"]
)
@pytest.mark.parametrize("name", ["before", "after"])
def test_a_key_that_is_none_is_refused(name, given):
    with pytest.raises(BadRequest, match="is not a valid value"):
        message_listing.list_messages(Filters(), {name: given})


def test_counting_stops_where_it_says():
    assert message_listing.list_messages(Filters(), {}).found_words == "0"
    many(3)
    assert message_listing.list_messages(Filters(author="a stranger"), {}).found_words == "3"


def test_counting_ends_at_a_cap(monkeypatch):
    monkeypatch.setattr(message_listing, "MOST_COUNTED", 10)
    many(12)
    assert (
        message_listing.list_messages(Filters(author="a stranger"), {}, size=5).found_words == "10+"
    )


def test_a_narrow_look_says_how_far_it_reached_and_goes_on(monkeypatch):
    monkeypatch.setattr(message_listing, "WINDOW", 10)
    post = make_post(created_at=NOON - timedelta(days=9))
    old = make_message(post=post, content="潮汐", created_at=NOON - timedelta(days=8))
    many(25)
    page = message_listing.list_messages(filters("q=潮汐"), {})
    assert page.rows == []
    assert page.looked_back_to
    assert walk("q=潮汐") == [old.pk]


def test_a_rare_word_is_found_however_old(monkeypatch):
    monkeypatch.setattr(message_listing, "WINDOW", 10)
    post = make_post(created_at=NOON - timedelta(days=9))
    old = make_message(post=post, content="zeitgeber", created_at=NOON - timedelta(days=8))
    many(25)
    assert found("q=zeitgeber") == [old.pk]
    assert found("q=zeitgeber&spam_status=spam") == []


@pytest.mark.parametrize("query", ["", "q=hello", "waiting=1&author=a+stranger", "kind=comment"])
def test_the_number_of_queries_does_not_grow_with_the_rows(query):
    many(2)
    few = _queries(query)
    many(60)
    assert _queries(query) == few <= 3


def test_a_page_reads_no_raw_data_and_no_long_text():
    make_message(content="x" * 100_000)
    with CaptureQueriesContext(
        connection,
    ) as queries:
        (row,) = message_listing.list_messages(Filters(author="a stranger"), {}).rows
        assert (len(row.excerpt), row.account.name != "") == (280, True)
    assert not any("raw_json" in query["sql"] for query in queries)
    assert "content" in row.get_deferred_fields()


def _queries(query: str) -> int:
    with CaptureQueriesContext(connection) as queries:
        for row in message_listing.list_messages(filters(query), {}).rows:
            str((row.account.name, row.excerpt, row.thread_title, row.judged_by))
    return len(queries)


def _key(pk: int) -> str:
    keyset = message_listing.NEWEST_FIRST
    return keyset.dump(keyset.key_of(Message.objects.get(pk=pk)))
