"""The ledger of somebody with limits: lines about rows within reach, in a few queries."""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qsl

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from dialogue.models import Agent
from surfaces.delivery.record import record_sent
from surfaces.drafts.models import DraftState
from surfaces.drafts.staleness import mark_stale
from surfaces.models import Account, AuditEvent, Message, Operator
from surfaces.operators.scope_queries import visible_events
from surfaces.pauses import services as pause_services
from surfaces.web.pagination import paginate
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
    lines = visible_events(AuditEvent.objects.all(), who)
    return [str(line.why) for line in paginate(lines, given).rows]


def here(who: Operator) -> Any:
    return Account.objects.get(pk=min(who.reach.accounts or [0]))


def test_lines_about_rows_within_reach_are_shown_and_others_are_not(mira: Operator):
    account, away = here(mira), make_account()
    hers = Agent.objects.get(slug="iris")
    agent = make_presence(agent=make_agent(slug="gabriel")).agent
    for subject in (account, account.surface, make_draft(account=account), hers,
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
            pause_services.pause(scope, subject, why=place.name, by="operator:ada", now=NOON)
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


def test_every_line_within_is_found_page_by_page_and_none_twice(mira: Operator):
    draft = make_draft(account=here(mira))
    for number in range(120):
        record(draft if number % 9 == 0 else "house:1", f"line {number}")
    within = [f"line {number}" for number in range(0, 120, 9)][::-1]
    lines, found, page = visible_events(AuditEvent.objects.all(), mira), [], None
    while page is None or page.older:
        page = paginate(lines, dict(parse_qsl(page.older)) if page else {}, size=5)
        found += [str(line.why) for line in page.rows]
    assert found == within
    while page.newer:
        page = paginate(lines, dict(parse_qsl(page.newer)), size=5)
        found += [str(line.why) for line in page.rows]
    assert found[len(within) :] == [*within[5:10], *within[:5]]


def test_a_line_of_an_agent_outside_is_not_shown_though_its_account_is_within(mira: Operator):
    account = here(mira)
    by_agent = make_operator(role="moderator", agents=["iris"])
    record(make_draft(account=account, agent="iris"), "hers")
    record(make_draft(account=account, agent="gabriel"), "his")
    record(make_draft(account=account), "by hand")
    assert set(whys(by_agent)) == {"hers", "by hand"}
    assert set(whys(mira)) == {"hers", "his", "by hand"}


def test_lines_stay_within_when_their_row_is_gone(mira: Operator):
    draft = make_draft(account=here(mira))
    record(draft, "kept")
    draft.delete()
    assert whys(mira) == ["kept"]


def test_what_the_database_writes_itself_has_its_account_and_agent(mira: Operator):
    comment = make_message(account=here(mira))
    draft = make_draft(account=here(mira), target=comment, agent="iris", state="waiting")
    Message.objects.filter(pk=comment.pk).update(spam_status="spam")
    mark_stale(now=NOON)
    draft.advance(DraftState.APPROVED, approved_digest="x", not_before=NOON)
    draft.advance(DraftState.SENDING, lease_until=NOON)
    record_sent(draft, remote_id="c-7", now=NOON)
    for line in AuditEvent.objects.filter(action__in=["draft.went_stale", "draft.sent"]):
        assert (line.account_id, line.agent) == (draft.account_id, "iris")
    assert AuditEvent.objects.about(draft).count() == 2


def test_who_sees_everything_pays_no_query_for_it(django_assert_num_queries: Any):
    ada = make_operator(role="admin")
    record("house:1", "one")
    with django_assert_num_queries(1):
        assert whys(ada) == ["one"]
