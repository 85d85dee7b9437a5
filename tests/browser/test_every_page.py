"""Every page, in both themes and at both widths: quiet, in place, and open to everybody."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.urls import Resolver404, get_resolver, resolve, reverse
from playwright.sync_api import Page

from surfaces.models import Operator
from tests.browser.barriers import equip, inspect, settle
from tests.browser.full_site import cookie, furnish, make_mira
from tests.browser.pages import groups, pages, visits

# What answers a GET and is no page, with the reason.
NO_PAGES = {
    "surfaces:healthz": "for a watchdog",
    "surfaces:live": "a stream",
    "surfaces:live_now": "for a script",
    "surfaces:live_news": "for a script",
    "surfaces:live_sending": "a part of the frame",
    "surfaces:api_me": "for programs",
    "surfaces:desk_rows": "a part of the desk",
    "surfaces:desk_reading": "a part of an item",
    "surfaces:desk_story": "a part of an item",
    "surfaces:desk_views": "a part of the desk",
    "surfaces:reset_password": "leads back: its answer to a POST is the operator's page",
    "surfaces:message": "leads to its thread",
    "surfaces:renew_codes": "leads back: its answer to a POST is the page of the codes",
    "surfaces:two_factor_off": "leads back",
    "dialogue:set_hook": "leads back",
    "dialogue:run_agent": "leads back: its answer to a POST is the page of the agent",
}


@pytest.fixture
def house(transactional_db: None) -> Operator:
    """Mira, in a house with everything in it."""
    mira = make_mira()
    furnish(mira)
    return mira


@pytest.fixture
def look(visit: Callable[..., Page]) -> Callable[..., list[str]]:
    """Visit many pages in one browser; say what is wrong with any of them."""

    def walk(page: Page, places: dict[str, str], status: int = 200) -> list[str]:
        found = []
        for name, path in places.items():
            answer = page.goto(path)
            if answer is None or answer.status != status:
                found.append(f"{name}: {path}: status {answer and answer.status}")
            settle(page)
            found += [f"{name}: {each}" for each in inspect(page)]
        return found

    return walk


@pytest.mark.parametrize("group", ["desk", "talk", "agents", "settings"])
def test_every_page_is_open_to_everybody(visit, house, look, group):
    page = visit(house, "/healthz")
    equip(page.context)
    found = look(page, groups()[group])
    assert not found, "\n".join(found)


def test_the_doors_and_what_others_see_are_open_to_everybody(visit, house, look):
    found = []
    page = visit(None, "/healthz")
    equip(page.context)
    home = page.url.removesuffix("/healthz")
    for each in visits():
        page.goto("about:blank")  # or what an open page still asks leads to the door
        page.context.clear_cookies()
        if each.who:
            page.context.add_cookies([cookie(each.who, home)])
        found += look(page, {each.name: each.path}, each.status)
    assert not found, "\n".join(found)


@pytest.mark.django_db(transaction=True)
def test_no_page_is_missing_from_the_list(client):
    """Whatever answers a GET is listed, or is said to be no page."""
    mira = make_mira()
    furnish(mira)
    client.force_login(mira)
    paths = [*pages().values(), *(each.path for each in visits())]
    listed = {name_of(path.partition("?")[0]) for path in paths}
    missing = [
        name
        for name, place in addresses()
        if name not in listed | set(NO_PAGES) and client.get(place).status_code != 405
    ]
    assert missing == []
    assert not set(NO_PAGES) & listed


def name_of(path: str) -> str:
    try:
        return resolve(path).view_name
    except Resolver404:
        return ""


def addresses() -> list[tuple[str, str]]:
    """Each name of ours with an address of it: of what row does not matter to what only acts."""
    found = []
    for part in get_resolver().url_patterns:
        app = getattr(part, "app_name", None)
        for one in part.url_patterns if app in {"surfaces", "dialogue"} else []:
            given = {key: 1 if key == "pk" else "x" for key in one.pattern.converters}
            name = f"{app}:{one.name}"
            found.append((name, reverse(name, kwargs=given)))
    assert len(found) > 100
    return found


def test_a_wrong_address_leads_home(visit, mira):
    page = visit(mira, "/nothing/here")
    assert page.get_by_role("heading", name="Page not found").is_visible()
    page.get_by_role("link", name="Go to the home page").click()
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
        ("surface", "details.confirm:nth-of-type(1)"),
        ("surface", "details.confirm:nth-of-type(2)"),
    ]:
        page.goto(pages()[name])
        page.locator(f"{opener} > summary").click()
        box = page.locator(f"{opener} > .float").bounding_box()
        assert box["x"] >= 0, name
        assert box["x"] + box["width"] <= 390, name
