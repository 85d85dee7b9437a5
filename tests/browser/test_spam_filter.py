"""The spam filter's sliders: what would change follows the hand, and works without script too."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from django.utils import timezone
from playwright.sync_api import Page, expect

from surfaces.models import Operator
from surfaces.settings.instance import current
from surfaces.spam import feedback
from tests.factories import make_message

Visit = Callable[..., Page]


@pytest.fixture
def decided(transactional_db: None) -> None:
    """Spam the filter left alone at 0.35."""
    comment = make_message(
        author="marlow", spam_score=0.35, spam_reasons=[["links", "3 links"]],
        seen_at=timezone.now(),
    )  # fmt: skip
    feedback.mark(comment, is_spam=True, by="operator:mira", now=timezone.now())


def test_a_slider_shows_what_would_change_and_pushes_the_other(
    visit: Visit, mira: Operator, decided: None
):
    page = visit(mira, "/spam-filter/")
    found = page.get_by_role("region", name="Preview")
    expect(found).to_contain_text("no stored verdict would change")
    expect(found.get_by_role("button", name="Apply these thresholds")).to_be_disabled()
    slider = page.get_by_role("slider", name="Suspect score, slider")
    slider.focus()
    for _ in range(5):
        page.keyboard.press("ArrowLeft")
    expect(page.get_by_label("Suspect score", exact=True)).to_have_value("0.35")
    expect(found).to_contain_text("1 of 1 verdicts would change: 1 to match")
    expect(page).to_have_url(re.compile(r"suspect=0\.35"))
    expect(page.locator("#replay-said")).to_contain_text("1 stored verdict")
    slider.press("End")
    expect(page.get_by_label("Spam score", exact=True)).to_have_value("1.00")


def test_an_admin_sets_what_the_slider_shows_and_undoes_it(
    visit: Visit, mira: Operator, decided: None
):
    page = visit(mira, "/spam-filter/")
    page.get_by_label("Suspect score", exact=True).fill("0.30")
    page.locator("summary", has_text="Apply these thresholds").click()
    expect(page.locator("#replay form")).to_contain_text("0.30 instead of 0.40")
    page.get_by_role("button", name="Apply", exact=True).click()
    expect(page.locator(".toast")).to_contain_text("suspect from 0.30")
    page.locator(".toast").get_by_role("button", name="Undo").click()
    expect(page.locator(".toast")).to_contain_text("previous thresholds")
    assert current().suspect_from == 0.40


def test_thresholds_are_tried_and_words_forgotten_without_script(
    visit: Visit, mira: Operator, decided: None
):
    page = visit(mira, "/spam-filter/", java_script_enabled=False)
    expect(page.locator("input[type=range]").first).to_be_hidden()
    page.get_by_label("Suspect score", exact=True).fill("0.30")
    page.get_by_role("button", name="Preview").click()
    expect(page.get_by_text("1 of 1 verdicts would change")).to_be_visible()
    page.get_by_role("link", name="All words").click()
    page.get_by_role("button", name="Ignore this word: hello").click()
    expect(page.locator(".toast")).to_contain_text("Word “hello” ignored.")
    expect(page.locator("tr", has_text="hello").locator(".badge")).to_have_text("ignored")
