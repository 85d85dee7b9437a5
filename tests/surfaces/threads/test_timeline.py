"""One message from seen to sent, out of the ledger and the rows."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from surfaces.drafts import services as draft_services
from surfaces.messages import store
from surfaces.models import AuditEvent, Draft, Message
from surfaces.spam.scoring import Thresholds
from surfaces.threads import timeline
from tests.factories import NOON, make_approved, make_draft, make_message, make_post

pytestmark = pytest.mark.django_db
HOUR = timedelta(hours=1)


def words_of(steps) -> list[str]:
    return [step.words for step in steps]


def line(action: str, row, **given) -> None:
    AuditEvent.objects.record(action, actor="sender", subject=row, **given)


def test_every_try_to_send_is_told_with_what_came_of_it():
    draft = make_draft()
    for action in ("draft.approved", "draft.later", "draft.unknown", "draft.found_absent",
                   "draft.unknown", "draft.needs_person", "draft.settled_absent", "draft.sent",
                   "draft.retracted"):  # fmt: skip
        line(action, draft, why=f"because of {action}")
    Draft.objects.filter(pk=draft.pk).update(state="sent", sent_at=NOON)
    steps = timeline.of_message(draft.target)
    assert words_of(steps)[2:] == [
        "Approved", "Sending postponed", "Sent, but the service did not confirm",
        "Checked: not on the surface",
        "Sent, but the service did not confirm", "Checked: inconclusive, needs a decision",
        "Marked as not delivered", "Sent", "Deleted from the surface",
    ]  # fmt: skip
    assert [step.how for step in steps[2:6]] == ["done", "warn", "fail", "warn"]
    assert str(steps[3].why) == "because of draft.later"


def test_what_was_put_off_says_when_it_is_tried_again():
    draft = make_draft()
    line("draft.later", draft, until="2026-11-21T12:04:10+00:00")
    assert timeline.of_draft(draft)[-2].measures == "next attempt 12:04:10"
    line("draft.later", draft, until="soon")
    assert timeline.of_draft(draft)[-2].measures == ""


def test_our_own_words_are_told_from_what_they_answer():
    question = make_message(spam_score=0.1)
    ours = make_message(post=question.post, parent=question, direction="outgoing")
    draft = make_draft(target=question, state="sent", sent_at=NOON, message=ours)
    line("draft.sent", draft)
    line("message.edited", ours, before="what it said")
    assert words_of(timeline.of_message(ours)) == [
        f"Written on {question.account.surface.name}", "Read by the watcher", "No verdict", "Sent",
        "Edited on the surface",
    ]  # fmt: skip


def test_words_of_ours_without_a_draft_are_ours():
    post = make_post()
    assert words_of(timeline.of_message(post)) == [f"Sent by us on {post.account.surface.name}"]


def test_a_message_that_went_missing_is_said_although_no_line_tells_it():
    gone = make_message(deleted_at=NOON + HOUR)
    assert words_of(timeline.of_message(gone))[-1] == "No longer on the surface"
    line("message.deleted", gone)
    assert words_of(timeline.of_message(gone))[-1] == "Deleted on the surface"


def test_an_edit_at_the_source_shows_what_it_said_before():
    message = make_message(content="The tide is late.")
    store._mark(message, "message.edited", NOON, content="The tide is early.", edited_at=NOON)
    steps = timeline.of_message(Message.objects.get(pk=message.pk))
    (change,) = steps[-1].changes
    assert [(piece.kind, piece.text) for piece in change.pieces][1:] == [
        ("gone", "late"), ("new", "early"), ("same", "."),
    ]  # fmt: skip


def test_the_filters_word_is_measured_by_the_houses_thresholds():
    message = make_message(spam_score=0.5, spam_status="clean", spam_reasons=[["link", "A link"]])
    step = timeline.of_message(message, thresholds=Thresholds(suspect=0.3, spam=0.9))[2]
    assert (step.words, step.measures) == ("Held for review as suspect", "score 0.50, from 0.30")
    assert str(step.why) == "A link"
    step = timeline.of_message(message)[2]
    assert (step.words, step.measures) == ("No verdict", "score 0.50")


def test_what_is_to_come_has_its_time_where_that_is_known():
    soon = timezone.now() + HOUR
    waiting = make_draft(expires_at=soon)
    assert [(step.words, step.at) for step in timeline.of_draft(waiting)[-2:]] == [
        ("Waiting for review", None),
        ("Expires unless an operator decides", soon),
    ]
    approved = make_approved(not_before=soon)
    last = timeline.of_draft(approved)[-1]
    assert (last.words, last.how, last.at) == ("Sent", "next", soon)


def test_a_hundred_edits_are_shown_and_a_flood_is_cut(noon):
    draft = make_draft()
    for number in range(3):
        draft_services.edit(draft, text=f"Words {number}.", by="operator:mira", now=noon)
    for number in range(300):
        line("draft.later", draft, why=f"try {number}")
    assert len(timeline.of_draft(draft)) <= timeline.MOST + 4
