from __future__ import annotations

from playwright.sync_api import expect

NO_SCRIPT = {"java_script_enabled": False}


def test_a_whole_day_works_without_script(visit, mira, demo, waiting, deliver):
    page = visit(None, "/drafts/", **NO_SCRIPT)
    page.get_by_label("Name").fill("mira")
    page.get_by_label("Password").fill("a good long password")
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Drafts")

    page.get_by_role("link", name="To odile").click()
    page.get_by_role("button", name="Approve").click()
    expect(page.locator("#item .badge.ours")).to_have_text("approved")
    assert deliver().sent == 1
    page.reload()
    expect(page.locator("#item .badge.ok")).to_contain_text("sent")

    page.goto("/messages/?spam_status=suspect")
    rows = page.locator(".msgs > li")
    before = rows.count()
    rows.first.get_by_role("button", name="Spam").click()
    expect(rows).to_have_count(before - 1)
    page.locator(".toast").get_by_role("button", name="Undo").click()
    expect(rows).to_have_count(before)

    page.locator(".top .sending > summary").click()
    page.locator("#pause-why").fill("Lunch")
    page.locator(".top").get_by_role("button", name="Pause").click()
    expect(page.locator(".top .sending > summary")).to_contain_text("Sending paused")

    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_role("heading", name="Sign in to Colloquy")).to_be_visible()
    page.goto("/drafts/")
    expect(page.get_by_role("heading", name="Sign in to Colloquy")).to_be_visible()


def test_a_phone_without_script_reaches_every_place(visit, mira, demo):
    page = visit(mira, "/", viewport={"width": 390, "height": 844}, **NO_SCRIPT)
    page.get_by_role("link", name="More").click()
    for name in ["Spam filter", "Surfaces", "Audit log"]:
        page.locator("main").get_by_role("link", name=name).click()
        expect(page.get_by_role("heading", level=1)).to_have_text(name)
        page.get_by_role("link", name="More").click()
