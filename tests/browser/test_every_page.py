from __future__ import annotations

import pytest

from tests.browser.places import THEMES, pages

OUT_OF_PLACE = """() => {
  const wide = document.scrollingElement.clientWidth;
  const inside = (e) => { for (let p = e.parentElement; p; p = p.parentElement) {
    if (getComputedStyle(p).overflowX !== "visible") return true } return false };
  return [...document.querySelectorAll("main *")].filter((e) => {
    const box = e.getBoundingClientRect();
    return box.width > 1 && box.right > wide + 1 && e.checkVisibility() && !inside(e);
  }).map((e) => e.outerHTML.slice(0, 120)).slice(0, 3);
}"""


@pytest.mark.parametrize("theme", THEMES)
def test_every_page_is_quiet_and_fits_a_desk_and_a_phone(page_of_mira, gabriel, theme):
    page = page_of_mira(color_scheme=theme)
    for name, path in pages().items():
        response = page.goto(path)
        assert (name, response.status) == (name, 200)
        assert page.locator("h1").count() == 1, name
        assert page.locator("main .btn.primary:visible").count() <= 1, name
        assert page.evaluate("document.scrollingElement.scrollWidth") <= 1440, name
        page.set_viewport_size({"width": 390, "height": 844})
        assert page.evaluate("document.scrollingElement.scrollWidth") <= 390, name
        assert page.evaluate(OUT_OF_PLACE) == [], name
        page.set_viewport_size({"width": 1440, "height": 900})


def test_the_pages_without_a_frame_are_quiet_too(visit, mira):
    for path, status in [("/sign-in", 200), ("/healthz", 200)]:
        page = visit(None, path)
        assert page.goto(path).status == status
    page = visit(mira, "/nothing/here")
    assert page.get_by_role("heading", name="There is nothing here").is_visible()
    page.get_by_role("link", name="Go home").click()
    assert page.get_by_role("heading", name="Welcome to Colloquy").is_visible()


def test_no_button_on_a_phone_is_too_small_for_a_thumb(page_of_mira):
    page = page_of_mira(viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
    for path in [pages()[name] for name in ("home", "draft", "thread")]:
        page.goto(path)
        for button in page.locator("main .btn:visible:not(.mini)").all():
            assert button.bounding_box()["height"] >= 36, (path, button.inner_text())


def test_a_long_change_leaves_the_ledger_its_other_columns(page_of_mira, gabriel):
    page = page_of_mira("/ledger/")
    for cell in page.locator("td[data-l=Did] a").all():
        assert cell.bounding_box()["height"] < 30, cell.inner_text()  # one line


def test_a_thread_prints_without_its_frame(page_of_mira):
    page = page_of_mira(pages()["thread"])
    page.emulate_media(media="print")
    assert not page.locator(".side").is_visible()
    assert not page.locator(".top").is_visible()
    assert page.locator(".node .text").first.is_visible()


def test_what_opens_on_a_phone_stays_on_the_phone(page_of_mira):
    page = page_of_mira(viewport={"width": 390, "height": 844})
    for name, opener in [
        ("home", ".top .sending"),
        ("account", "details.confirm"),
        ("surface", "details.confirm"),
    ]:
        page.goto(pages()[name])
        page.locator(f"{opener} > summary").click()
        box = page.locator(f"{opener} > .float").bounding_box()
        assert box["x"] >= 0, name
        assert box["x"] + box["width"] <= 390, name
