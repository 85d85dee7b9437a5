"""The queue: order, filters, pages by key, counts that stop at a thousand."""

from __future__ import annotations

from datetime import timedelta
from urllib.parse import parse_qsl

import pytest
from django.core.exceptions import BadRequest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from surfaces.desk import queue
from surfaces.desk.filters import DeskFilters
from surfaces.models import DeskItem
from surfaces.operators.scope import UNRESTRICTED, Scope
from tests.factories import NOON, make_account, make_draft, make_message, make_surface

pytestmark = [pytest.mark.django_db, pytest.mark.engine]


def keys(asked: DeskFilters | None = None, **given) -> list[str]:
    asked = asked or DeskFilters()
    return [row.key for row in queue.page(asked, UNRESTRICTED, NOON, given).rows]


def minutes_ago(number: int):
    return NOON - timedelta(minutes=number)


def test_what_expires_within_the_hour_comes_first_then_the_oldest():
    old = make_draft(made_at=minutes_ago(300))
    young = make_draft(made_at=minutes_ago(5))
    soon = make_draft(made_at=minutes_ago(1), expires_at=NOON + timedelta(minutes=9))
    later = make_draft(made_at=minutes_ago(2), expires_at=NOON + timedelta(hours=9))
    assert keys() == [f"draft-{row.pk}" for row in (soon, old, young, later)]


def test_risk_first_puts_doubts_before_drafts():
    draft = make_draft(made_at=minutes_ago(300))
    doubt = make_draft(state="unknown", needs_person=True, asked_at=minutes_ago(1))
    assert keys(DeskFilters(order="risk")) == [f"unknown-{doubt.pk}", f"draft-{draft.pk}"]


def test_newest_turns_the_queue_round():
    first, second = make_draft(made_at=minutes_ago(9)), make_draft(made_at=minutes_ago(3))
    assert keys(DeskFilters(order="newest")) == [f"draft-{second.pk}", f"draft-{first.pk}"]


@pytest.mark.parametrize("order", ["", "risk", "newest"])
def test_pages_by_key_show_everything_once(order):
    same_moment = [make_draft(made_at=NOON) for _ in range(70)]
    comments = [make_message(spam_status="suspect", spam_score=n / 70) for n in range(60)]
    seen: list[str] = []
    given: dict[str, str] = {}
    while True:
        page = queue.page(DeskFilters(order=order), UNRESTRICTED, NOON, given)
        seen += [row.key for row in page.rows]
        if not page.more:
            break
        given = dict(parse_qsl(page.more))
    assert len(seen) == len(set(seen)) == len(same_moment) + len(comments)


@pytest.mark.parametrize("key", ["x", "~", "1~2~3", "2026-01-01~1", "1~" + "9" * 70])
def test_a_key_that_is_no_key_is_refused(key):
    with pytest.raises(BadRequest, match="is not a valid value"):
        keys(after=key)


def test_every_filter_narrows():
    surface = make_surface(slug="there")
    account = make_account(surface=surface)
    comment = make_message(account=account, author="ann")
    wanted = make_draft(
        target=comment, agent="iris", made_at=minutes_ago(90), text="On tides and tables."
    )
    make_draft(made_at=minutes_ago(3), agent="orrery")
    make_message(spam_status="suspect", author="a seller")
    key = f"draft-{wanted.pk}"
    for asked in (
        DeskFilters(agent="iris"),
        DeskFilters(surface="there"),
        DeskFilters(account=str(account.pk)),
        DeskFilters(age="1h"),
        DeskFilters(q="tides ann"),
        DeskFilters(kind="draft", agent="iris"),
    ):
        assert keys(asked) == [key], asked
    assert keys(DeskFilters(risk="high")) == []


def test_what_was_put_off_is_out_of_sight_until_then():
    draft = make_draft()
    DeskItem.objects.update(later_until=NOON + timedelta(hours=4), later_by="operator:mira")
    assert keys() == []
    assert keys(DeskFilters(later="1")) == [f"draft-{draft.pk}"]
    after_all = queue.page(DeskFilters(), UNRESTRICTED, NOON + timedelta(hours=5), {})
    assert [row.key for row in after_all.rows] == [f"draft-{draft.pk}"]


def test_a_limited_operator_sees_only_their_own():
    mine, other = make_draft(), make_draft()
    reach = Scope(accounts=frozenset({mine.account_id}))
    page = queue.page(DeskFilters(), reach, NOON, {})
    assert [row.key for row in page.rows] == [f"draft-{mine.pk}"]
    assert queue.counts(reach, NOON)["draft"].count == 1
    assert queue.counts(UNRESTRICTED, NOON)["draft"].count == 2
    assert other.pk != mine.pk


def test_following_goes_on_in_order_and_then_begins_again():
    rows = [make_draft(made_at=minutes_ago(age)) for age in (9, 6, 3)]
    items = [DeskItem.objects.get(item_id=row.pk) for row in rows]
    after = [queue.following(item, DeskFilters(), UNRESTRICTED, NOON) for item in items]
    assert [item.item_id for item in after] == [rows[1].pk, rows[2].pk, rows[0].pk]


def test_following_the_last_is_nothing():
    make_draft()
    assert queue.following(DeskItem.objects.get(), DeskFilters(), UNRESTRICTED, NOON) is None


def test_following_takes_the_expiring_first_and_in_their_order():
    plain = make_draft(made_at=minutes_ago(99))
    first = make_draft(expires_at=NOON + timedelta(minutes=5))
    second = make_draft(expires_at=NOON + timedelta(minutes=6))
    item = {row.item_id: row for row in DeskItem.objects.all()}
    go = [
        queue.following(item[row.pk], DeskFilters(), UNRESTRICTED, NOON).item_id
        for row in (first, second)
    ]
    assert go == [second.pk, plain.pk]


def test_counts_say_since_when_and_how_risky():
    make_message(spam_status="suspect", spam_score=0.9, seen_at=minutes_ago(58))
    make_message(spam_status="suspect", spam_score=0.5, seen_at=minutes_ago(5))
    found = queue.counts(UNRESTRICTED, NOON)["suspect"]
    assert (found.count, found.oldest, found.high) == (2, minutes_ago(58), 1)


def test_news_are_what_came_since_and_fits_the_filters():
    make_draft()
    before = queue.newest()
    assert queue.news({}, UNRESTRICTED, before) == 0
    make_draft(agent="iris")
    make_message(spam_status="suspect")
    assert queue.news({}, UNRESTRICTED, before) == 2
    assert queue.news({"agent": "iris"}, UNRESTRICTED, before) == 1


def test_one_page_asks_the_same_number_of_questions_for_ten_rows_and_for_fifty():
    def asked() -> int:
        with CaptureQueriesContext(connection) as told:
            keys()
        return len(told)

    for _ in range(5):
        make_draft(), make_message(spam_status="suspect")
    few = asked()
    for _ in range(25):
        make_draft(), make_message(spam_status="suspect")
    assert asked() == few <= 4


def test_strange_words_in_the_query_string_are_left_out():
    asked = DeskFilters.of({"kind": "<script>", "risk": "9", "q": "a\0b" * 99, "account": "٣"})
    assert (asked.kind, asked.risk, asked.account) == ("", "", "")
    assert "\0" not in asked.q
    assert len(asked.q) <= 120


def test_who_reaches_nothing_counts_nothing_in_views_either():
    make_draft()
    nothing = Scope(accounts=frozenset(), agents=frozenset())
    numbers = queue.counts(nothing, NOON, views=[DeskFilters(), DeskFilters(risk="high")])
    assert {waiting.count for waiting in numbers.values()} == {0}
