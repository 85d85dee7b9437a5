"""The spam filter's page: how well it does, other thresholds, and who may set them."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from surfaces.adapters.types import Item, ItemKind
from surfaces.models import AuditEvent, Message
from surfaces.settings.instance import current
from surfaces.settings.services import change
from surfaces.spam import classify, feedback
from tests.factories import NOON, make_account, make_message, make_operator, make_post

pytestmark = pytest.mark.django_db
PAGE = "/spam-filter/"
FRAGMENT = {"HTTP_HX_REQUEST": "true", "HTTP_HX_TARGET": "replay"}
MOST_QUERIES = 12


def text(response: Any) -> str:
    assert response.status_code == 200
    return response.content.decode()


def said(status: str | None, score: float, *codes: str, **given: Any) -> Message:
    """A comment as the filter left it."""
    reasons = [[code, f"because of {code}"] for code in codes or ("links",)]
    now = {"seen_at": timezone.now(), "created_at": timezone.now()}
    return make_message(spam_status=status, spam_score=score, spam_reasons=reasons, **(now | given))


def decided(status: str | None, score: float, is_spam: bool, *codes: str, **given: Any) -> Message:
    comment = said(status, score, *codes, **given)
    feedback.mark(comment, is_spam=is_spam, by="operator:mira", now=timezone.now())
    return comment


@pytest.fixture
def admin(client: Client) -> Client:
    client.force_login(make_operator(username="ada", role="admin"))
    return client


# ── how well it does ──────────────────────────────────────────────────────


def test_without_decisions_the_page_says_how_it_starts(desk: Client):
    page = text(desk.get(PAGE))
    assert "No decisions yet" in page
    assert "No decisions yet." in page
    assert "By week" not in page


def test_the_filter_is_compared_with_the_operators(desk: Client):
    for status, is_spam in (("suspect", True), ("suspect", True), ("suspect", False), (None, True)):
        decided(status, 0.5 if status else 0.2, is_spam, content="win <b>now</b>")
    page = text(desk.get(PAGE))
    assert "Precision: 67 %" in page
    assert "marked 67 % of the spam" in page
    assert "4 decisions" in page
    assert "<b>now</b>" not in page


def test_a_week_with_too_few_decisions_says_so(desk: Client):
    decided("suspect", 0.5, True)
    assert "too few (1)" in text(desk.get(PAGE))
    for _ in range(5):
        decided("suspect", 0.5, True)
    page = text(desk.get(PAGE))
    assert "This week, 6 decisions: precision 100 %, recall 100 %." in page


def test_a_decision_says_who_when_what_was_learnt_and_can_be_undone(desk: Client):
    comment = decided("suspect", 0.62, True, "lure", content="blarg zonk wibble")
    page = text(desk.get(PAGE))
    for words in ["by mira", "3 words learned", "suspect, 0.62: <bdi>because of lure</bdi>"]:
        assert words in page
    assert reverse("surfaces:unmark", args=[comment.pk]) in page


def test_reasons_say_how_often_they_fired_and_were_right(desk: Client):
    for number in range(5):
        decided("suspect", 0.5, number < 4, "lure")
    said(None, 0.2, "lure")
    said(None, 0.2, "lure", seen_at=timezone.now() - timedelta(days=31))
    page = text(desk.get(PAGE))
    row = page[page.index("Scam phrases") :]
    row = row[: row.index("</tr>")]
    assert ">6</td>" in row
    assert ">5</td>" in row
    assert "80 %" in row


# ── other thresholds ──────────────────────────────────────────────────────


def test_other_thresholds_say_what_would_have_been_different(desk: Client):
    better = decided(None, 0.35, True, author="marlow")
    worse = decided("suspect", 0.55, True, author="finch")
    decided("spam", 0.95, True)
    page = text(desk.get(PAGE, {"suspect": "0.30", "spam": "0.99"}))
    assert "2 of 3 verdicts would change: 1 to match the operators, 1 to contradict" in page
    assert "1 decision with a stricter verdict" in page
    assert "1 decision with a milder verdict" in page
    assert reverse("surfaces:message", args=[better.pk]) in page
    assert reverse("surfaces:message", args=[worse.pk]) in page


def test_orders_to_our_agents_are_not_moved(desk: Client):
    decided("suspect", 0.45, True, "injection")
    page = text(desk.get(PAGE, {"suspect": "0.80", "spam": "0.90"}))
    assert "no stored verdict would change" in page


def test_comments_nobody_decided_on_are_counted_for_a_week_and_a_month(desk: Client):
    old = timezone.now() - timedelta(days=20)
    for seen_at in (timezone.now(), old, old):
        said(None, 0.35, seen_at=seen_at)
    said("suspect", 0.45, "injection")
    said("suspect", 0.45, "shouting")
    said("clean", 0.35)
    decided("suspect", 0.45, True)
    shifts = desk.get(PAGE, {"suspect": "0.30", "spam": "0.35"}).context["shifts"]
    assert [(s.to_person, s.to_spam) for s in shifts] == [(0, 1), (0, 3)]
    shifts = desk.get(PAGE, {"suspect": "0.30", "spam": "0.99"}).context["shifts"]
    assert [(s.to_person, s.let_through) for s in shifts] == [(1, 0), (3, 0)]
    shifts = desk.get(PAGE, {"suspect": "0.50", "spam": "0.99"}).context["shifts"]
    assert [(s.to_person, s.let_through) for s in shifts] == [(0, 1), (0, 1)]


def test_htmx_gets_only_what_would_change(desk: Client):
    decided(None, 0.35, True)
    page = text(desk.get(PAGE, {"suspect": "0.30", "spam": "0.90"}, **FRAGMENT))
    assert "1 of 1 verdicts" in page
    assert "<html" not in page
    assert 'id="replay-said"' in page


@pytest.mark.parametrize(
    ("suspect", "spam"),
    [("0.9", "0.4"), ("x", "0.4"), ("nan", "0.9"), ("0.4", "inf"), ("0.05", "0.9"), ("", ""),
     ("0.5", "0.5"), ("-1", "0.5"), ("0.4", "1e400")],
)  # fmt: skip
def test_thresholds_that_cannot_be_are_answered_with_what_can(
    desk: Client, suspect: str, spam: str
):
    page = text(desk.get(PAGE, {"suspect": suspect, "spam": spam}))
    assert "The thresholds in use are shown below." in page
    assert 'value="0.40"' in page


# ── setting them ──────────────────────────────────────────────────────────


def test_an_admin_sets_thresholds_and_takes_it_back(admin: Client):
    ask = text(admin.get(PAGE, {"suspect": "0.30", "spam": "0.80"}))
    assert "Suspect from 0.30 instead of 0.40" in ask
    page = text(admin.post(f"{PAGE}thresholds", {"suspect": "0.30", "spam": "0.80"}, follow=True))
    assert current().suspect_from == 0.30
    assert "in use: suspect from 0.30, spam from 0.80" in page
    line = AuditEvent.objects.called("house.changed").get()
    assert (line.actor, line.facts["suspect_from"]) == ("operator:ada", [0.4, 0.3])
    admin.post(f"{PAGE}thresholds/undo", {"line": line.pk})
    assert current().suspect_from == 0.40


@pytest.mark.parametrize("given", [{"suspect": "0.9", "spam": "0.4"}, {}, {"suspect": "x"}])
def test_thresholds_out_of_order_are_not_set(admin: Client, given: dict[str, str]):
    page = text(admin.post(f"{PAGE}thresholds", given, follow=True))
    assert "Not done:" in page
    assert current().suspect_from == 0.40


def test_an_undo_of_nothing_says_so(admin: Client):
    for line in ("", "x", "9" * 30, "1"):
        assert admin.post(f"{PAGE}thresholds/undo", {"line": line}).status_code == 404


def test_a_moderator_tries_thresholds_and_cannot_set_them(desk: Client):
    decided(None, 0.35, True)
    page = text(desk.get(PAGE, {"suspect": "0.30", "spam": "0.80"}))
    assert "Only an administrator can change them" in page
    answer = desk.post(f"{PAGE}thresholds", {"suspect": "0.30", "spam": "0.80"})
    assert answer.status_code == 403
    assert current().suspect_from == 0.40


def test_a_viewer_sees_it_all_and_can_undo_nothing(client: Client):
    client.force_login(make_operator(role="viewer"))
    decided("suspect", 0.5, True, author="marlow")
    page = text(client.get(PAGE))
    assert "marlow" in page
    assert "read-only access" in page
    undo = page[page.index('aria-label="Undo: marlow"') - 60 :][:60]
    assert "disabled" in undo


def test_the_filter_judges_by_the_thresholds_that_were_set():
    links = " ".join(f"http://place{n}.org/" for n in range(3))
    item = Item(remote_id="a", kind=ItemKind.COMMENT, post_id="p", author="x", created_at=NOON,
                content=f"look at {links}")  # fmt: skip
    before = classify.classify_items(make_account(), [item], NOON)["a"]
    change(current(), {"suspect_from": before.score + 0.01}, by="operator:ada", now=NOON)
    after = classify.classify_items(make_account(), [item], NOON)["a"]
    assert (before.status, after.status) == ("suspect", None)
    assert before.score == after.score


# ── reach and price ───────────────────────────────────────────────────────


def test_a_limited_operator_sees_decisions_on_their_accounts_only(client: Client):
    mine, other = make_account(), make_account()
    person = make_operator(role="moderator")
    person.surfaces.add(mine.surface)
    client.force_login(person)
    decided("suspect", 0.5, True, post=make_post(account=mine), author="marlow")
    decided(None, 0.35, True, post=make_post(account=other), author="finch")
    said(None, 0.35, post=make_post(account=other))
    response = client.get(PAGE, {"suspect": "0.30", "spam": "0.80"})
    page = text(response)
    assert "marlow" in page
    assert "finch" not in page
    assert "1 decision, on your accounts" in page
    assert response.context["shifts"][1].total == 0


def test_the_page_takes_as_many_queries_for_many_rows_as_for_few(desk: Client):
    post = make_post()
    for number in range(12):
        decided("suspect", 0.5, number % 2 == 0, post=post)
        decided(None, 0.35, number % 2 == 1, post=post)
    with CaptureQueriesContext(connection) as whole:
        text(desk.get(PAGE, {"suspect": "0.30", "spam": "0.99"}))
    assert len(whole) <= MOST_QUERIES
    with CaptureQueriesContext(connection) as part:
        text(desk.get(PAGE, {"suspect": "0.30", "spam": "0.99"}, **FRAGMENT))
    assert len(part) <= MOST_QUERIES
