from __future__ import annotations

import re

from playwright.sync_api import expect

from surfaces.models import AuditEvent, DeskItem, Draft
from tests.browser.pages import unanswered
from tests.factories import make_operator


def item(page):
    return page.locator("#item")


def test_an_approved_draft_leaves_and_stands_in_the_thread_as_ours(page_of_mira, waiting, deliver):
    page = page_of_mira(f"/drafts/{waiting.pk}/")
    page.get_by_role("button", name="Approve").click()
    expect(page.locator(".toast")).to_contain_text("Approved. It is sent in 10 s.")
    expect(item(page).locator(".badge.ours")).to_have_text("approved")
    left = page.locator(".side [data-live-count=desk]")
    expect(left).to_have_text(str(DeskItem.objects.count()))
    assert deliver().sent == 1
    expect(item(page).locator(".badge.ok")).to_contain_text("sent")  # the open page notices itself
    expect(page.locator(".toast")).to_contain_text("Sent to Demo hub.")
    page.get_by_role("link", name="What does a tide table leave out?").click()
    waiting.refresh_from_db()
    ours = page.locator(f"#m{waiting.message_id}")
    expect(ours.locator(".badge.ours")).to_have_text("ours")
    expect(ours.locator(".note")).to_contain_text("Approved by mira")
    expect(page.locator(f"#m{waiting.target_id} > .note")).to_contain_text("Replied.")


def test_while_everything_is_paused_an_approved_draft_waits(page_of_mira, waiting, deliver):
    page = page_of_mira("/")
    page.get_by_text("Pause everything…").click()
    page.get_by_label("Reason").last.fill("The reef is closed")
    page.get_by_role("button", name="Pause everything").click()
    expect(page.locator(".top .sending > summary")).to_contain_text("Sending paused")

    page.goto(f"/drafts/{waiting.pk}/")
    page.get_by_role("button", name="Approve").click()
    expect(page.locator(".toast")).to_contain_text(
        "Sending is paused (everything, by mira); it is sent after the pause ends."
    )
    expect(item(page)).to_contain_text("mira paused everything “The reef is closed”")
    assert deliver().sent == 0

    page.goto("/")
    expect(page.get_by_text("1 approved")).to_be_visible()
    page.locator("main").get_by_role("button", name="Resume").click()
    expect(page.locator(".top .sending > summary")).to_contain_text("Sending on")
    assert deliver().sent == 1


def test_an_answer_by_hand_is_edited_and_withdrawn_with_a_reason(page_of_mira):
    asked = unanswered()
    page = page_of_mira(f"/threads/{asked.post_id}/")
    node = page.locator(f"#m{asked.pk}")
    node.get_by_text("Reply", exact=True).click()
    expect(node.locator("textarea")).to_be_focused()
    page.keyboard.type("Slowly, then.")
    node.get_by_role("button", name="Save draft").click()
    expect(page.locator(".toast")).to_contain_text("It must be approved before it is sent.")
    expect(node.locator(".draft .as-sent")).to_have_text("Slowly, then.")

    node.get_by_role("link", name="Review").click()
    item(page).locator("summary", has_text="Edit").click()
    page.get_by_label("Text").fill("Slowly, and then quickly.")
    page.get_by_role("button", name="Save").click()
    expect(item(page).locator(".draft .as-sent")).to_have_text("Slowly, and then quickly.")

    item(page).locator("summary", has_text="Withdraw").click()
    page.get_by_text("Repeats us").click()
    page.get_by_role("button", name="Withdraw draft").click()
    expect(item(page).locator(".badge.off")).to_have_text("withdrawn")
    expect(item(page).locator(".steps")).to_contain_text("Repeats us")
    page.goto(f"/threads/{asked.post_id}/")
    expect(page.locator(f"#m{asked.pk} > .note")).to_contain_text("Draft withdrawn by mira.")


def test_of_two_open_tabs_the_first_decision_wins_and_the_second_hears_of_it(
    visit, mira, waiting, deliver
):
    first = visit(mira, f"/drafts/{waiting.pk}/")
    jonas = make_operator(username="jonas", first_name="Jonas", last_name="Weil")
    second = visit(jonas, f"/drafts/{waiting.pk}/")
    first.get_by_role("button", name="Approve").click()
    expect(item(first).locator(".badge.ours")).to_have_text("approved")

    item(second).locator("summary", has_text="Reject").click()
    second.get_by_text("Tone", exact=True).click()
    assert deliver().sent == 1
    second.get_by_role("button", name="Reject draft").click()
    told = second.get_by_role("alert")
    expect(told).to_contain_text(re.compile(r"Mira Kovač decided this .* before you: it is sent"))


def test_pressing_approve_twice_approves_once(page_of_mira, waiting):
    page = page_of_mira(f"/drafts/{waiting.pk}/")
    page.get_by_role("button", name="Approve").dblclick()
    expect(item(page).locator(".badge.ours")).to_have_text("approved")
    page.wait_for_load_state("networkidle")
    assert page.get_by_role("alert").count() == 0
    assert AuditEvent.objects.filter(action="draft.approved").count() == 1


def test_a_spam_mark_changes_the_row_in_place_and_is_taken_back(page_of_mira):
    page = page_of_mira("/messages/?spam_status=suspect")
    row = page.locator(".msgs > li").first
    row.get_by_role("button", name="Spam").click()
    expect(row.locator(".badge.bad")).to_contain_text("spam")
    expect(row).to_contain_text("by mira")
    page.locator(".toast").get_by_role("button", name="Undo").click()
    expect(row.locator(".badge.wait")).to_contain_text("suspect")
    expect(page.locator(".toast")).to_contain_text("Restored the spam filter")


def test_a_post_by_hand_goes_from_the_form_into_the_community(page_of_mira, deliver):
    page = page_of_mira("/posts/new")
    page.get_by_label("Account").select_option(label=page.locator("option").last.inner_text())
    page.get_by_label("Community").fill("tides")
    page.get_by_label("Title").fill("Slack water")
    page.get_by_label("Text").fill("What happens in the minute when nothing flows?")
    page.get_by_role("button", name="Save draft").click()
    page.get_by_role("button", name="Approve").click()
    expect(item(page).locator(".badge.ours")).to_have_text("approved")
    assert deliver().sent == 1
    page.goto("/threads/?direction=outgoing")
    page.get_by_role("link", name="Slack water").click()
    expect(page.locator(".badge.ours").first).to_have_text("our post")


def test_what_cannot_be_connected_says_what_to_enter_instead(page_of_mira):
    page = page_of_mira("/surfaces/connect")
    page.get_by_role("textbox", name="Agent").fill("Not A Slug!")
    page.get_by_label("Poll interval").fill("9")
    page.get_by_role("button", name="Connect").click()
    expect(page.get_by_role("alert")).to_contain_text("Not saved")
    page.get_by_role("textbox", name="Agent").fill("vera")
    page.get_by_role("button", name="Connect").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("vera@hub-demo")


def test_a_draft_written_over_in_another_tab_keeps_what_was_typed(page_of_mira, waiting):
    page = page_of_mira(f"/drafts/{waiting.pk}/")
    item(page).locator("summary", has_text="Edit").click()
    page.get_by_label("Text").fill("Mine, typed for long.")
    Draft.objects.filter(pk=waiting.pk).update(text="Theirs.")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("alert")).to_contain_text("The text changed after you opened this page")
    expect(page.get_by_label("Text")).to_have_value("Mine, typed for long.")
