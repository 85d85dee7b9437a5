"""The desk holds exactly what waits for a person, in the transaction that makes it wait."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.db import connection, transaction
from django.utils import translation

from surfaces.desk import comment_items
from surfaces.desk.kinds import ActionInput
from surfaces.drafts import attempts, retry
from surfaces.drafts import services as draft_services
from surfaces.models import Account, DeskItem, Draft, Message
from surfaces.spam import feedback
from tests.factories import NOON, make_account, make_approved, make_draft, make_message

pytestmark = [pytest.mark.django_db, pytest.mark.engine]
MIRA = "operator:mira"


def kinds_of(item_id: int) -> list[str]:
    return sorted(DeskItem.objects.filter(item_id=item_id).values_list("kind", flat=True))


@pytest.mark.parametrize(
    ("facts", "kind"),
    [
        ({}, "draft"),
        ({"stale_why": "The comment was edited."}, "lapsed"),
        ({"state": "failed"}, "failed"),
        ({"state": "unknown", "needs_person": True}, "unknown"),
    ],
)
def test_a_draft_waits_on_the_desk_as_what_it_is(facts, kind):
    draft = make_draft(**facts)
    assert kinds_of(draft.pk) == [kind]


@pytest.mark.parametrize("state", ["composed", "withdrawn", "shadowed"])
def test_a_draft_that_nobody_must_decide_is_not_on_the_desk(state):
    assert kinds_of(make_draft(state=state).pk) == []


def test_a_doubt_that_is_still_looked_into_is_not_on_the_desk():
    assert kinds_of(make_draft(state="unknown", needs_person=False).pk) == []


def test_a_decision_takes_a_draft_off_the_desk():
    draft = make_draft()
    draft_services.approve(draft, digest=draft.digest(), by=MIRA, now=NOON)
    assert kinds_of(draft.pk) == []


def test_a_draft_around_which_something_moved_is_lapsed_and_is_there_once():
    draft = make_draft()
    Draft.objects.filter(pk=draft.pk).update(stale_why="The comment was edited.", stale_at=NOON)
    assert kinds_of(draft.pk) == ["lapsed"]
    Draft.objects.filter(pk=draft.pk).update(stale_why="")
    assert kinds_of(draft.pk) == ["draft"]


def test_a_suspect_comment_waits_until_somebody_says_what_it_is():
    comment = make_message(spam_status="suspect", spam_score=0.82)
    row = DeskItem.objects.get(kind="suspect", item_id=comment.pk)
    assert (row.risk, row.account_id, row.since) == (2, comment.account_id, comment.seen_at)
    feedback.mark(comment, is_spam=False, by=MIRA, now=NOON)
    assert kinds_of(comment.pk) == []
    feedback.unmark(comment, by=MIRA, now=NOON)
    assert kinds_of(comment.pk) == ["suspect"]


@pytest.mark.parametrize(
    "facts", [{"deleted_at": NOON}, {"direction": "outgoing"}, {"spam_status": "clean"}]
)
def test_what_is_gone_or_ours_or_clean_is_no_suspect(facts):
    comment = make_message(**({"spam_status": "suspect"} | facts))
    assert kinds_of(comment.pk) == []


def test_a_comment_that_is_deleted_at_the_source_leaves_the_desk():
    comment = make_message(spam_status="suspect")
    Message.objects.filter(pk=comment.pk).update(deleted_at=NOON)
    assert kinds_of(comment.pk) == []


def test_a_comment_given_up_without_words_waits_for_a_person():
    comment = make_message()
    Message.objects.filter(pk=comment.pk).update(reply_status="failed", reply_why="10 tries.")
    assert kinds_of(comment.pk) == ["given_up"]
    retry.retry_message(comment, by=MIRA, now=NOON)
    assert kinds_of(comment.pk) == []


def test_a_failed_reply_is_one_item_not_two():
    draft = make_draft()
    with transaction.atomic():
        draft.comment().update(reply_status="failed")
        Draft.objects.filter(pk=draft.pk).update(state="failed")
    assert kinds_of(draft.pk) == ["failed"]
    assert not DeskItem.objects.filter(kind="given_up").exists()


def test_an_account_in_trouble_waits_until_it_works():
    account = make_account()
    Account.objects.filter(pk=account.pk).update(state="auth_failed", state_why="401")
    assert DeskItem.objects.get(kind="account").words == "401"
    Account.objects.filter(pk=account.pk).update(state="ok")
    assert not DeskItem.objects.filter(kind="account").exists()


def test_deleting_an_account_takes_everything_of_it_off_the_desk():
    comment = make_message(spam_status="suspect")
    Message.objects.filter(account=comment.account).delete()
    assert DeskItem.objects.count() == 0


def test_an_edit_changes_the_words_and_not_the_place():
    draft = make_draft()
    before = DeskItem.objects.get(item_id=draft.pk)
    draft_services.edit(draft, text="Other words entirely.", by=MIRA, now=NOON + timedelta(hours=1))
    after = DeskItem.objects.get(item_id=draft.pk)
    assert "Other words entirely." in after.words
    assert (after.pk, after.since) == (before.pk, before.since)


def test_taking_the_transaction_back_takes_the_item_back():
    with transaction.atomic():
        make_draft()
        transaction.set_rollback(True)
    assert DeskItem.objects.count() == 0


def test_the_desk_is_what_the_tables_say_after_any_mixture_of_changes():
    for number in range(12):
        make_draft(state=["waiting", "failed", "withdrawn"][number % 3])
        make_message(spam_status=["suspect", "clean", None][number % 3])
    with connection.cursor() as cursor:
        cursor.execute("UPDATE messages SET spam_status = 'suspect' WHERE spam_status = 'clean'")
        cursor.execute("UPDATE surfaces_draft SET state = 'waiting' WHERE state = 'failed'")
    assert DeskItem.objects.filter(kind="suspect").count() == Message.objects.suspect().count() == 8
    assert DeskItem.objects.filter(kind="draft").count() == Draft.objects.waiting().count() == 8


def test_a_sending_that_fails_comes_to_the_desk():
    draft = make_approved()
    draft.advance("sending", lease_until=NOON + timedelta(minutes=1))
    attempts.give_up(draft, "Refused.", now=NOON, permanent=True)
    assert kinds_of(draft.pk) == ["failed"]
    assert not DeskItem.objects.filter(kind="given_up").exists()


def test_undoing_a_mark_says_in_the_readers_language_that_the_filters_verdict_applies_again():
    row = make_message(spam_status="suspect", spam_score=0.5)
    given = ActionInput(by="operator:mira", now=NOON)
    comment_items.spam(row, given)
    row.refresh_from_db()
    undo = comment_items.SPAM.undo
    assert undo
    with translation.override("zh-hans"):
        assert undo(row, given) == "已撤销。重新采用垃圾过滤器的判定。"
