"""The ledger of somebody with limits: lines about rows within reach, in a few queries."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from surfaces import pausing, seen_lines
from surfaces.models import AuditEvent, Operator
from tests.factories import (
    NOON,
    make_account,
    make_agent,
    make_draft,
    make_message,
    make_operator,
    make_presence,
)

pytestmark = pytest.mark.django_db


def record(subject: Any, why: str, actor: str = "operator:ada") -> None:
    AuditEvent.objects.record("draft.approved", actor=actor, subject=subject, why=why)


@pytest.fixture
def mira(db: None) -> Operator:
    """Sees one surface, where iris speaks."""
    presence = make_presence(agent=make_agent(slug="iris"))
    operator = make_operator(username="mira", role="moderator")
    operator.surfaces.add(presence.account.surface)
    return Operator.objects.get(pk=operator.pk)


def whys(who: Operator, **given: Any) -> list[str]:
    return [line.why for line in seen_lines.sheet(AuditEvent.objects.all(), who, **given).rows]


def here(who: Operator) -> Any:
    from surfaces.models import Account

    return Account.objects.get(pk=min(who.reach.accounts or [0]))


def test_lines_about_rows_within_reach_are_shown_and_others_are_not(mira: Operator):
    account, away = here(mira), make_account()
    agent = make_presence(agent=make_agent(slug="gabriel")).agent
    for subject in (account, account.surface, make_draft(account=account), "agent:iris",
                    make_message(account=account), mira):  # fmt: skip
        record(subject, "within")
    rows = [away, away.surface, make_draft(account=away), agent, make_message(account=away)]
    for subject in [*rows, make_operator(), "keys", "house:1", "draft:x", "draft:99999"]:
        record(subject, "outside")
    record("house:1", "my own", actor=mira.actor)
    assert set(whys(mira)) == {"within", "my own"}
    assert len(whys(mira)) == 7


def test_pauses_are_named_by_what_they_pause(mira: Operator):
    for account in (here(mira), make_account()):
        place = account.surface
        for scope, subject in (("surface", place.slug), ("account", account.name)):
            pausing.pause(scope, subject, why=place.name, by="operator:ada", now=NOON)
    assert set(whys(mira)) == {here(mira).surface.name}


def test_a_page_takes_as_many_queries_however_many_lines(mira: Operator, client: Client):
    client.force_login(mira)

    def asked() -> int:
        with CaptureQueriesContext(connection) as found:
            assert client.get("/ledger/").status_code == 200
        return len(found)

    record(make_draft(account=here(mira)), "within")
    few = asked()
    for number in range(40):
        agent = make_presence(agent=make_agent(slug=f"away-{number}")).agent
        record(make_draft(account=here(mira)), "within")
        record(agent, "outside")
    assert asked() == few
    assert few <= 12


def test_every_line_within_is_found_page_by_page_and_none_twice(
    mira: Operator, client: Client, monkeypatch: Any
):
    """Though each page looks at a window only, and most lines are outside."""
    monkeypatch.setattr(seen_lines, "WINDOW", 20)
    monkeypatch.setattr(seen_lines, "PAGE", 5)
    draft = make_draft(account=here(mira))
    for number in range(120):
        record(draft if number % 9 == 0 else "house:1", f"line {number}")
    within = [f"line {number}" for number in range(0, 120, 9)][::-1]
    found, sheet, before = [], None, None
    while sheet is None or before:
        sheet = seen_lines.sheet(AuditEvent.objects.all(), mira, before=before)
        found += [line.why for line in sheet.rows]
        before = sheet.older
    assert found == within
    back, after = [], AuditEvent.objects.order_by("pk")[0].pk - 1
    while after is not None:
        sheet = seen_lines.sheet(AuditEvent.objects.all(), mira, after=after)
        back = [line.why for line in sheet.rows] + back
        after = sheet.newer
    assert back == within


def test_a_window_without_a_line_within_says_how_far_it_looked(
    mira: Operator, client: Client, monkeypatch: Any
):
    record(make_draft(account=here(mira)), "long ago")
    for _ in range(12):
        record("house:1", "outside")
    monkeypatch.setattr(seen_lines, "WINDOW", 10)
    client.force_login(mira)
    page = client.get("/ledger/").content.decode()
    assert "No line here, back to" in page
    further = re.search(r'href="\?(before=\d+)"', page)
    assert further
    assert "long ago" in client.get(f"/ledger/?{further[1]}").content.decode()


def test_who_sees_everything_pays_no_query_for_it(django_assert_num_queries: Any):
    ada = make_operator(role="admin")
    record("house:1", "one")
    with django_assert_num_queries(1):
        assert whys(ada) == ["one"]
