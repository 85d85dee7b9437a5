from __future__ import annotations

from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from surfaces.models import AuditEvent, Draft, Message, SpamDecision
from tests.factories import NOON, make_draft, make_message, make_operator, make_post

pytestmark = pytest.mark.django_db
LIST = "/messages/"
HTMX = {"HTTP_HX_REQUEST": "true", "HTTP_HX_CURRENT_URL": "http://testserver/messages/?q=x"}


def act(name: str, message: Message) -> str:
    return reverse(f"surfaces:{name}", args=[message.pk])


def text(response) -> str:
    return response.content.decode()


# ── the list ──────────────────────────────────────────────────────────────


def test_the_empty_list_says_what_to_do_next(desk):
    page = text(desk.get(LIST))
    assert "No messages yet" in page
    assert reverse("surfaces:surfaces") in page


def test_a_filter_that_matches_nothing_leads_back_to_everything(desk):
    make_message()
    assert "No messages match" in text(desk.get(LIST, {"author": "nobody"}))


def test_a_row_says_who_where_what_and_its_state(desk):
    post = make_post(title="On reefs", submolt="m/tides")
    make_message(post=post, author="ann", content="Which reef?", submolt="m/tides",
                 spam_status="suspect", spam_reasons=[["link", "A link to a new domain"]],
                 reply_status="failed", reply_attempts=10, reply_why="It timed out.")  # fmt: skip
    page = text(desk.get(LIST, {"kind": "comment"}))
    for words in ["ann", "m/tides", "On reefs", "Which reef?", "suspect", "A link to a new domain",
                  "failed, 10 of 10 attempts", "It timed out."]:  # fmt: skip
        assert words in page


def test_strangers_words_stay_words(desk):
    make_message(author="<b>ann</b>", content="<script>alert(1)</script>\u202etxt")
    page = text(desk.get(LIST))
    assert "<script>alert" not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
    assert "\u202e" not in page
    assert "<b>ann</b>" not in page


def test_right_to_left_words_are_set_apart(desk):
    make_message(author="سارة", content="هل التكرار سطح؟")
    assert "<bdi>هل التكرار سطح؟</bdi>" in text(desk.get(LIST))


@pytest.mark.parametrize(
    "query",
    ["before=garbage", "after=%00", "q=%00%FF", "author=%F0%28", "q=%FF"],
)
def test_a_broken_query_is_refused(desk, query):
    assert desk.get(f"{LIST}?{query}").status_code == 400


def test_unknown_values_of_filters_show_a_page(desk):
    make_message()
    response = desk.get(f"{LIST}?account=x&kind=y&spam_status=z")
    assert response.status_code == 200


def test_what_is_left_out_is_said(desk):
    assert "is not one of" in text(desk.get(LIST, {"spam_status": "<i>purple"}))
    assert "<i>purple" not in text(desk.get(LIST, {"spam_status": "<i>purple"}))


def test_fifty_rows_and_then_a_link_to_the_older(desk):
    post = make_post()
    for number in range(60):
        make_message(post=post, created_at=NOON + timedelta(minutes=number))
    page = text(desk.get(LIST))
    assert page.count('id="message-') == 50
    assert 'rel="next"' in page


def test_the_queries_of_the_list_do_not_grow_with_its_rows(desk):
    post = make_post()
    make_message(post=post)
    few = _queries(desk, LIST)
    for _ in range(55):
        make_message(post=post)
    make_message(post=make_post())
    assert _queries(desk, LIST) == few <= 8


def test_who_is_not_signed_in_sees_nothing(client):
    assert client.get(LIST).status_code == 302


def test_a_message_leads_to_its_place_in_its_thread(desk):
    message = make_message()
    response = desk.get(act("message", message))
    assert response.url == f"/threads/{message.post_id}/?message={message.pk}#m{message.pk}"


# ── spam and clean ────────────────────────────────────────────────────────


def test_marking_spam_withdraws_the_draft_and_can_be_undone(desk):
    draft = make_draft()
    target = draft.target
    response = desk.post(act("mark_spam", target), {"next": "/messages/?q=x"}, follow=True)
    draft.refresh_from_db()
    target.refresh_from_db()
    assert (draft.state, target.spam_status) == ("withdrawn", "spam")
    assert response.redirect_chain[0][0] == "/messages/?q=x"
    assert act("unmark", target) in text(response), "the toast carries the undo"

    desk.post(act("unmark", target))
    target.refresh_from_db()
    assert target.spam_status is None
    assert not SpamDecision.objects.exists()


def test_htmx_gets_the_row_and_the_toast_in_one_answer(desk):
    message = make_message()
    page = text(desk.post(act("mark_clean", message), **HTMX))
    assert page.lstrip().startswith(f'<li id="message-{message.pk}"')
    assert 'id="toasts"' in page
    assert 'hx-swap-oob="true"' in page
    assert 'name="next" value="/messages/?q=x"' in page, "undo leads back to the list"
    assert "<html" not in page


def test_undoing_what_nobody_did_is_a_sentence(desk):
    message = make_message()
    page = text(desk.post(act("unmark", message), follow=True))
    assert "nothing to undo" in page


def test_our_own_words_are_not_judged(desk):
    ours = make_message(direction="outgoing")
    assert "One of our accounts wrote this" in text(desk.post(act("mark_spam", ours), follow=True))
    assert not AuditEvent.objects.exists()


@pytest.mark.parametrize("to", ["https://evil.example/", "//evil.example", "javascript:alert(1)"])
def test_nobody_is_sent_elsewhere_after_an_act(desk, to):
    message = make_message()
    response = desk.post(act("mark_spam", message), {"next": to})
    assert response.url == act("message", message)


@pytest.mark.parametrize("name", ["mark_spam", "mark_clean", "unmark", "answer"])
def test_acts_are_posts_and_need_the_role(client, name):
    message = make_message()
    client.force_login(make_operator(role="viewer"))
    assert client.get(act(name, message)).status_code == 405
    assert client.post(act(name, message), {"text": "hm"}).status_code == 403
    assert 'data-key="s"' not in text(client.get(LIST))


def test_a_message_that_is_not_there_is_a_404(desk):
    assert desk.post("/messages/999/spam").status_code == 404
    assert desk.get("/messages/999/").status_code == 404


# ── an answer by hand ─────────────────────────────────────────────────────


def test_an_answer_by_hand_becomes_a_waiting_draft(desk):
    message = make_message()
    response = desk.post(act("answer", message), {"text": "Because it moves."})
    draft = Draft.objects.get()
    assert (draft.what, draft.state, draft.made_by) == ("reply", "waiting", "operator:mira")
    assert response.url.endswith(f"?message={message.pk}#draft-{draft.pk}")
    assert "Because it moves." in text(desk.get(response.url))


def test_an_answer_to_the_post_is_a_comment(desk):
    desk.post(act("answer", make_post()), {"text": "And one more thing."})
    assert Draft.objects.get().what == "comment"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("", "text is empty"),
        ("a\x07b", "control characters"),
        ("x" * 2_000_000, "2,000,000 characters"),
    ],
    ids=["empty", "bell", "2 MB"],
)
def test_what_cannot_be_said_is_refused_with_a_sentence_and_kept(desk, words, said):
    message = make_message()
    response = desk.post(act("answer", message), {"text": words})
    page = text(response)
    assert response.status_code == 422
    assert said in page
    assert words in page
    assert not Draft.objects.exists()


def test_answering_what_is_being_answered_says_so_and_keeps_the_words(desk):
    draft = make_draft()
    response = desk.post(act("answer", draft.target), {"text": "My own words"})
    assert response.status_code == 422
    assert "already replies to this comment" in text(response)
    assert "My own words" in text(response)


def _queries(desk, url: str) -> int:
    with CaptureQueriesContext(connection) as queries:
        desk.get(url)
    return len(queries)
