"""Look at one page as it stands: does it fit, does it say what it is for, who is kept out?"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import axe_playwright_python
from playwright.sync_api import BrowserContext, Page

from tests.browser.pages import WIDTHS

TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
# All that the other theme can change.
OF_COLOUR = ["color-contrast", "link-in-text-block"]
# What follows the scroll position, or turns as long as it is shown, never finishes. Of the children
# of one element the first twelve are looked at: rows of a list are alike.
RUN = """async ([tags, rules]) => {
  const ending = () => document.getAnimations().filter((each) =>
    each.timeline === document.timeline && each.effect.getComputedTiming().endTime < Infinity);
  for (let left; (left = ending()).length;)
    await Promise.all(left.map((each) => each.finished.catch(() => 0)));
  const exclude = [...document.querySelectorAll("main *")]
    .flatMap((each) => [...each.children].slice(12));
  const runOnly = rules ? { type: "rule", values: rules } : { type: "tag", values: tags };
  const found = await axe.run({ include: document, exclude },
    { runOnly, resultTypes: ["violations"], preload: false, iframes: false });
  return found.violations.flatMap((broken) => broken.nodes.map((node) =>
    `${broken.id}: ${node.target.join(" ")}: ${node.html.slice(0, 200)}: ` +
    [...node.any, ...node.all, ...node.none].map((each) => each.message).join("; ")));
}"""
# What reaches beyond the right edge and cannot be scrolled to.
OUT_OF_PLACE = """() => {
  const wide = document.scrollingElement.clientWidth;
  const inside = (e) => { for (let p = e.parentElement; p; p = p.parentElement) {
    if (getComputedStyle(p).overflowX !== "visible") return true } return false };
  return [...document.querySelectorAll("main *")].filter((e) => {
    const box = e.getBoundingClientRect();
    return box.width > 1 && box.right > wide + 1 && e.checkVisibility() && !inside(e);
  }).map((e) => `out of place: ${e.outerHTML.slice(0, 120)}`).slice(0, 3);
}"""
# What sticks out of its panel: widths between a desk and a phone are where tables get tight.
BETWEEN = (1280, 1024, 768)
OUT_OF_PANEL = """() => [...document.querySelectorAll("main .panel")].flatMap((panel) => {
  const edge = panel.getBoundingClientRect().right + 1;
  const inside = (e) => { for (let p = e.parentElement; p !== panel; p = p.parentElement) {
    if (getComputedStyle(p).overflowX !== "visible") return true } return false };
  return [...panel.querySelectorAll(":not(svg *, .float, .float *, .sr, .sr *)")].filter((e) =>
    e.getBoundingClientRect().right > edge && e.checkVisibility() && !inside(e));
}).map((e) => `out of its panel: ${e.outerHTML.slice(0, 120)}`).slice(0, 3)"""
SPOKEN = """() => {
  const heads = [...document.querySelectorAll("h1")], wrong = [];
  if (heads.length !== 1) wrong.push(`${heads.length} h1`);
  const help = heads[0]?.parentElement.querySelector("p")?.textContent.trim() ?? "";
  if (help.length < 8) wrong.push(`no sentence says what the page is for: "${help}"`);
  const lit = [...document.querySelectorAll("main:not(:has(.parts-page)) .btn.primary")]
    .filter((each) => each.checkVisibility());
  if (lit.length > 1) wrong.push(`${lit.length} primary buttons`);
  return wrong;
}"""


@cache
def _axe() -> str:
    return Path(axe_playwright_python.__file__).with_name("axe.min.js").read_text("utf-8")


def equip(context: BrowserContext) -> None:
    """From now on every document of these pages has axe; our own policy lets no page fetch it."""
    context.add_init_script(_axe())


def barriers(page: Page, rules: list[str] | None = None) -> list[str]:
    return list(page.evaluate(RUN, [TAGS, rules]))


def settle(page: Page) -> None:
    """The desk fetches its queue, and what stands beside it, after the page."""
    if page.locator("main[data-desk]").count():
        page.wait_for_selector("#queue .scroll-list", state="attached")
        page.wait_for_function("() => !document.querySelector('.htmx-request')")


def inspect(page: Page) -> list[str]:
    """Everything that is wrong, in both themes and at both widths."""
    wide, narrow = WIDTHS
    found: list[str] = page.evaluate(SPOKEN)
    for theme, width, rules in [
        ("light", wide, None),
        ("dark", wide, OF_COLOUR),
        ("dark", narrow, []),
    ]:
        page.emulate_media(color_scheme=theme)  # type: ignore[arg-type]
        page.set_viewport_size({"width": width, "height": WIDTHS[width]})
        wrong: list[Any] = [] if rules == [] else barriers(page, rules)
        if page.evaluate("document.documentElement.scrollWidth") > width:
            wrong.append("it scrolls sideways")
        wrong += page.evaluate(OUT_OF_PLACE)
        found += [f"{theme}, {width} px: {each}" for each in wrong]
    for width in BETWEEN:
        page.set_viewport_size({"width": width, "height": WIDTHS[wide]})
        found += [f"{width} px: {each}" for each in page.evaluate(OUT_OF_PANEL)]
    page.set_viewport_size({"width": wide, "height": WIDTHS[wide]})
    return found
