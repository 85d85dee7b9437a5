"""What operators think of a voice's words is kept with the draft, and a note goes back."""

from __future__ import annotations

import pytest

from surfaces.drafts import services as draft_services
from surfaces.errors import BadInput, NotAllowed, StaleState
from surfaces.models import AuditEvent, Draft, Message
from tests.factories import NOON, make_account, make_draft, make_message

pytestmark = [pytest.mark.django_db, pytest.mark.engine]
MIRA, JONAS = "operator:mira", "operator:jonas"


def voiced(**given) -> Draft:
    return make_draft(**({"origin": "scripted", "agent": "gabriel"} | given))


def judged(draft: Draft) -> str:
    draft.refresh_from_db()
    return draft.judged


def test_approving_a_voices_words_says_whether_they_were_edited():
    as_written, edited, by_hand = voiced(), voiced(), make_draft()
    draft_services.edit(edited, text="better words", by=MIRA, now=NOON)
    for draft in (as_written, edited, by_hand):
        draft_services.approve(draft, digest=draft.digest(), by=MIRA, now=NOON)
    assert [judged(d) for d in (as_written, edited, by_hand)] == ["as_written", "edited", ""]


def test_saving_the_same_words_is_no_edit():
    draft = voiced()
    draft_services.edit(draft, text=draft.text, by=MIRA, now=NOON)
    draft.refresh_from_db()
    assert not draft.was_edited


def test_editing_what_was_approved_takes_the_judgement_back():
    draft = voiced()
    draft_services.approve(draft, digest=draft.digest(), by=MIRA, now=NOON)
    draft_services.edit(draft, text="better words", by=JONAS, now=NOON)
    assert judged(draft) == ""


def test_a_mode_has_no_opinion_on_words():
    question = make_message(account=make_account(mode="auto"))
    draft = draft_services.compose(
        account=question.account, what="reply", target=question, text="Yes, and?",
        by="agent:gabriel", origin="scripted", now=NOON,
    )  # fmt: skip
    assert draft.state == "approved"
    assert judged(draft) == ""


def test_an_operators_no_to_a_voice_is_a_rejection():
    rejected, by_hand, failed = voiced(), make_draft(), voiced(state="failed")
    for draft in (rejected, by_hand, failed):
        draft_services.withdraw(draft, by=MIRA, now=NOON, why="Tone")
    assert [judged(d) for d in (rejected, by_hand, failed)] == ["rejected", "", ""]
    assert AuditEvent.objects.about(rejected).get().action == "draft.rejected"
    assert AuditEvent.objects.about(by_hand).get().action == "draft.withdrawn"


@pytest.mark.parametrize("state", ["waiting", "approved"])
def test_words_sent_back_leave_the_comment_open_and_the_note_in_the_ledger(state: str):
    draft = voiced(target=make_message(reply_status="pending", reply_attempts=1))
    if state == "approved":
        draft_services.approve(draft, digest=draft.digest(), by=MIRA, now=NOON)
    draft_services.send_back(draft, note=" Shorter. ", by=JONAS, now=NOON)
    draft.refresh_from_db()
    assert (draft.state, draft.judged, str(draft.why)) == ("withdrawn", "sent_back", "Shorter.")
    assert draft.target in Message.objects.awaiting_reply()
    assert draft.target.reply_attempts == 1, "the try was a try"
    line = AuditEvent.objects.about(draft).get(action="draft.sent_back")
    assert (line.actor, str(line.why)) == (JONAS, "Shorter.")


@pytest.mark.parametrize("note", ["", "  ", "x" * 1_001, "a\x00b", "\ud800"])
def test_a_note_is_needed_and_must_be_one(note: str):
    draft = voiced()
    with pytest.raises(BadInput, match="note"):
        draft_services.send_back(draft, note=note, by=MIRA, now=NOON)
    assert judged(draft) == ""


def test_only_a_voices_waiting_words_are_sent_back():
    with pytest.raises(NotAllowed, match="by hand"):
        draft_services.send_back(make_draft(), note="Shorter.", by=MIRA, now=NOON)
    with pytest.raises(StaleState, match="withdrawn"):
        draft_services.send_back(voiced(state="withdrawn"), note="Shorter.", by=MIRA, now=NOON)


def test_of_sending_back_and_approving_the_first_wins():
    draft = voiced()
    late = Draft.objects.get(pk=draft.pk)
    draft_services.approve(draft, digest=draft.digest(), by=MIRA, now=NOON)
    with pytest.raises(StaleState):
        draft_services.send_back(late, note="Shorter.", by=JONAS, now=NOON)
