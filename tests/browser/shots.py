"""`make shots`: every page of the demo in both themes and widths, as shots/*.png.

Runs in a scratch database. Two pages also go to docs/img, for who has not started it yet.
"""

from __future__ import annotations

import io
import os
import sys
from pathlib import Path
from typing import Any

from bench.world import scratch_database
from tests.browser.places import THEMES, WIDTHS, launching, pages

ROOT = Path(__file__).parents[2]
SHOTS = ROOT / "shots"
IMAGES = ROOT / "docs" / "img"
# For the docs, wide and light: the file and how high.
SHOWN = {"home": ("home.png", 640), "thread-with-draft": ("thread.png", 1120)}


def main() -> None:
    os.environ.setdefault("DJANGO_ALLOW_ASYNC_UNSAFE", "true")  # playwright runs a loop here
    SHOTS.mkdir(exist_ok=True)
    IMAGES.mkdir(parents=True, exist_ok=True)
    with scratch_database():
        from django.conf import settings
        from pytest_django.live_server_helper import LiveServer

        settings.STATIC_ROOT.mkdir(parents=True, exist_ok=True)
        session = _a_morning()
        server = LiveServer("localhost")
        try:
            taken = _take(server.url, {"name": "sessionid", "value": session, "url": server.url})
        finally:
            server.stop()
    sys.stdout.write(f"{taken} pictures in {SHOTS}\n")


def _a_morning() -> str:
    """The demo with one answer sent; return the session of an operator."""
    from django.core.management import call_command
    from django.test import Client
    from django.utils import timezone

    from surfaces import drafting
    from surfaces.delivery import deliver_due
    from surfaces.models import Draft
    from surfaces.sender import Sender
    from tests.browser.at_work import put_to_work
    from tests.factories import make_operator

    mira = make_operator(username="mira", role="admin", first_name="Mira", last_name="Kovač")
    call_command("demo", stdout=io.StringIO())
    put_to_work()
    draft = Draft.objects.waiting().latest("pk")
    drafting.approve(draft, digest=draft.digest(), by=mira.actor, now=timezone.now())
    deliver_due(Sender(), clock=timezone.now)
    client = Client()
    client.force_login(mira)
    return str(client.cookies["sessionid"].value)


def _take(url: str, cookie: dict[str, str]) -> int:
    from playwright.sync_api import sync_playwright

    places, taken = {"sign-in": "/sign-in", **pages()}, 0
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(**launching())
        for theme in THEMES:
            for width, height in WIDTHS.items():
                wishes: Any = {"color_scheme": theme, "reduced_motion": "reduce"}
                context = browser.new_context(
                    base_url=url, viewport={"width": width, "height": height}, **wishes
                )
                page = context.new_page()
                for name, path in places.items():
                    page.goto(path)
                    page.screenshot(path=SHOTS / f"{name}-{width}-{theme}.png", full_page=True)
                    if name in SHOWN and (width, theme) == (1440, "light"):
                        image, shown = SHOWN[name]
                        page.set_viewport_size({"width": width, "height": shown})
                        page.screenshot(path=IMAGES / image)
                    if name == "sign-in":
                        context.add_cookies([cookie])  # type: ignore[list-item]
                    taken += 1
                context.close()
        browser.close()
    return taken


if __name__ == "__main__":
    main()
