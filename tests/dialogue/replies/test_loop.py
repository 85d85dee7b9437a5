"""The reply loop: one draft for each comment, or a reason why there is none."""

from __future__ import annotations

from itertools import count

import pytest

from dialogue.inbox import collect
from dialogue.models import Activation, Notification
from dialogue.replies import loop
from surfaces.drafts import retry
from surfaces.drafts import services as draft_services
from surfaces.models import Draft, Message
from surfaces.spam import feedback
from tests.dialogue.replies.factories import MINUTE, World, of
from tests.factories import NOON, make_account, make_draft, make_message, make_presence

pytestmark = [pytest.mark.django_db, pytest.mark.engine]


def test_a_comment_is_answered_with_a_draft_that_waits_for_a_person(world):
    comment = world.comment()
    assert world.round().drafted == 1
    draft = Draft.objects.get()
    assert (draft.target, draft.state, draft.origin) == (comment, "waiting", "scripted")
    assert draft.agent == world.agent.slug
    assert draft.text == "\n\n".join(filter(None, [draft.terms, draft.pointer, draft.exit]))
    comment.refresh_from_db()
    assert (comment.reply_attempts, comment.reply_status) == (1, "pending")
    assert (of(comment).draft, of(comment).read_at) == (draft, None)
    woken = Activation.objects.get()
    assert (woken.state, woken.draft) == ("done", draft)
    assert [step.kind for step in woken.steps.all()][-1] == "checked"


def test_it_is_not_written_twice_however_often_the_loop_runs(world):
    world.comment()
    for _ in range(5):
        world.round(MINUTE)
    assert Draft.objects.count() == Activation.objects.count() == 1


def test_in_auto_mode_the_words_are_approved_at_once():
    world = World(mode="auto")
    world.comment()
    world.round()
    draft = Draft.objects.get()
    assert (draft.state, draft.decided_by) == ("approved", "mode:auto")


def test_in_shadow_the_would_be_reply_is_kept_and_written_once():
    world = World(mode="shadow")
    comment = world.comment()
    for _ in range(4):
        world.round(MINUTE)
    assert Draft.objects.get().state == "shadowed"
    assert (str(of(comment).outcome), of(comment).verdict) == ("passed", "shadowed")
    comment.refresh_from_db()
    assert comment.reply_status is None


def test_a_sent_reply_makes_the_notification_read():
    world = World(mode="auto")
    comment = world.comment()
    world.round()
    Draft.objects.update(state="sent", sent_at=world.now)
    world.round(MINUTE)
    assert (str(of(comment).outcome), of(comment).read_at) == ("answered", world.now)


def test_a_passed_comment_says_why_in_both_places(world):
    comment = world.comment(deleted_at=None)
    collect.collect(now=NOON)
    Message.objects.filter(pk=comment.pk).update(deleted_at=NOON)
    assert world.round().passed == 1
    comment.refresh_from_db()
    assert (
        str(of(comment).why) == str(comment.reply_why) == "No reply: it was deleted on the surface."
    )
    assert of(comment).read_at == NOON


def test_an_answer_given_elsewhere_is_found_and_said(world):
    comment = world.comment()
    make_message(post=comment.post, parent=comment, direction="outgoing", author="iris")
    world.round()
    comment.refresh_from_db()
    assert (comment.reply_status, str(of(comment).outcome)) == ("sent", "answered")
    assert not Draft.objects.exists()


@pytest.mark.parametrize(
    ("handle", "author"), [("Gabriel", "gabriel"), ("ära", "ÄRA"), ("ΝΙΚΟΣ", "νικος")]
)
def test_a_comment_by_another_agent_of_ours_is_left_alone(world, handle: str, author: str):
    make_presence(account=make_account(surface=world.account.surface, handle=handle))
    comment = world.comment(author=author)
    world.round()
    assert of(comment).verdict == "our_agent"


def test_a_rejected_draft_is_not_written_again_until_a_person_asks(world):
    comment = world.comment()
    world.round()
    draft_services.withdraw(Draft.objects.get(), by="operator:mira", now=world.now, why="Off topic")
    for _ in range(3):
        world.round(MINUTE)
    assert Draft.objects.count() == 1
    assert str(of(comment).why).endswith("an operator rejected the draft: mira: Off topic.")
    comment.refresh_from_db()
    retry.retry_message(comment, by="operator:mira", now=world.now)
    assert world.round(MINUTE).drafted == 1


def test_a_draft_sent_back_is_written_again_with_the_note_in_mind(world):
    world.comment()
    world.round()
    draft_services.send_back(
        Draft.objects.get(), note="Ask about the moon.", by="operator:mira", now=world.now
    )
    assert world.round(MINUTE).drafted == 1
    assert Draft.objects.count() == 2


def test_a_comment_marked_as_spam_is_passed_and_taken_up_again_when_unmarked(world):
    comment = world.comment()
    world.round()
    feedback.mark(comment, is_spam=True, by="operator:mira", now=world.now)
    world.round(MINUTE)
    assert of(comment).verdict == "spam"
    comment.refresh_from_db()
    assert Draft.objects.get().state == "withdrawn"
    feedback.unmark(comment, by="operator:mira", now=world.now)
    assert Draft.objects.get().state == "waiting"  # restored, so none is written anew
    assert (world.round(MINUTE).waits, of(comment).verdict) == (1, "drafted")
    assert (Draft.objects.count(), of(comment).read_at) == (1, None)


def test_told_to_stop_it_leaves_the_rest_for_the_next(world):
    for _ in range(3):
        world.comment()
    collect.collect(now=NOON)
    asked = iter([False, True, True, True])
    loop.answer_due("a worker", clock=lambda: NOON, until=lambda: next(asked))
    assert Notification.objects.filter(draft=None, read_at=None).count() >= 2


def test_a_draft_by_hand_for_the_same_comment_is_waited_for(world):
    comment = world.comment()
    draft = make_draft(target=comment)
    world.round()
    assert (of(comment).verdict, of(comment).draft) == ("drafted", draft)
    assert Draft.objects.count() == 1


def test_what_is_marked_as_sent_is_read_and_does_not_turn_the_loop_round(world):
    comment = world.comment(reply_status="sent")
    collect.collect(now=world.now)
    asked = count()
    loop.answer_due("a worker", clock=lambda: NOON, until=lambda: next(asked) > 20)
    assert next(asked) < 5
    assert str(of(comment).outcome) == "answered"


def test_our_own_comment_is_called_our_own_where_no_id_is_known(world):
    comment = world.comment(author="Iris")
    world.round()
    assert of(comment).verdict == "ours"
