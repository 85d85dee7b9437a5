"""Notices in a real browser: the bell, reading, and a rule made without a script."""

from __future__ import annotations

import re
from collections.abc import Callable

from django.utils import timezone
from playwright.sync_api import Page, expect

from surfaces.models import Operator
from surfaces.notices import rounds
from tests.surfaces.notices.factories import make_rule


def test_the_bell_leads_to_what_was_told_and_is_quiet_when_it_was_read(
    page_of_mira: Callable[..., Page], mira: Operator
):
    make_rule(mira, channel="page")
    rounds.prepare(timezone.now())
    page = page_of_mira("/")
    bell = page.get_by_role("link", name="Notifications")
    expect(bell).to_contain_text("unread")
    bell.click()
    row = page.locator("li.unread").first
    row.get_by_role("button").click()
    expect(page.locator("li.unread")).not_to_have_count(0)
    page.get_by_role("button", name=re.compile(r"^Mark (all )?\d+ as read")).click()
    expect(page.locator("li.unread")).to_have_count(0)
    expect(page.get_by_role("link", name="Notifications", exact=True)).not_to_contain_text("unread")


def test_a_rule_is_made_and_switched_off_without_a_script_on_a_phone(
    page_of_mira: Callable[..., Page], mira: Operator
):
    page = page_of_mira(
        "/settings/notices/add",
        java_script_enabled=False,
        viewport={"width": 390, "height": 844},
    )
    page.get_by_text("In the app", exact=True).click()
    page.get_by_label("About to expire").check()
    page.get_by_label("Drafts to review").check()
    page.get_by_role("button", name="Add the rule").click()
    expect(page.locator("p", has_text="only drafts to review")).to_be_visible()
    page.get_by_role("button", name="Disable").click()
    expect(page.get_by_role("button", name="Enable")).to_be_visible()
    rule = mira.notice_rules.get()
    assert (rule.channel, rule.is_on, rule.kinds) == ("page", False, ["draft"])
