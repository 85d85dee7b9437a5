"""Several tabs of one browser share one stream, and nothing that is read moves."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Page, expect

from surfaces.models import DeskItem
from tests.browser.conftest import _session
from tests.factories import make_message, make_post
from tests.web_server import web_server

# What the desk has, on a page that has nothing else.
DESK = """newest => {
  document.querySelector("#main").innerHTML = `
    <span data-live-count="suspect">0</span>
    <section data-query="kind=suspect" data-newest="${newest}">
      <span role="status" data-live-news data-one="1 new" data-many="%s new"
        ><a href="?" hidden><span></span></a></span>
      <p>What is being read.</p>
    </section>`;
}"""


@pytest.fixture
def server(transactional_db: None) -> Iterator[str]:
    """The web process as `run` starts it, on the test's own database."""
    with web_server(WEB_WORKERS="1", WEB_THREADS="4") as running:
        yield running.url


@pytest.fixture
def tabs(server: str, mira, new_context) -> Callable[[], Page]:
    context = new_context(base_url=server)
    context.add_cookies([_session(mira, server)])

    def open_tab() -> Page:
        page = context.new_page()
        page.goto("/me")
        page.evaluate(DESK, DeskItem.objects.count())
        return page

    return open_tab


def test_eight_tabs_share_one_stream_and_are_offered_what_is_new(tabs):
    post = make_post()
    first = tabs()
    streams = []
    first.context.on("request", lambda asked: streams.append(asked.url))
    others = [tabs() for _ in range(7)]
    first.wait_for_timeout(1500)
    newest = DeskItem.objects.count()
    make_message(post=post, spam_status="suspect")
    for page in [first, *others]:
        expect(page.locator("#main [data-live-count]")).to_have_text("1")
    last = others[-1]
    words = last.get_by_text("What is being read.")
    assert newest == 0
    expect(last.get_by_role("link", name="1 new")).to_be_visible()
    make_message(post=post, spam_status="suspect")
    expect(last.get_by_role("link", name="2 new")).to_be_visible()
    expect(words).to_be_visible()
    assert len([url for url in streams if url.endswith("/live")]) <= 1
    # The tab that held the stream is closed: another takes over.
    first.close()
    make_message(post=post, spam_status="suspect")
    expect(last.locator("#main [data-live-count]")).to_have_text("3")


def test_without_streams_the_page_asks_and_an_ended_session_is_silent(visit, mira):
    page = visit(mira, "/me")  # Django's own server holds none
    page.evaluate(DESK, 0)
    page.wait_for_event("response", lambda answer: answer.url.endswith("/live/now"))
    make_message(spam_status="suspect")
    page.wait_for_timeout(1_100)  # answers are shared for a second
    with page.expect_response("**/live/now"):
        page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
    expect(page.locator("#main [data-live-count]")).to_have_text("1")
    page.context.clear_cookies()
    with page.expect_response("**/live/now") as answer:
        page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
    assert answer.value.status == 401
    page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
    expect(page.get_by_text("What is being read.")).to_be_visible()
