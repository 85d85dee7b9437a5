from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test import Client, RequestFactory
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from surfaces.home import frame
from surfaces.models import AuditEvent, DeskItem, Operator
from surfaces.pauses import services as pause_services
from tests.factories import NOON, make_account, make_draft, make_message, make_operator

pytestmark = pytest.mark.django_db


def html(client: Client, path: str = "/") -> str:
    response = client.get(path)
    assert response.status_code == 200
    return response.content.decode()


# ── what waits ────────────────────────────────────────────────────────────


def test_nothing_waiting_is_said_plainly(desk: Client):
    make_account()
    page = html(desk)
    assert "Nothing needs a decision" in page
    assert "Drafts to review, suspect comments, failed sends" in page


def test_home_counts_what_needs_a_person_and_leads_to_each_kind(desk: Client):
    account = make_account(state="auth_failed")
    make_draft(account=account, made_at=NOON)
    make_draft(account=account, state="failed")
    make_draft(account=account, state="unknown", needs_person=True, asked_at=NOON)
    make_message(account=account, spam_status="suspect")
    page = html(desk)
    assert "5 items need a decision" in page
    for kind in ("draft", "failed", "unknown", "suspect", "account"):
        assert f'href="/desk/?kind={kind}"' in page, kind


def test_the_oldest_is_told_with_its_age_and_the_desk_is_one_key_away(desk: Client):
    make_draft(made_at=timezone.now() - timedelta(hours=2, minutes=14, seconds=20))
    page = html(desk)
    assert "The oldest has been waiting for 2 h 14 min." in page
    assert 'href="/desk/">Open the desk <kbd>G</kbd><kbd>D</kbd>' in page


def test_what_expires_within_the_hour_says_when(desk: Client):
    at = timezone.now() + timedelta(minutes=20)
    make_draft(expires_at=at)
    make_draft(expires_at=timezone.now() + timedelta(days=1))
    page = html(desk)
    assert f"One expires at {at:%H:%M}." in page
    assert f"1 expires {at:%H:%M}" in page


def test_a_high_risk_is_named(desk: Client):
    make_draft()
    make_draft()
    assert "high risk" not in html(desk)
    DeskItem.objects.filter(pk=DeskItem.objects.earliest("pk").pk).update(risk=2)
    assert "1 high risk" in html(desk)


def test_who_looks_after_one_surface_sees_no_others(client: Client):
    mine, other = make_account(), make_account(state="auth_failed")
    make_draft(account=mine)
    make_draft(account=other)
    pause_services.pause("surface", other.surface.slug, why="secret", by="operator:x", now=NOON)
    kim = make_operator()
    kim.surfaces.add(mine.surface)
    client.force_login(kim)
    page = html(client)
    assert "1 item needs a decision" in page
    assert mine.surface.name in page
    assert other.surface.name not in page
    assert "secret" not in page
    assert "Cost per day" not in page, "it is a sum over everybody"


# ── the frame around every page ───────────────────────────────────────────


def test_the_frame_costs_at_most_three_queries_however_much_there_is(desk: Client):
    user = Operator.objects.get()

    def cost() -> int:
        request: Any = RequestFactory().get("/")
        request.user, request.resolver_match = user, None
        assert user.reach
        with CaptureQueriesContext(connection) as asked:
            shell = frame.page_frame(request)["shell"]
            assert not asked.captured_queries, "nothing is asked before it is shown"
            list(shell.places), shell.tabs, shell.pauses, shell.surfaces, shell.needs
        return len(asked)

    few = cost()
    for _ in range(5):
        make_draft(account=make_account())
        make_message(spam_status="suspect")
    assert cost() == few <= 3


@pytest.mark.parametrize("path", ["/", "/surfaces/", "/ledger/", "/spam-filter/", "/more"])
def test_pages_ask_the_same_number_of_questions_however_many_rows(desk: Client, path: str):
    def cost() -> int:
        with CaptureQueriesContext(connection) as asked:
            html(desk, path)
        return len(asked)

    grow()
    few = cost()
    for _ in range(4):
        grow()
    assert cost() == few <= 12


def grow() -> None:
    account = make_account()
    make_draft(account=account)
    make_message(account=account, spam_status="suspect")
    pause_services.pause("account", account.name, why="a test", by="operator:mira", now=NOON)
    AuditEvent.objects.record("draft.approved", actor="operator:mira", subject="draft:1", n=1)


def test_viewers_see_everything_and_decide_nothing(client: Client):
    make_account()
    client.force_login(make_operator(role="viewer"))
    assert "You have read-only access" in html(client)
    response = client.post(reverse("surfaces:pause"), {"what": "all:", "why": "x"})
    assert response.status_code == 403
    assert "Ask a moderator" in response.content.decode()
    assert not pause_services.live()


def test_pages_carry_nothing_inline_and_ask_nobody_else(desk: Client):
    make_draft()
    for path in ("/", "/surfaces/", "/ledger/", "/spam-filter/", "/more", "/me", "/password"):
        page = html(desk, path)
        assert " style=" not in page, path
        assert " onclick=" not in page, path
        assert "<style" not in page, path
        assert all("src=" in tag for tag in page.split("<script")[1:]), path
        for address in page.split('src="')[1:]:
            assert address.startswith("/static/"), path


def test_strangers_names_and_reasons_are_escaped(desk: Client):
    make_account()
    pause_services.pause("all", why="<script>alert(1)</script>", by="operator:<b>", now=NOON)
    page = html(desk)
    assert "<script>alert" not in page
    assert "&lt;script&gt;" in page
