"""A real Chromium on the real pages. Whatever it complains of fails the test."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterator
from datetime import timedelta
from threading import Condition
from time import sleep
from typing import Any

import pytest
from django.core.management import call_command
from django.core.signals import request_finished, request_started
from django.db import connection
from django.test import Client
from django.utils import timezone
from playwright.sync_api import BrowserContext, Page, expect

from dialogue.models import Agent
from surfaces.delivery.sender import DeliveryReport, deliver_due
from surfaces.models import Draft, Operator
from surfaces.workers.locks import WorkerLock
from tests.browser.pages import launching
from tests.browser.processes import put_to_work
from tests.factories import make_operator
from tests.worlds import World

PATIENCE = 20_000  # ms; a machine that tests with all its cores is slow to answer
expect.set_options(timeout=PATIENCE)

# Chromium's own words about an answer of 400 or above; the page has said it better.
# A browser that is offline says so, too.
REFUSED = re.compile(
    r"Failed to load resource: (the server responded with a status of 4\d\d"
    r"|net::ERR_INTERNET_DISCONNECTED)"
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if "tests/browser/" in item.nodeid:
            item.add_marker(pytest.mark.browser)


@pytest.fixture(scope="session")
def browser_type_launch_args(browser_type_launch_args: dict[str, Any]) -> dict[str, Any]:
    return {**browser_type_launch_args, **launching()}


@pytest.fixture(scope="session")
def base_url() -> None:
    """Each context gets the live server's; the plugin's own fixture is of a deprecated kind."""


@pytest.fixture
def mira(transactional_db: None) -> Operator:
    return make_operator(username="mira", role="admin", first_name="Mira", last_name="Kovač")


def make_demo() -> None:
    call_command("demo", stdout=io.StringIO())


def make_demo_at_work() -> None:
    make_demo()
    put_to_work()


DEMO = World("demo", make_demo)
DEMO_AT_WORK = World("demo_at_work", make_demo_at_work)


@pytest.fixture
def demo(request: pytest.FixtureRequest, transactional_db: None) -> None:
    (DEMO_AT_WORK if "gabriel" in request.fixturenames else DEMO).lay_out()


@pytest.fixture
def gabriel(demo: None) -> Agent:
    """An agent at work in the demo."""
    return Agent.objects.get(slug="gabriel")


@pytest.fixture
def waiting(demo: None) -> Draft:
    """The oldest draft of the demo."""
    return Draft.objects.waiting().select_related("target").earliest("pk")


class RequestsUnderWay:
    """How many requests are being answered in this process."""

    def __init__(self) -> None:
        self.number, self._changed = 0, Condition()
        request_started.connect(self._begins)
        request_finished.connect(self._ends)

    def _begins(self, **facts: Any) -> None:
        with self._changed:
            self.number += 1

    def _ends(self, **facts: Any) -> None:
        with self._changed:
            self.number -= 1
            self._changed.notify_all()

    def wait_for_end(self) -> None:
        sleep(0.03)  # what was sent last has begun by then
        with self._changed:
            self._changed.wait_for(lambda: self.number <= 0, timeout=5)


UNDER_WAY = RequestsUnderWay()


@pytest.fixture(autouse=True)
def _requests_end(request: pytest.FixtureRequest) -> Iterator[None]:
    """What a page asked for last is answered, after it was closed, while the test's data stand."""
    if "live_server" in request.fixturenames:
        request.getfixturevalue("transactional_db")
    yield
    if "live_server" in request.fixturenames:
        UNDER_WAY.wait_for_end()


Visit = Callable[..., Page]


@pytest.fixture
def visit(new_context: Callable[..., BrowserContext], live_server: Any) -> Visit:
    """Open a browser for an operator: `visit(mira, "/drafts/", java_script_enabled=False)`."""

    def open_browser(operator: Operator | None, path: str, **wishes: Any) -> Page:
        wishes = {"viewport": {"width": 1440, "height": 900}, "reduced_motion": "reduce"} | wishes
        context = new_context(base_url=live_server.url, **wishes)
        context.set_default_timeout(PATIENCE)
        context.on("page", lambda page: _listen(page, live_server.url))
        if operator:
            context.add_cookies([_session(operator, live_server.url)])
        page = context.new_page()
        page.goto(path)
        return page

    _complaints.clear()
    return open_browser


_complaints: list[str] = []


def _listen(page: Page, home: str) -> None:
    def hear(kind: str, words: str) -> None:
        if kind in {"error", "warning"} and not REFUSED.match(words):
            _complaints.append(f"{page.url}: {kind}: {words}")

    page.on("console", lambda message: hear(message.type, message.text))
    page.on("pageerror", lambda error: hear("error", str(error)))
    page.on("request", lambda asked: asked.url.startswith((home, "data:")) or hear(
        "error", f"a request left this machine: {asked.url}"))  # fmt: skip


@pytest.fixture(autouse=True)
def _silence() -> Iterator[None]:
    """No error in the console, nothing the policy refused, no request to anybody else."""
    yield
    assert _complaints == []


def _session(operator: Operator, url: str) -> Any:
    client = Client()
    client.force_login(operator)
    return {"name": "sessionid", "value": client.cookies["sessionid"].value, "url": url}


@pytest.fixture
def page_of_mira(visit: Visit, mira: Operator, demo: None) -> Callable[..., Page]:
    return lambda path="/", **wishes: visit(mira, path, **wishes)


@pytest.fixture
def deliver(transactional_db: None) -> Iterator[Callable[[], DeliveryReport]]:
    """What the sending process does, once, when the time to undo is over."""
    sender, undo = WorkerLock(), timedelta(seconds=11)
    yield lambda: deliver_due(sender, clock=lambda: timezone.now() + undo)
    connection.close()  # with it goes the sender's lock
