"""`make shots`: every page in both themes and widths, as shots/*.png; a few in Chinese.

Runs in a scratch database. What README.md and docs/ show goes to docs/img, wide and light; a font
with Chinese letters must be here (on Debian: fonts-noto-cjk).
"""

from __future__ import annotations

import base64
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from bench.world import scratch_database
from tests.browser.pages import THEMES, WIDTHS, Visit, launching, pages, visits

ROOT = Path(__file__).parents[2]
SHOTS = ROOT / "shots"
IMAGES = ROOT / "docs" / "img"
CHINESE = ("home", "desk", "thread-with-draft", "house", "spam-filter")
MOST = 120_000  # bytes of one picture in the docs


class Shown(NamedTuple):
    """A picture of the docs: the page, how high, and what part of it."""

    page: str
    file: str
    height: int = 800
    part: str = ""  # a selector; empty is what fits the window


# Kinds of items, and how high the pane is shown.
KINDS = {
    "suspect": 640,
    "draft": 900,
    "lapsed": 900,
    "failed": 900,
    "unknown": 900,
    "given_up": 620,
    "account": 480,
    "tool_call": 860,
}
DOCS = [
    Shown("desk", "desk.webp", 860),
    Shown("home", "home.webp", 860),
    Shown("thread-with-draft", "thread.webp", 900),
    Shown("spam-filter", "spam-filter.webp", 1000),
    Shown("house", "settings.webp", 820),
    Shown("operators", "operators.webp", 560),
    Shown("notices", "notices.webp", 640),
    *(
        Shown(f"desk-{kind}", f"item-{kind.replace('_', '-')}.webp", height, "#item")
        for kind, height in KINDS.items()
    ),
]
OF_DOCS = 1280  # px, how wide
WIDE = next(iter(WIDTHS.items()))


def main() -> None:
    os.environ.setdefault("DJANGO_ALLOW_ASYNC_UNSAFE", "true")  # playwright runs a loop here
    SHOTS.mkdir(exist_ok=True)
    IMAGES.mkdir(parents=True, exist_ok=True)
    with scratch_database(), _served() as url:
        taken = _take(url)
    sys.stdout.write(f"{taken} pictures in {SHOTS}, {len(DOCS)} in {IMAGES}\n")


@contextmanager
def _served() -> Iterator[str]:
    """A house with everything in it, and a server that shows it."""
    from django.conf import settings
    from django.db import connection
    from pytest_django.live_server_helper import LiveServer

    from tests.browser.full_site import furnish, make_mira

    settings.STATIC_ROOT.mkdir(parents=True, exist_ok=True)
    settings.STYLE_GUIDE = True
    furnish(make_mira())
    server = LiveServer("localhost")
    try:
        yield server.url
    finally:
        server.stop()
        with connection.cursor() as cursor:  # what a thread of the server left open
            cursor.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                " WHERE datname = current_database() AND pid <> pg_backend_pid()"
            )


def _take(url: str) -> int:
    from playwright.sync_api import sync_playwright

    places = [*visits(), *(Visit(name, path, "mira") for name, path in pages().items())]
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(**launching())
        context = browser.new_context(base_url=url, reduced_motion="reduce")
        page = context.new_page()
        _enter(page, "mira", url)
        for shown in DOCS:  # first, while everything is fresh
            _for_the_docs(page, shown, pages()[shown.page])
        taken = sum(_in_all_looks(page, each, url) for each in places)
        taken += _in_chinese(browser, url)
        browser.close()
    return taken


def _enter(page: Any, who: str, url: str) -> None:
    from tests.browser.full_site import cookie

    page.context.clear_cookies()
    if who:
        page.context.add_cookies([cookie(who, url)])


def _in_all_looks(page: Any, each: Visit, url: str) -> int:
    from tests.browser.barriers import settle

    _enter(page, each.who, url)
    page.set_viewport_size(dict(zip(("width", "height"), WIDE, strict=True)))
    answer = page.goto(each.path)
    if answer.status != each.status:
        raise SystemExit(f"{each.path} answered with status {answer.status}.")
    settle(page)
    for width, height in WIDTHS.items():
        page.set_viewport_size({"width": width, "height": height})
        for theme in THEMES:
            page.emulate_media(color_scheme=theme)
            page.screenshot(path=SHOTS / f"{each.name}-{width}-{theme}.png", full_page=True)
    return len(WIDTHS) * len(THEMES)


def _for_the_docs(page: Any, shown: Shown, path: str) -> None:
    from tests.browser.barriers import settle

    page.set_viewport_size({"width": OF_DOCS, "height": shown.height})
    page.emulate_media(color_scheme="light")
    page.goto(path)
    settle(page)
    wish: dict[str, Any] = {"format": "webp", "quality": 82}
    if shown.part:
        box = page.locator(shown.part).bounding_box()
        wish["clip"] = {**box, "scale": 1}
    taken = page.context.new_cdp_session(page).send("Page.captureScreenshot", wish)
    content = base64.b64decode(taken["data"])
    if len(content) > MOST:
        raise SystemExit(f"{shown.file} has {len(content)} bytes, {MOST} at most.")
    (IMAGES / shown.file).write_bytes(content)


def _in_chinese(browser: Any, url: str) -> int:
    from tests.browser.barriers import settle

    context = browser.new_context(base_url=url, reduced_motion="reduce", locale="zh-CN")
    page = context.new_page()
    _enter(page, "mira", url)
    for name in CHINESE:
        page.set_viewport_size(dict(zip(("width", "height"), WIDE, strict=True)))
        page.goto(pages()[name])
        settle(page)
        for width, height in WIDTHS.items():
            page.set_viewport_size({"width": width, "height": height})
            page.screenshot(path=SHOTS / f"{name}-{width}-zh.png", full_page=True)
    context.close()
    return len(CHINESE) * len(WIDTHS)


if __name__ == "__main__":
    main()
