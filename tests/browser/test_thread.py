"""A thread in a browser: worked on by keys, read on a phone, printed."""

from __future__ import annotations

from datetime import timedelta

from django.utils import timezone
from playwright.sync_api import expect

from surfaces.models import Draft
from tests.browser.keyboard import press
from tests.factories import make_message, make_post

PHONE = {"width": 390, "height": 844}


def test_a_draft_is_approved_by_keys_without_leaving_its_thread(page_of_mira, waiting):
    question = waiting.target
    page = page_of_mira(f"/threads/{question.post_id}/")
    for _ in range(page.locator(".node.is-ours, .node:has(.draft)").count()):
        press(page, "n")
        if page.locator(f"#m{question.pk}[data-at]").count():
            break
    expect(page.locator(f"#m{question.pk}")).to_have_attribute("data-at", "")
    press(page, "r")
    expect(page.locator(f"#w{waiting.pk}")).to_be_focused()
    page.keyboard.press("Escape")
    press(page, "a")
    expect(page.locator(".toast")).to_contain_text("Approved.")
    expect(page.locator(f"#m{question.pk}")).to_have_attribute("aria-current", "true")
    assert f"message={question.pk}" in page.url
    assert Draft.objects.get(pk=waiting.pk).state != "waiting"


def test_a_deep_talk_fits_a_phone_and_its_life_is_one_link_away(page_of_mira, waiting):
    now, parent = timezone.now(), None
    post = make_post(account=waiting.account)
    for number in range(40):
        parent = make_message(
            post=post, parent=parent, created_at=now - timedelta(minutes=90 - number),
            author="a_very_long_name_without_any_spaces_at_all" if number % 2 else "odile",
            content="word " * 12 if number % 3 else "A" * 200,
        )  # fmt: skip
    page = page_of_mira(f"/threads/{post.pk}/?message={parent.pk}", viewport=PHONE)
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    words = page.locator(f"#m{parent.pk} .text")
    assert words.bounding_box()["width"] > 220
    page.locator(f"#m{parent.pk}").get_by_role("link", name="Message timeline").click()
    expect(page.get_by_role("heading", name="Message timeline")).to_be_in_viewport()


def test_a_thread_is_printed_plain(page_of_mira, waiting):
    page = page_of_mira(f"/threads/{waiting.target.post_id}/")
    expect(page.get_by_role("button", name="Print")).to_be_visible()
    page.emulate_media(media="print")
    for shell in (".side", ".top", ".tabbar", ".beside", "button", ".node-acts"):
        assert not page.locator(f"{shell}:visible").count(), shell
    expect(page.locator(f"#m{waiting.target_id} .note")).to_be_visible()
    expect(page.get_by_text("printed for Mira Kovač")).to_be_visible()
    said = page.locator(f"#m{waiting.target_id} .when time").evaluate(
        "time => getComputedStyle(time, '::after').content"
    )
    assert timezone.localtime(waiting.target.created_at).strftime("%H:%M:%S") in said
    assert page.pdf(format="A4").startswith(b"%PDF")
