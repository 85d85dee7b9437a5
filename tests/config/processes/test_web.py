"""The web processes themselves: pages over HTTP, their lives and deaths."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator

import httpx
import psutil
import pytest
from django.test import Client

from surfaces.models import Worker
from tests.config.processes.server import until
from tests.factories import make_operator
from tests.web_server import WebServer, web_server

pytestmark = pytest.mark.django_db(transaction=True)
WORDS = "a pasted text " * 150_000  # 2.1 MB


@pytest.fixture
def server() -> Iterator[WebServer]:
    with web_server(WEB_WORKERS="2", WEB_THREADS="2") as running:
        yield running


@pytest.fixture
def browser(server: WebServer) -> Iterator[httpx.Client]:
    signed_in = Client()
    signed_in.force_login(make_operator())
    cookies = {"sessionid": signed_in.cookies["sessionid"].value}
    with httpx.Client(base_url=server.url, cookies=cookies, timeout=20) as client:
        assert client.get("/me").status_code == 200
        yield client


def pids() -> set[int]:
    return set(Worker.objects.filter(kind="web").values_list("pid", flat=True))


def post(browser: httpx.Client, words: str) -> httpx.Response:
    token = browser.cookies["csrftoken"]
    return browser.post("/me", data={"first_name": words, "csrfmiddlewaretoken": token})


def test_pages_files_and_heads_are_served(browser):
    page = browser.get("/me")
    assert (page.status_code, page.headers["content-encoding"]) == (200, "gzip")
    assert "server" not in page.headers
    assert browser.head("/healthz").content == b""
    assert browser.get("/static/site.css").headers["content-type"].startswith("text/css")
    assert browser.get("/no-such-page").status_code == 404
    assert browser.get("/desk/?q=%FF%00").status_code == 400


def test_a_pasted_text_of_two_megabytes_is_answered_with_a_sentence(browser):
    answer = post(browser, WORDS)
    assert answer.status_code in {200, 422}
    assert "</html>" in answer.text


def test_a_text_beyond_the_limit_is_refused_with_a_page(browser):
    answer = post(browser, WORDS * 3)
    assert (answer.status_code, "</html>" in answer.text) == (400, True)
    assert browser.get("/me").status_code == 200


def test_a_worker_that_dies_is_replaced_and_each_has_its_heartbeat(server):
    until(lambda: len(pids()) == 2)
    before = pids()
    killed = before.pop()
    os.kill(killed, signal.SIGKILL)
    until(lambda: killed not in (now := pids()) and now > before)
    assert server.answers()
    server.terminate()
    server.wait(20)
    assert pids() == set()


def test_workers_end_when_what_started_them_is_killed(server):
    until(lambda: len(pids()) == 2)
    workers = [psutil.Process(pid) for pid in pids()]
    server.kill()
    until(lambda: not any(each.is_running() for each in workers))
    assert pids() == set()


def test_an_end_takes_its_connections_to_the_database_along(server, browser):
    for _ in range(10):
        browser.get("/me")
    begun = time.monotonic()
    server.terminate()
    server.wait(20)
    assert time.monotonic() - begun < 4
    assert not server.answers()


def test_each_request_is_logged_where_that_is_asked_for_and_keys_are_masked():
    command = ["-m", "config.processes.web", "--port={port}", "--access-log"]
    with web_server(command, WEB_WORKERS="1", LOG_LEVEL="INFO") as server:
        httpx.get(f"{server.url}/healthz?token=very-secret-words")
        server.terminate()
        said = server.communicate(timeout=20)[1]
    assert "GET /healthz?token=*** HTTP/1.1" in said
    assert "very-secret" not in said
