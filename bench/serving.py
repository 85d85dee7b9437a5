"""Pages from our web server beside the same pages from gunicorn's threads, request by request."""

from __future__ import annotations

import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from statistics import median
from time import perf_counter

from bench.live import sign_in
from bench.world import p95, scratch_database, seconds

# As pages were served before: two processes of eight threads.
GUNICORN = [
    *["-m", "gunicorn", "config.wsgi", "--bind=127.0.0.1:{port}", "--workers=2", "--threads=8"],
    *["--worker-class=gthread", "--no-control-socket", "--log-level=error"],
]
PAGES = ["/", "/desk/", "/messages/", "/drafts/", "/healthz"]
TIMES, AT_ONCE, MANY = 40, 16, 160


def main() -> list[tuple[str, float, str]]:
    from django.core.management import call_command

    from tests.web_server import web_server

    call_command("demo")
    session = sign_in()
    with web_server() as ours, web_server(GUNICORN) as gunicorn:
        browsers = [_browser(server.url, session) for server in (ours, gunicorn)]
        found = [_one_after_the_other(*browsers), _at_once(*browsers)]
        for browser in browsers:
            browser.close()
    return found


def _one_after_the_other(ours, gunicorn) -> tuple[str, float, str]:
    ratios = {}
    for page in PAGES:
        took: dict[str, list[float]] = {"ours": [], "gunicorn": []}
        for number in range(TIMES + 10):
            # Whoever comes first finds the database's cache colder.
            pair = [("ours", ours), ("gunicorn", gunicorn)][:: 1 if number % 2 else -1]
            for name, browser in pair:
                taken = seconds(partial(_get, browser, page)) * 1000
                if number >= 10:
                    took[name].append(taken)
        ratios[page] = median(took["ours"]) / median(took["gunicorn"])
        sys.stderr.write(
            f"  {page:12} {median(took['ours']):6.1f} ms against {median(took['gunicorn']):6.1f}"
            f" ms, p95 {p95(took['ours']):6.1f} against {p95(took['gunicorn']):6.1f}\n"
        )
    pages = {page: ratio for page, ratio in ratios.items() if page != "/healthz"}
    slowest = max(pages, key=lambda page: pages[page])
    words = f"slowest: {slowest}; promise ≤ 1.1"
    return "a page against the same from gunicorn's threads, median", pages[slowest], words


def _at_once(ours, gunicorn) -> tuple[str, float, str]:
    def many(browser) -> float:
        with ThreadPoolExecutor(AT_ONCE) as hands:
            started = perf_counter()
            list(hands.map(lambda number: _get(browser, PAGES[number % 4]), range(MANY)))
            return MANY / (perf_counter() - started)

    rounds = [(many(ours), many(gunicorn)) for _ in range(3)]
    best: Callable[[int], float] = lambda which: max(each[which] for each in rounds)  # noqa: E731
    words = f"{best(0):.0f}/s against {best(1):.0f}/s; promise ≥ 0.9"
    return f"pages a second, {AT_ONCE} at once", best(0) / best(1), words


def _browser(url: str, session: str):
    import httpx

    limits = httpx.Limits(max_connections=AT_ONCE, max_keepalive_connections=AT_ONCE)
    return httpx.Client(base_url=url, cookies={"sessionid": session}, timeout=60, limits=limits)


def _get(browser, page: str) -> None:
    answer = browser.get(page)
    assert answer.status_code == 200, (page, answer.status_code)


if __name__ == "__main__":
    with scratch_database():
        sys.stdout.write(f"{main()}\n")
