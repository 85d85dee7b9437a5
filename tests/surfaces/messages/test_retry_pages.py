"""The margin says why a comment is not answered, and a person may ask for an answer after all."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from surfaces.models import AuditEvent, Message
from surfaces.text.reasons import note, reason
from tests.factories import NOON, make_draft, make_message, make_operator
from tests.surfaces.drafts.pages import text

pytestmark = pytest.mark.django_db
HTMX = {"HTTP_HX_REQUEST": "true"}
FAILED = {"reply_status": "failed", "reply_attempts": 10, "reply_why": "Tried 10 times."}


def thread_of(message: Message) -> str:
    return f"/threads/{message.post_id}/"


def note_of(desk, message: Message) -> str:
    """What stands in the margin beside the message."""
    page = text(desk.get(thread_of(message)))
    margin = page[page.index(f'id="m{message.pk}"') :]
    return margin[margin.index('class="note"') :].split("</article>")[0]


@pytest.mark.parametrize(
    ("given", "lead", "why"),
    [
        ({"reply_why": reason("decision.waits_until", why=note("outside its hours"),
                              until=datetime(2026, 11, 22, 8, tzinfo=UTC))}, "Waiting.",
         "Outside its hours, until 22 Nov, 08:00 UTC."),
        ({"reply_why": reason("decision.passed", why=note("enough was said in this thread"))},
         "Skipped.", "Enough was said in this thread."),
        ({"reply_why": reason("decision.held", why=note("a person looks first."))}, "Held.",
         "A person looks first."),
        ({"reply_why": "Nothing was asked: it thanks."}, "Skipped.",
         "Nothing was asked: it thanks."),
        (FAILED | {"reply_why": reason("decision.passed", why=note("it was deleted"))},
         "Reply failed.", "It was deleted."),
        ({"reply_status": "pending", "reply_attempts": 2, "reply_why": "Try 2 failed: no answer."},
         "Reply in progress.", "Try 2 failed: no answer. Attempt 2 of 10."),
    ],
)  # fmt: skip
def test_the_margin_says_what_was_decided_and_why(desk, given, lead, why):
    note = note_of(desk, make_message(**given))
    assert f"<b>{lead}</b> <bdi>{why}</bdi>" in note


@pytest.mark.parametrize(
    ("judged", "lead"),
    [("rejected", "Draft rejected by mira."), ("sent_back", "Draft sent back by mira.")],
)
def test_the_margin_tells_a_rejection_from_a_note(desk, judged, lead):
    given = {"decided_by": "operator:mira", "why": "Shorter.", "judged": judged}
    draft = make_draft(state="withdrawn", **given)
    assert f"<b>{lead}</b> <bdi>Shorter.</bdi>" in note_of(desk, draft.target)


def test_a_failed_comment_is_tried_again_from_its_thread(desk):
    question = make_message(**FAILED)
    assert f"/messages/{question.pk}/try_again" in text(desk.get(thread_of(question)))
    given = {"next": f"/threads/{question.post_id}/?message={question.pk}"}
    response = desk.post(f"/messages/{question.pk}/try_again", given)
    assert response.url == given["next"]
    page = text(desk.get(response.url))
    assert "Attempts reset; up to 10 more." in page
    assert "Attempts reset" in page, "the timeline tells it"
    assert question in Message.objects.awaiting_reply()


def test_a_failed_comment_is_tried_again_from_the_list(desk):
    question = make_message(**FAILED)
    assert "try_again" in text(desk.get("/messages/?reply_status=failed"))
    row = text(desk.post(f"/messages/{question.pk}/try_again", **HTMX))
    assert row.lstrip().startswith(f'<li id="message-{question.pk}"')
    assert "try_again" not in row


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"reply_status": "sent"},
        {"reply_status": "pending", "reply_why": "Try 1 failed: no answer."},
        {"reply_why": "Waits: outside its hours."},
        FAILED | {"spam_status": "spam"},
        FAILED | {"deleted_at": NOON},
        {"direction": "outgoing"},
    ],
    ids=["new", "answered", "pending", "waits", "spam", "deleted", "ours"],
)
def test_only_what_was_given_up_offers_another_try(desk, given):
    question = make_message(**given)
    for page in (thread_of(question), "/messages/"):
        assert "try_again" not in text(desk.get(page))


def test_what_is_on_its_way_offers_no_other_try(desk):
    draft = make_draft(target=make_message(**FAILED))
    assert "try_again" not in text(desk.get(thread_of(draft.target)))


def test_what_stands_against_it_is_said(desk):
    question = make_message(**(FAILED | {"deleted_at": NOON}))
    response = desk.post(f"/messages/{question.pk}/try_again", follow=True)
    assert "deleted on the surface" in text(response)
    assert not AuditEvent.objects.exists()


def test_trying_again_is_a_post_and_needs_the_role(client):
    question = make_message(**FAILED)
    client.force_login(make_operator(role="viewer"))
    assert client.get(f"/messages/{question.pk}/try_again").status_code == 405
    assert client.post(f"/messages/{question.pk}/try_again").status_code == 403
    assert "try_again" not in text(client.get(thread_of(question)))
