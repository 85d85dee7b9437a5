from __future__ import annotations

import re

from playwright.sync_api import expect

from tests.browser.keyboard import press
from tests.browser.pages import pages

PLACES = {
    "m": "Messages", "t": "Threads", "r": "Drafts", "f": "Spam filter", "s": "Surfaces",
    "l": "Audit log", "e": "Settings", "d": "Desk: items that need a decision",
}  # fmt: skip


def test_g_and_a_letter_go_to_every_place(page_of_mira):
    page = page_of_mira("/")
    for key, title in PLACES.items():
        press(page, "g", key)
        expect(page.get_by_role("heading", level=1)).to_have_text(title)


def test_drafts_are_decided_without_a_mouse(page_of_mira, waiting, deliver):
    page = page_of_mira("/drafts/")
    for key in "jjk":
        press(page, key)
    expect(page.locator("[data-at]")).to_have_count(1)
    press(page, "Enter")
    expect(page.locator("#item")).to_be_visible()
    press(page, "e")
    expect(page.get_by_label("Text")).to_be_focused()
    press(page, "a")  # typed, not pressed
    expect(page.locator("#item .badge.wait")).to_have_text("waiting")
    writing = page.locator("#item :is(input, textarea):focus")
    press(page, "Escape")
    expect(writing).to_have_count(0)
    press(page, "r")
    expect(page.get_by_role("button", name="Reject draft")).to_be_visible()
    expect(writing).to_have_count(1)
    press(page, "Escape")
    expect(writing).to_have_count(0)
    press(page, "a")
    expect(page.locator("#item .badge.ours")).to_have_text("approved")


def test_enter_opens_the_waking_and_not_whose_it_is(page_of_mira, gabriel):
    page = page_of_mira("/activations/")
    press(page, "j")
    press(page, "Enter")
    expect(page).to_have_url(re.compile(r"/activations/\d+/$"))


def test_a_message_is_marked_and_the_mark_taken_back_without_a_mouse(page_of_mira):
    page = page_of_mira("/messages/?spam_status=suspect")
    press(page, "s")  # nobody is chosen: nothing happens
    press(page, "j")
    press(page, "s")
    row = page.locator(".msgs > li").first
    expect(row.locator(".badge.bad")).to_contain_text("spam")
    expect(page.locator(".badge.bad")).to_have_count(1)
    press(page, "u")
    expect(row.locator(".badge.wait")).to_contain_text("suspect")


def test_a_thread_is_walked_and_answered_without_a_mouse(page_of_mira):
    page = page_of_mira(pages()["thread"])
    press(page, "j")
    chosen = page.locator("[data-at]")
    expect(chosen).to_have_attribute("aria-current", "true")  # first where the page points
    press(page, "j")
    expect(chosen).not_to_have_attribute("aria-current", "true")
    press(page, "r")
    expect(chosen.locator("textarea")).to_be_focused()


def test_slash_searches_and_a_question_mark_shows_the_keys(page_of_mira):
    page = page_of_mira("/")
    press(page, "?")
    expect(page.locator("#keys")).to_be_visible()
    press(page, "Escape")
    expect(page.locator("#keys")).not_to_be_visible()
    press(page, "/")
    expect(page.locator("#q")).to_be_focused()
    page.keyboard.type("tide")
    press(page, "Enter")
    expect(page).to_have_url(re.compile(r"/messages/\?q=tide$"))
    expect(page.locator(".msgs > li").first).to_be_visible()


def test_search_finds_rare_words_in_any_script(page_of_mira):
    page = page_of_mira("/")
    for words, finds in [("来了两次", True), ("Roscoff", True), ("zzzq", False)]:
        page.locator("#q").fill(words)
        press(page, "Enter")
        expect(page.locator("#f-q")).to_have_value(words)
        assert bool(page.locator(".msgs > li").count()) is finds
    expect(page.get_by_role("heading", name="No messages match")).to_be_visible()
