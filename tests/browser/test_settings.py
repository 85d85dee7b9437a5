"""Settings by hand and by key: Enter saves, one key takes back, a default is one click away."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from surfaces.settings.instance import current
from surfaces.settings.services import change
from tests.browser.keyboard import press
from tests.factories import NOON

BACK = re.compile("Reset to default ?: Undo window")


@pytest.mark.parametrize("scripted", [True, False])
def test_enter_saves_the_house_and_its_default_is_one_click_away(visit, mira, scripted: bool):
    change(current(), {"undo_seconds": 20, "name": "The hall"}, by="operator:jonas", now=NOON)
    page = visit(mira, "/settings/house/", java_script_enabled=scripted)
    page.get_by_label("Draft expiry").fill("48")
    page.get_by_label("Draft expiry").press("Enter")
    expect(page.locator(".toast")).to_contain_text("Saved: draft expiry.")
    expect(page.get_by_label("Undo window")).to_have_value("20")
    page.get_by_role("button", name=BACK).click()
    expect(page.locator(".toast").last).to_contain_text("Saved: undo window.")
    expect(page.get_by_label("Undo window")).to_have_value("10")
    expect(page.get_by_label("Name")).to_have_value("The hall")


def test_one_key_takes_back_what_was_saved_last(visit, mira):
    page = visit(mira, "/settings/house/")
    page.get_by_label("Undo window").fill("30")
    page.get_by_role("button", name="Save settings").click()
    expect(page.locator(".toast")).to_contain_text("Saved: undo window.")
    press(page, "u")
    expect(page.locator(".toast")).to_contain_text("Undone: undo window.")
    expect(page.get_by_label("Undo window")).to_have_value("10")
