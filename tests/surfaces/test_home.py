from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test import Client, RequestFactory
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from surfaces import pages, pausing
from surfaces.models import AuditEvent, Operator
from tests.factories import NOON, make_account, make_draft, make_message, make_operator

pytestmark = pytest.mark.django_db


def html(client: Client, path: str = "/") -> str:
    response = client.get(path)
    assert response.status_code == 200
    return response.content.decode()


def test_a_fresh_start_says_what_to_do_next(desk: Client):
    page = html(desk)
    assert "Welcome to Colloquy" in page
    assert reverse("dialogue:connect") in page


def test_nothing_waiting_is_said_plainly(desk: Client):
    make_account()
    assert "Nothing waits for you" in html(desk)


def test_home_counts_what_needs_a_person(desk: Client):
    account = make_account(state="auth_failed")
    make_draft(account=account, made_at=NOON)
    make_draft(account=account, state="failed")
    make_draft(account=account, state="unknown", needs_person=True, asked_at=NOON)
    make_message(account=account, spam_status="suspect")
    page = html(desk)
    assert "5 things wait for you" in page
    for words in ("Drafts to review", "Failed drafts", "Unknown sends", "Suspect", "in trouble"):
        assert words in page


def test_what_waits_is_counted_with_the_age_of_the_oldest():
    for hours in (1, 5, 3):
        make_draft(made_at=NOON - timedelta(hours=hours))
    found = pages.waiting()["waiting"]
    assert (found.count, found.oldest) == (3, NOON - timedelta(hours=5))
    assert pages.waiting()["failed"] == pages.Waiting()


def test_a_flood_is_counted_to_a_thousand():
    assert pages.capped(999) == "999"
    assert pages.capped(1000) == "999+"


def test_the_frame_costs_at_most_three_queries_however_much_there_is(desk: Client):
    user = Operator.objects.get()

    def cost() -> int:
        request: Any = RequestFactory().get("/")
        request.user, request.resolver_match = user, None
        with CaptureQueriesContext(connection) as asked:
            shell = pages.shell(request)["shell"]
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
    assert cost() == few


def grow() -> None:
    account = make_account()
    make_draft(account=account)
    make_message(account=account, spam_status="suspect")
    pausing.pause("account", account.name, why="a test", by="operator:mira", now=NOON)
    AuditEvent.objects.record("draft.approved", actor="operator:mira", subject="draft:1", n=1)


def test_a_pause_from_any_page_comes_back_to_it_with_an_undo(desk: Client):
    account = make_account()
    response = desk.post(
        reverse("surfaces:pause"),
        {"what": f"account:{account.name}", "why": "upgrade", "next": "/ledger/"},
        follow=True,
    )
    assert response.redirect_chain == [("/ledger/", 302)]
    page = response.content.decode()
    assert f"{account.name} paused" in page
    assert "Undo" in page
    assert [pause.why for pause in pausing.live()] == ["upgrade"]
    desk.post(reverse("surfaces:resume"), {"scope": "account", "subject": account.name})
    assert not pausing.live()


def test_a_pause_never_leads_away(desk: Client):
    response = desk.post(
        reverse("surfaces:pause"), {"what": "all:", "why": "x", "next": "https://evil.example/"}
    )
    assert response.url == "/"
    assert "Sending paused" in html(desk)


def test_an_impossible_pause_is_refused_with_a_sentence(desk: Client):
    response = desk.post(reverse("surfaces:pause"), {"what": "surface:nowhere"}, follow=True)
    assert "There is no surface nowhere" in response.content.decode()


def test_viewers_see_everything_and_decide_nothing(client: Client):
    make_account()
    client.force_login(make_operator(role="viewer"))
    assert "Your role reads everything and decides nothing" in html(client)
    response = client.post(reverse("surfaces:pause"), {"what": "all:", "why": "x"})
    assert response.status_code == 403
    assert "Ask a moderator" in response.content.decode()
    assert not pausing.live()


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
    pausing.pause("all", why="<script>alert(1)</script>", by="operator:<b>", now=NOON)
    page = html(desk)
    assert "<script>alert" not in page
    assert "&lt;script&gt;" in page
