"""A voice's words under review: sent back, rejected, approved although something moved."""

from __future__ import annotations

import pytest
from django.utils import timezone
from playwright.sync_api import expect

from surfaces.drafts import staleness
from surfaces.models import Draft, Message
from tests.browser.keyboard import press


@pytest.fixture
def voiced(waiting: Draft) -> Draft:
    """The oldest draft of the demo, as if a voice had written it."""
    Draft.objects.filter(pk=waiting.pk).update(origin="scripted", agent="gabriel")
    waiting.refresh_from_db()
    return waiting


def item(page):
    return page.locator("#item")


def test_words_are_sent_back_with_a_note_without_a_mouse(page_of_mira, voiced):
    page = page_of_mira(f"/drafts/{voiced.pk}/")
    press(page, "b")
    expect(page.get_by_label("Note to the voice")).to_be_focused()
    page.keyboard.type("Shorter, please.")
    page.get_by_role("button", name="Send back").click()
    expect(page.locator(".toast")).to_contain_text("Sent back with your note.")
    expect(item(page)).to_contain_text("The voice writes a new draft using the note.")
    expect(item(page).locator(".steps")).to_contain_text("Sent back with a note by mira")
    voiced.refresh_from_db()
    assert (voiced.judged, str(voiced.why)) == ("sent_back", "Shorter, please.")


def test_after_an_edit_on_a_phone_the_words_are_in_sight(page_of_mira, voiced):
    page = page_of_mira(f"/drafts/{voiced.pk}/", viewport={"width": 390, "height": 844})
    press(page, "e")
    page.get_by_label("Text").fill("What does the table leave out? " * 20)
    page.get_by_role("button", name="Save").click()
    expect(page.locator(".toast")).to_contain_text("Saved.")
    expect(item(page)).to_be_focused()
    expect(page.get_by_role("heading", name="Draft by gabriel")).to_be_in_viewport()


@pytest.mark.parametrize("with_script", [True, False])
def test_rejecting_asks_for_the_reason(page_of_mira, voiced, with_script):
    page = page_of_mira(f"/drafts/{voiced.pk}/", java_script_enabled=with_script)
    item(page).locator("summary", has_text="Reject").click()
    page.get_by_role("button", name="Reject draft").click()
    expect(page.get_by_role("alert")).to_contain_text("Rejecting needs a reason.")
    page.get_by_label("Other reason").fill("It promises too much.")
    page.get_by_role("button", name="Reject draft").click()
    expect(item(page).locator(".badge.off")).to_have_text("withdrawn")
    voiced.refresh_from_db()
    assert (voiced.judged, str(voiced.why)) == ("rejected", "It promises too much.")


@pytest.mark.parametrize("with_script", [True, False])
def test_what_moved_while_the_page_was_open_must_be_seen(page_of_mira, voiced, with_script):
    page = page_of_mira(f"/drafts/{voiced.pk}/", java_script_enabled=with_script)
    now = timezone.now()
    first = Message.objects.get(pk=voiced.target_id)
    newer = Message.objects.filter(post=first.post_id).comments().exclude(pk=first.pk).latest("pk")
    Message.objects.filter(pk=newer.pk).update(
        author=first.author, direction="incoming", spam_status=None, created_at=now, seen_at=now
    )
    staleness.mark_stale(now=now)

    page.get_by_role("button", name="Approve").click()
    expect(page.get_by_role("alert")).to_contain_text("Check it, then approve.")
    expect(page.get_by_role("status").filter(has_text="thread changed after")).to_be_visible()
    expect(item(page)).to_contain_text("By the same author, after this draft was written")
    page.get_by_role("button", name="Approve anyway").click()
    expect(item(page).locator(".badge.ours")).to_have_text("approved")


def test_an_edit_shows_what_it_changed(page_of_mira, voiced):
    page = page_of_mira(f"/drafts/{voiced.pk}/")
    press(page, "e")
    page.get_by_label("Text").fill(voiced.text + " Slowly, then.")
    page.get_by_role("button", name="Save").click()
    expect(item(page).locator(".steps ins")).to_contain_text("Slowly, then.")
    expect(item(page).locator(".steps del")).to_have_count(0)
