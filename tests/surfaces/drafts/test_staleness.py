"""Stale drafts lapse: what moved while a draft waited is said beside it, once."""

from __future__ import annotations

import threading
from datetime import timedelta

import pytest
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from surfaces.drafts import services as draft_services
from surfaces.drafts import staleness
from surfaces.models import AuditEvent, Draft, Message
from tests.factories import NOON, make_draft, make_message, make_post

pytestmark = [pytest.mark.django_db, pytest.mark.engine]
MIRA = "operator:mira"
LATER = NOON + timedelta(minutes=3)
BEFORE = NOON - timedelta(minutes=3)
EDITED = "The comment was edited on the surface."


def moved(draft: Draft) -> str:
    """Look once, and return what stands beside the draft."""
    staleness.mark_stale(now=LATER)
    draft.refresh_from_db()
    return str(draft.stale_why)


def change(draft: Draft, **facts) -> None:
    Message.objects.filter(pk=draft.target_id).update(**facts)


def again(draft: Draft, **given) -> Message:
    """The author of the comment writes once more."""
    ordinary = {
        "post": draft.target.post,
        "author": draft.target.author,
        "created_at": LATER,
        "seen_at": LATER,
    }
    return make_message(**(ordinary | given))


def test_nothing_moved():
    draft = make_draft()
    assert moved(draft) == ""
    assert draft.stale_at is None
    assert not AuditEvent.objects.exists()


@pytest.mark.parametrize(
    ("facts", "says"),
    [
        ({"edited_at": LATER}, EDITED),
        ({"deleted_at": LATER}, "The comment was deleted on the surface."),
        ({"spam_status": "spam"}, "The comment was marked as spam."),
    ],
    ids=["edited", "deleted", "spam"],
)
def test_what_became_of_the_comment_is_said(facts: dict, says: str):
    draft = make_draft()
    change(draft, **facts)
    assert moved(draft) == says
    assert draft.stale_at == LATER


def test_an_edit_the_service_dates_before_the_draft_counts_when_it_is_read():
    """The comment was edited at 11:57, answered at noon in its old words, and read again later."""
    draft = make_draft()
    change(draft, edited_at=BEFORE)
    assert moved(draft) == ""
    AuditEvent.objects.create(
        action="message.edited", actor="watcher", subject=f"message:{draft.target_id}", at=LATER
    )
    assert moved(draft) == EDITED


def test_an_answer_written_elsewhere_is_said():
    draft = make_draft()
    make_message(post=draft.target.post, parent=draft.target, direction="outgoing", seen_at=LATER)
    assert moved(draft) == "The comment was answered elsewhere."


def test_a_newer_comment_of_the_author_is_said_by_name():
    draft = make_draft(target=make_message(author="@ana\n\x01b"))
    again(draft)
    assert moved(draft) == "@ana b wrote again in this thread."


@pytest.mark.parametrize(
    "given",
    [
        {"author": "ben"},
        {"post": None},
        {"seen_at": BEFORE},
        {"created_at": BEFORE},
        {"spam_status": "spam"},
        {"deleted_at": LATER},
        {"direction": "outgoing"},
    ],
    ids=lambda given: next(iter(given)),
)
def test_what_does_not_bear_on_the_answer_is_not_news(given: dict):
    draft = make_draft(target=make_message(author="ana"))
    if "post" in given:
        given = {"post": make_post(account=draft.account)}
    again(draft, **given)
    assert moved(draft) == ""


def test_all_that_moved_is_said_once():
    draft = make_draft(target=make_message(author="ana"))
    change(draft, edited_at=LATER, deleted_at=LATER)
    again(draft)
    says = f"{EDITED} The comment was deleted on the surface. @ana wrote again in this thread."
    assert [moved(draft), moved(draft)] == [says, says]
    line = AuditEvent.objects.about(draft).get(action="draft.went_stale")
    assert str(line.why) == says
    assert staleness.mark_stale(now=LATER) == 0


def test_more_that_moves_later_is_added_and_noted():
    draft = make_draft(target=make_message(author="ana"))
    change(draft, edited_at=LATER)
    moved(draft)
    again(draft)
    assert moved(draft) == f"{EDITED} @ana wrote again in this thread."
    assert AuditEvent.objects.about(draft).called("draft.went_stale").count() == 2


def test_what_comes_back_is_unsaid():
    draft = make_draft()
    change(draft, deleted_at=LATER)
    assert moved(draft)
    change(draft, deleted_at=None)
    assert moved(draft) == ""
    assert draft.stale_at is None
    assert AuditEvent.objects.about(draft).count() == 1, "only going stale is an event"


def test_an_older_comment_read_late_is_news_only_to_what_answers_one_still_older():
    first = make_message(author="ana")
    second = make_message(author="ana", post=first.post, created_at=LATER)
    older, newer = (make_draft(target=target, made_at=LATER) for target in (first, second))
    between, late = NOON + timedelta(minutes=1), LATER + timedelta(minutes=1)
    again(older, created_at=between, seen_at=late)
    assert moved(older) == "@ana wrote again in this thread."
    assert moved(newer) == ""


def test_under_a_post_only_the_post_matters():
    post = make_post(direction="incoming", author="ana")
    draft = make_draft(what="comment", target=post)
    make_draft(target=make_message(post=post, author="ana"))
    again(draft)
    make_message(post=post, parent=post, direction="outgoing", seen_at=LATER)
    assert moved(draft) == ""
    change(draft, edited_at=LATER)
    assert moved(draft) == "The post was edited on the surface."


@pytest.mark.parametrize("state", ["withdrawn", "failed", "shadowed"])
def test_only_what_waits_goes_stale(state: str):
    draft = make_draft(state=state)
    change(draft, edited_at=LATER)
    assert moved(draft) == ""


def test_who_edits_has_seen_what_moved_before():
    now = timezone.now()
    draft = make_draft(target=make_message(author="ana"), made_at=now - timedelta(hours=1))
    change(draft, edited_at=now - timedelta(minutes=5))
    assert moved(draft) == EDITED
    draft_services.edit(draft, text="better words", by=MIRA, now=now)
    assert moved(draft) == ""
    after = timezone.now() + timedelta(seconds=1)
    again(draft, created_at=after, seen_at=after)
    assert moved(draft) == "@ana wrote again in this thread."


def test_what_one_author_said_in_many_threads_is_kept_apart():
    stale, calm = (make_draft(target=make_message(author="ana")) for _ in range(2))
    again(stale)
    assert moved(stale)
    assert moved(calm) == ""


def test_however_many_wait_it_is_one_statement():
    for _ in range(5):
        change(make_draft(), edited_at=LATER)
    make_draft()
    with CaptureQueriesContext(connection) as queries:
        assert staleness.mark_stale(now=LATER) == 5
    assert len(queries) == 1


@pytest.mark.django_db(transaction=True)
def test_a_draft_somebody_decides_on_at_this_moment_is_left_to_the_next_round():
    busy, free = make_draft(), make_draft()
    change(busy, edited_at=LATER)
    change(free, edited_at=LATER)
    held, looked = threading.Event(), threading.Event()

    def decide() -> None:
        with transaction.atomic():
            Draft.objects.select_for_update().get(pk=busy.pk)
            held.set()
            looked.wait(timeout=10)
        connection.close()

    deciding = threading.Thread(target=decide)
    deciding.start()
    held.wait(timeout=10)
    first = staleness.mark_stale(now=LATER)
    looked.set()
    deciding.join()
    assert (first, staleness.mark_stale(now=LATER)) == (1, 1)
