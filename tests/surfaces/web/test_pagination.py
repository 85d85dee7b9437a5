"""Pages by key: every row once, in order, forwards and back."""

from __future__ import annotations

from datetime import datetime
from urllib.parse import parse_qsl

import pytest
from django.core.exceptions import BadRequest

from surfaces.models import AuditEvent, SpamToken
from surfaces.web.pagination import Keyset, paginate, paginate_forward
from tests.factories import NOON

BY_COUNT = Keyset(("-in_spam", int), ("token", str))
BY_TIME = Keyset(("-at", datetime), ("-pk", int))


def events(count: int) -> list[int]:
    for _ in range(count):
        AuditEvent.objects.record("a.b", actor="operator:mira", subject="keys")
    return list(AuditEvent.objects.order_by("-pk").values_list("pk", flat=True))


def query(text: str) -> dict[str, str]:
    return dict(parse_qsl(text))


@pytest.mark.django_db
def test_the_way_back_shows_the_pages_of_the_way_there():
    ids = events(13)
    rows, there, given = AuditEvent.objects.all(), [], {}
    while True:
        page = paginate(rows, given, size=5)
        there.append([row.pk for row in page.rows])
        if not page.older:
            break
        given = query(page.older)
    assert there == [ids[:5], ids[5:10], ids[10:]]
    back = [there[-1]]
    while page.newer:
        page = paginate(rows, query(page.newer), size=5)
        back.append([row.pk for row in page.rows])
    assert back == there[::-1]


@pytest.mark.django_db
@pytest.mark.parametrize("given", [{"before": "1"}, {"after": "999999999"}])
def test_beyond_the_ends_stands_the_first_page(given: dict[str, str]):
    ids = events(3)
    page = paginate(AuditEvent.objects.filter(pk__gt=1), given, size=2)
    assert [row.pk for row in page.rows] == ids[:2]
    assert (page.newer, bool(page.older)) == ("", True)


@pytest.mark.django_db
def test_links_carry_what_the_page_asks_for_and_nothing_empty():
    events(3)
    page = paginate(AuditEvent.objects.all(), {}, size=2, keep={"actor": "mira", "action": ""})
    assert query(page.older) == {"actor": "mira", "before": str(page.rows[-1].pk)}


@pytest.mark.django_db
def test_an_order_of_two_directions_shows_every_row_once():
    SpamToken.objects.bulk_create(
        SpamToken(token=f"{'~' * (n % 3)}w{n:02}", in_spam=n % 4, in_clean=0) for n in range(23)
    )
    expected = list(SpamToken.objects.order_by("-in_spam", "token").values_list("token", flat=True))
    seen, given = [], {}
    while True:
        page = paginate_forward(SpamToken.objects.all(), given, keyset=BY_COUNT, size=4)
        seen += [row.token for row in page.rows]
        if not page.older:
            break
        given = query(page.older)
    assert seen == expected


def test_a_key_survives_the_way_through_an_address():
    for keyset, key in ((BY_TIME, (NOON, 7)), (BY_COUNT, (3, "a~b")), (BY_COUNT, (0, ""))):
        assert keyset.load({"after": keyset.dump(key)}, "after") == key
    assert BY_TIME.load({}, "after") is None
    assert BY_TIME.load({"after": ""}, "after") is None


@pytest.mark.parametrize("text", ["7", "2026-11-21~7", "x~7", "2026-11-21T12:00:00+00:00~-7", "~"])
def test_what_is_no_key_is_refused(text: str):
    with pytest.raises(BadRequest, match="not a valid value for “after”"):
        BY_TIME.load({"after": text}, "after")


def test_rows_that_run_one_way_are_compared_as_one():
    """So that an index of both columns answers it."""
    sql = str(BY_TIME.slice(AuditEvent.objects.all(), (NOON, 7)).query)
    assert '("surfaces_auditevent"."at", "surfaces_auditevent"."id") < (' in sql
