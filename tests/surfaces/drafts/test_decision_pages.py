from __future__ import annotations

import re
from datetime import timedelta

import pytest
from django.utils import timezone
from django.utils.html import escape

from surfaces.drafts import services as draft_services
from surfaces.models import AuditEvent, Draft
from surfaces.pauses import services as pause_services
from surfaces.text.reasons import note
from tests.factories import NOON, make_draft, make_message, make_operator
from tests.surfaces.drafts.pages import (
    MEGABYTES,
    do,
    make_unknown,
    make_voiced,
    page_of,
    state,
    text,
)

pytestmark = pytest.mark.django_db
HTMX = {"HTTP_HX_REQUEST": "true"}
STALE = "The comment was edited on the surface. @ana wrote again in this thread."


def test_approving_names_what_was_seen_and_says_it_leaves(desk):
    draft = make_draft()
    response = do(desk, draft, "approve", digest=draft.digest())
    assert response.url == page_of(draft)
    assert state(draft) == "approved"
    assert "Approved. It is sent in 10 s." in text(desk.get(response.url))


def test_words_that_changed_since_are_not_approved(desk, noon):
    draft = make_draft()
    seen = draft.digest()
    draft_services.edit(draft, text="Other words.", by="operator:jonas", now=noon)
    response = do(desk, draft, "approve", digest=seen)
    assert response.status_code == 409
    assert state(draft) == "waiting"
    assert "changed since you looked" in text(response)
    assert "Other words." in text(response)


def test_the_second_operator_is_told_what_the_first_decided(desk):
    draft = make_draft()
    make_operator(username="jonas", first_name="Jonas")
    earlier = timezone.now() - timedelta(seconds=4)
    draft_services.withdraw(draft, by="operator:jonas", now=earlier, why="Off topic")
    response = do(desk, draft, "approve", digest=draft.digest())
    assert response.status_code == 409
    page = text(response)
    assert "Jonas decided this" in page
    assert "before you: it is withdrawn." in page


def test_a_second_press_is_told_that_the_first_was_enough(desk):
    draft = make_draft()
    for _ in range(2):
        response = do(desk, draft, "approve", digest=draft.digest())
    assert re.search(r"You decided this .* ago: it is approved\.", text(response))


def test_a_forged_step_is_refused_with_a_sentence(desk):
    draft = make_draft(state="sent", sent_at=NOON)
    for verb in ["approve", "edit", "withdraw", "retry", "settle_there", "settle_absent"]:
        response = do(desk, draft, verb, text="x", digest="x", typed_id="x")
        assert response.status_code in {409, 422}, verb
        assert "Not done" in text(response)
    assert state(draft) == "sent"


def test_an_approval_from_a_page_left_open_repeats_nothing(desk):
    """Jonas approved it, the sending is in doubt, and Mira's page still has its button."""
    draft = make_unknown(approved_digest="x", not_before=NOON, decided_by="operator:jonas",
                         decided_at=NOON)  # fmt: skip
    response = do(desk, draft, "approve", digest=draft.digest())
    assert response.status_code == 409
    assert state(draft) == "unknown"


def test_withdrawing_keeps_the_reason(desk):
    draft = make_draft()
    do(desk, draft, "withdraw", reason="Off topic", why="")
    assert state(draft) == "withdrawn"
    assert str(draft.why) == "Off topic"


def test_no_reason_breaks_the_withdrawal(desk):
    draft = make_draft()
    do(desk, draft, "withdraw", why=MEGABYTES)
    assert state(draft) == "withdrawn"


def test_htmx_swaps_the_whole_draft_and_brings_the_toast(desk):
    draft = make_draft()
    given = {"digest": draft.digest()}
    page = text(desk.post(f"/drafts/{draft.pk}/approve", given, **HTMX))
    assert page.lstrip().startswith('<article id="item"')
    assert 'hx-swap-oob="true"' in page
    assert "Approved. It is sent in 10 s." in page
    assert "<html" not in page


def test_keys_are_on_the_buttons(desk):
    page = text(desk.get(page_of(make_draft())))
    assert all(f'data-key="{key}"' in page for key in "aew")


@pytest.mark.parametrize(
    "verb", ["approve", "edit", "withdraw", "retry", "settle_there", "settle_absent", "retract"]
)
def test_acts_are_posts_and_need_the_role(client, verb):
    draft = make_draft()
    client.force_login(make_operator(role="viewer"))
    assert client.get(f"/drafts/{draft.pk}/{verb}").status_code == 405
    assert client.post(f"/drafts/{draft.pk}/{verb}").status_code == 403
    page = text(client.get(page_of(draft)))
    assert "read-only access" in page
    assert f"/drafts/{draft.pk}/{verb}" not in page


def test_an_approved_draft_says_who_holds_it(desk, noon):
    draft = make_draft()
    pause_services.pause("all", why="Low tide", by="operator:jonas", now=noon)
    desk.post(f"/drafts/{draft.pk}/approve", {"digest": draft.digest()})
    page = text(desk.get(f"/drafts/{draft.pk}/"))
    assert "Approved. Sending is paused (" in page
    assert "it is sent after the pause ends." in page
    assert "jonas paused everything" in page
    assert "data-polls" not in page


# ── a voice's words ───────────────────────────────────────────────────────


def test_rejecting_a_voices_words_needs_a_reason(desk):
    draft = make_voiced()
    response = do(desk, draft, "withdraw", why=" ")
    assert response.status_code == 422
    assert "Rejecting needs a reason." in text(response)
    assert state(draft) == "waiting"
    do(desk, draft, "withdraw", reason="Tone")
    assert (state(draft), draft.judged, str(draft.why)) == ("withdrawn", "rejected", "Tone")


def test_what_failed_in_sending_is_withdrawn_without_a_word(desk):
    draft = make_voiced(state="failed")
    do(desk, draft, "withdraw")
    assert (state(draft), draft.judged) == ("withdrawn", "")


def test_a_voices_words_are_sent_back_with_a_note(desk):
    draft = make_voiced(target=make_message(reply_status="pending", reply_attempts=1))
    page = text(desk.get(page_of(draft)))
    assert f"/drafts/{draft.pk}/send_back" in page
    assert all(f'data-key="{key}"' in page for key in "aebr")
    response = do(desk, draft, "send_back", note="Shorter, please.")
    assert (state(draft), draft.judged, str(draft.why)) == (
        "withdrawn",
        "sent_back",
        "Shorter, please.",
    )
    page = text(desk.get(response.url))
    assert "Sent back with your note." in page
    assert "The voice writes a new draft using the note." in page


@pytest.mark.parametrize("note", ["", " ", "x" * 1_001], ids=["none", "blank", "too long"])
def test_a_note_that_says_nothing_or_too_much_is_asked_for_again(desk, note):
    draft = make_voiced()
    response = do(desk, draft, "send_back", note=note)
    page = text(response)
    assert response.status_code == 422
    assert "note" in page
    assert note.strip() in page
    assert state(draft) == "waiting"


def test_words_written_by_hand_are_not_sent_back(desk):
    draft = make_draft()
    assert "send_back" not in text(desk.get(page_of(draft)))
    assert do(desk, draft, "send_back", note="Shorter.").status_code == 422
    assert state(draft) == "waiting"


# ── when something moved around it ────────────────────────────────────────


def test_a_page_older_than_the_change_approves_nothing(desk):
    draft = make_draft()
    seen = draft.digest()
    Draft.objects.filter(pk=draft.pk).update(stale_why=STALE, stale_at=NOON)
    response = do(desk, draft, "approve", digest=seen)
    page = text(response)
    assert response.status_code == 409
    assert state(draft) == "waiting"
    assert "changed after this draft was written: The comment was edited" in page
    assert "Check it, then approve." in page
    assert "Approve anyway" in page


def test_who_has_seen_what_moved_approves_anyway(desk):
    draft = make_draft(stale_why=STALE, stale_at=NOON)
    page = text(desk.get(page_of(draft)))
    assert f'<input type="hidden" name="seen" value="{escape(draft.stale_why.digest)}">' in page
    do(desk, draft, "approve", digest=draft.digest(), seen=draft.stale_why.digest)
    assert state(draft) == "approved"
    approved = AuditEvent.objects.about(draft).get(action="draft.approved")
    assert approved.facts["anyway"] == note(STALE)


def test_what_moved_stands_on_top_and_the_new_words_with_it(desk):
    question = make_message(author="ana")
    draft = make_draft(target=question, stale_why=STALE, stale_at=NOON)
    later = NOON + timedelta(minutes=3)
    make_message(post=question.post, author="ana", content="Never mind.", created_at=later,
                 seen_at=later)  # fmt: skip
    page = text(desk.get(page_of(draft)))
    assert page.index("changed after this draft was written") < page.index("Never mind.")
    assert "By the same author, after this draft was written" in page
