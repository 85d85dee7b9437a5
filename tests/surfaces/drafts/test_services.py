"""Composing and deciding: exactly these words, exactly once, by whoever was first."""

from __future__ import annotations

import threading

import pytest
from django.db import connection
from django_q.models import OrmQ

from surfaces.drafts import retry
from surfaces.drafts import services as draft_services
from surfaces.errors import BadInput, NotAllowed, StaleState
from surfaces.models import AuditEvent, Draft, Message
from surfaces.text.reasons import note
from tests.factories import NOON, make_account, make_draft, make_message, make_post

pytestmark = [pytest.mark.django_db, pytest.mark.engine]
MIRA, JONAS = "operator:mira", "operator:jonas"


def reply(target: Message, text: str = "Yes, and?", **given):
    ordinary = {"account": target.account, "what": "reply", "by": MIRA, "now": NOON}
    return draft_services.compose(target=target, text=text, **(ordinary | given))


def test_composing_counts_a_try_and_waits_for_a_person():
    question = make_message()
    draft = reply(question)
    question.refresh_from_db()
    assert (draft.state, question.reply_status, question.reply_attempts) == (
        "waiting",
        "pending",
        1,
    )


def test_a_try_that_was_counted_when_the_voice_was_asked_is_not_counted_again():
    question = make_message(reply_attempts=10, reply_status="pending")
    draft = reply(question, is_begun=True, parts=("one", "two", "three"), origin="scripted")
    question.refresh_from_db()
    assert (question.reply_attempts, question.reply_status) == (10, "pending")
    assert (draft.terms, draft.pointer, draft.exit) == ("one", "two", "three")


def test_fresh_tries_given_while_the_voice_wrote_begin_with_this_one():
    question = make_message(reply_attempts=3, reply_status="pending")
    retry.retry_message(question, by=MIRA, now=NOON)
    reply(question, is_begun=True, origin="scripted")
    question.refresh_from_db()
    assert question.reply_attempts == 1


@pytest.mark.parametrize(
    "settled",
    [
        {"reply_status": "sent"},
        {"reply_status": "failed"},
        {"spam_status": "spam"},
        {"deleted_at": NOON},
    ],
    ids=lambda settled: next(iter(settled)),
)
def test_what_was_settled_while_the_voice_wrote_gets_no_draft(settled: dict):
    question = make_message(reply_attempts=1, reply_status="pending")
    Message.objects.filter(pk=question.pk).update(**settled)
    with pytest.raises(NotAllowed, match="made while the reply was being written"):
        reply(question, is_begun=True)
    assert not Draft.objects.exists()


def test_a_comment_has_one_live_answer():
    question = make_message()
    reply(question)
    with pytest.raises(StaleState, match="already replies to this comment"):
        reply(question, "something else")
    question.refresh_from_db()
    assert question.reply_attempts == 1, "a refused draft is no try"


def test_a_withdrawn_draft_leaves_the_question_open():
    question = make_message()
    draft_services.withdraw(reply(question), by=MIRA, now=NOON)
    assert question in Message.objects.awaiting_reply()
    reply(question, "once more")


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"text": "   "}, "empty"),
        ({"text": "x" * 10_001}, "allows 10,000"),
        ({"text": "a\x00b"}, "control characters"),
        ({"text": "half \ud800 one"}, "invalid character"),
        ({"parts": ("", "a\x00b", "")}, "control characters"),
        ({"text": "my key is moltbook_sk_0123456789abcdef0123"}, "key or a token"),
    ],
)
def test_words_that_cannot_be_sent_are_refused_with_what_to_do(given: dict, says: str):
    with pytest.raises(BadInput, match=says):
        reply(make_message(), **given)
    assert not Draft.objects.exists()


def test_the_same_words_are_not_said_twice_by_one_account():
    question = make_message()
    make_message(post=question.post, direction="outgoing", content="Yes, and?")
    with pytest.raises(BadInput, match="already sent the same text"):
        reply(question)


def test_what_cannot_be_answered_says_why():
    with pytest.raises(NotAllowed, match="deleted"):
        reply(make_message(deleted_at=NOON))
    with pytest.raises(NotAllowed, match="spam"):
        reply(make_message(spam_status="spam"))
    answered = make_message()
    make_message(post=answered.post, parent=answered, direction="outgoing")
    with pytest.raises(NotAllowed, match="already has a reply"):
        reply(answered)
    with pytest.raises(BadInput):
        reply(make_message(), account=make_account())
    with pytest.raises(BadInput):
        reply(make_post())


def test_a_comment_too_deep_for_the_service_is_not_drafted():
    post = make_post()
    comment = make_message(post=post)
    for _ in range(10):
        comment = make_message(post=post, parent=comment)
    with pytest.raises(NotAllowed, match="too deep"):
        reply(comment)
    reply(comment.parent)


def test_approving_names_exactly_what_was_seen_and_enqueues_the_sending():
    draft = make_draft()
    seen = draft.digest()
    Draft.objects.filter(pk=draft.pk).update(text="changed under the reader")
    with pytest.raises(StaleState, match="changed since you looked"):
        draft_services.approve(draft, digest=seen, by=MIRA, now=NOON)
    draft.refresh_from_db()
    draft_services.approve(draft, digest=draft.digest(), by=MIRA, now=NOON)
    assert OrmQ.objects.count() == 1
    assert (draft.state, draft.decided_by) == ("approved", MIRA)


def test_an_edited_comment_asks_to_look_again():
    draft = make_draft()
    seen = draft.digest()
    Message.objects.filter(pk=draft.target_id).update(content="I meant something else")
    with pytest.raises(StaleState):
        draft_services.approve(Draft.objects.get(), digest=seen, by=MIRA, now=NOON)


def test_the_first_decision_wins_and_the_second_is_told():
    draft = make_draft()
    late = Draft.objects.get(pk=draft.pk)
    draft_services.withdraw(draft, by=MIRA, now=NOON)
    with pytest.raises(StaleState):
        draft_services.approve(late, digest=late.digest(), by=JONAS, now=NOON)
    assert not OrmQ.objects.exists()


def test_editing_an_approved_draft_asks_again():
    draft = make_draft()
    draft_services.approve(draft, digest=draft.digest(), by=MIRA, now=NOON)
    draft_services.edit(draft, text="better words", by=JONAS, now=NOON)
    draft.refresh_from_db()
    assert (draft.state, draft.text, draft.approved_digest) == ("waiting", "better words", "")
    edited = AuditEvent.objects.about(draft).get(action="draft.edited")
    assert edited.facts["before"]["text"] == "Yes, and what would you leave out?"


def test_two_editors_do_not_overwrite_each_other():
    draft = make_draft()
    late = Draft.objects.get(pk=draft.pk)
    draft_services.edit(draft, text="Mira's words", by=MIRA, now=NOON)
    with pytest.raises(StaleState):
        draft_services.edit(late, text="Jonas's words", by=JONAS, now=NOON)
    draft.refresh_from_db()
    assert draft.text == "Mira's words"


def test_a_post_needs_a_title_and_no_target():
    account = make_account()
    with pytest.raises(BadInput, match="title"):
        draft_services.compose(account=account, what="post", text="body", by=MIRA, now=NOON)
    draft_services.compose(
        account=account, what="post", title="On tides", text="body", community="general",
        by=MIRA, now=NOON,
    )  # fmt: skip


@pytest.mark.django_db(transaction=True)
def test_of_two_operators_at_once_one_decides():
    draft = make_draft()
    start, won, lost = threading.Barrier(2), [], []

    def decide(who: str) -> None:
        mine = Draft.objects.select_related("target").get(pk=draft.pk)
        start.wait()
        try:
            draft_services.approve(mine, digest=mine.digest(), by=who, now=NOON)
            won.append(who)
        except StaleState:
            lost.append(who)
        connection.close()

    threads = [threading.Thread(target=decide, args=[who]) for who in (MIRA, JONAS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    draft.refresh_from_db()
    assert (len(won), len(lost)) == (1, 1)
    assert draft.decided_by == won[0]


@pytest.mark.django_db(transaction=True)
def test_of_two_answers_at_once_one_is_made():
    question = make_message()
    start, made, told = threading.Barrier(4), [], []

    def answer(number: int) -> None:
        start.wait()
        try:
            made.append(reply(question, f"answer {number}"))
        except (StaleState, NotAllowed):
            told.append(number)
        connection.close()

    threads = [threading.Thread(target=answer, args=[number]) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    question.refresh_from_db()
    assert (len(made), len(told), question.reply_attempts) == (1, 3, 1)


@pytest.mark.parametrize("state", ["sending", "unknown", "failed", "sent", "shadowed"])
def test_only_what_waits_can_be_approved(state: str):
    """A page left open still has its button: pressed late, it must repeat nothing."""
    draft = make_draft()
    seen = draft.digest()
    facts = {"approved_digest": seen, "not_before": NOON, "lease_until": NOON, "sent_at": NOON}
    Draft.objects.filter(pk=draft.pk).update(state=state, **facts)
    draft.refresh_from_db()
    with pytest.raises(StaleState):
        draft_services.approve(draft, digest=seen, by=JONAS, now=NOON)
    draft.refresh_from_db()
    assert draft.state == state
    assert not OrmQ.objects.exists()


def test_a_withdrawn_failure_leaves_the_question_open_for_another_answer():
    question = make_message(reply_attempts=10, reply_status="failed")
    draft_services.withdraw(make_draft(state="failed", target=question), by=MIRA, now=NOON)
    question.refresh_from_db()
    assert question in Message.objects.awaiting_reply()
    assert reply(question, "by hand").state == "waiting"


# ── what moved around it ──────────────────────────────────────────────────


def test_a_stale_draft_is_approved_only_by_who_saw_what_moved():
    draft = make_draft()
    seen = draft.digest()
    Draft.objects.update(stale_why="@ana wrote again in this thread.", stale_at=NOON)
    for shown in ("", "The comment was edited on the surface."):
        with pytest.raises(StaleState, match="after this draft was written: @ana wrote again"):
            draft_services.approve(draft, digest=seen, seen=shown, by=MIRA, now=NOON)
    shown = note("@ana wrote again in this thread.").digest
    draft_services.approve(draft, digest=seen, seen=shown, by=MIRA, now=NOON)
    assert draft.state == "approved"


def test_who_edits_has_looked():
    draft = make_draft(stale_why="@ana wrote again in this thread.", stale_at=NOON)
    draft_services.edit(draft, text="better words", by=MIRA, now=NOON)
    draft.refresh_from_db()
    assert (str(draft.stale_why), draft.stale_at) == ("", None)
    draft_services.approve(draft, digest=draft.digest(), by=MIRA, now=NOON)


@pytest.mark.parametrize("words", ["draft.waits", "sending.target_deleted", "see example.org"])
def test_a_reason_that_a_person_typed_is_shown_as_typed(words: str):
    draft = make_draft()
    draft_services.withdraw(draft, by=MIRA, now=NOON, why=words)
    assert str(Draft.objects.get().why) == words
    assert str(AuditEvent.objects.get(action="draft.withdrawn").why) == words


def test_a_chosen_reason_is_kept_as_its_code():
    draft_services.withdraw(make_draft(), by=MIRA, now=NOON, why="rejected.tone")
    assert Draft.objects.get().why == {"code": "rejected.tone"}
