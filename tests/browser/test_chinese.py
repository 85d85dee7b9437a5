"""In Chinese every page fits, too: shorter words, wider letters, other line breaks."""

from __future__ import annotations

from surfaces.models import Operator
from tests.browser.pages import pages

CLIPPED = """() => [...document.querySelectorAll(".btn, .badge, .tabs a, th, h1, .tabbar a")]
  .filter((e) => e.checkVisibility() && getComputedStyle(e).overflowX !== "visible"
    && e.scrollWidth > e.clientWidth + 1 && e.clientWidth > 2)
  .map((e) => e.outerHTML.slice(0, 100)).slice(0, 3)"""


def test_every_page_fits_a_phone_in_chinese(page_of_mira, mira, gabriel):
    Operator.objects.update(language="zh-hans")
    page = page_of_mira(viewport={"width": 390, "height": 844})
    for name, path in pages().items():
        page.goto(path)
        assert page.evaluate("document.documentElement.lang") == "zh-hans", name
        assert page.evaluate("document.scrollingElement.scrollWidth") <= 390, name
        assert page.evaluate(CLIPPED) == [], name
