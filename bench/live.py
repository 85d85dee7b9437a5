"""News of the desk: what saying them costs those who store, and how soon 200 browsers are told."""

from __future__ import annotations

import sys
import time
from statistics import median

from bench.world import maintain, scratch_database, seconds

BROWSERS, NEWS, ROWS = 200, 20, 20_000
STORE = """
INSERT INTO messages (account_id, remote_id, post_id, created_at, kind, author, author_id,
    direction, title, content, url, submolt, raw_json, reply_attempts, spam_status, spam_score,
    spam_reasons, fingerprint, reply_why, seen_at)
SELECT account_id, 'bench-' || nextval('bench_numbers'), id, now(), 'comment', 'nightjar', '',
    'incoming', '', 'What of the reef?', '', '', '{}', 0, 'suspect', 0.7, '[]', '', '{}', now()
FROM messages, generate_series(1, %s) WHERE kind = 'post' AND id = %s
"""


def main() -> list[tuple[str, float, str]]:
    from django.db import connection

    from tests.factories import make_post

    post = make_post().pk
    with connection.cursor() as cursor:
        cursor.execute("CREATE SEQUENCE bench_numbers")
    return [_storing(post), *_telling(post)]


def _store(post: int, rows: int) -> None:
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute(STORE, [rows, post])


def _empty() -> None:
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM messages WHERE kind = 'comment'")
    maintain("VACUUM ANALYZE messages, desk_items")


def _storing(post: int) -> tuple[str, float, str]:
    """Suspects stored in one transaction, with the notices and without."""
    took: dict[str, list[float]] = {"ENABLE": [], "DISABLE": []}
    for _ in range(5):
        for state, samples in took.items():
            maintain(f"ALTER TABLE desk_items {state} TRIGGER live_desk")
            samples.append(seconds(lambda: _store(post, ROWS)))
            _empty()
    maintain("ALTER TABLE desk_items ENABLE TRIGGER live_desk")
    told, silent = min(took["ENABLE"]), min(took["DISABLE"])
    return (
        f"storing {ROWS:,} suspects, speed with notices against none",
        silent / told,
        f"{ROWS / told:,.0f}/s against {ROWS / silent:,.0f}/s; promise ≥ 0.8",
    )


def _telling(post: int) -> list[tuple[str, float, str]]:
    """From the commit to the last of 200 browsers, against one bare LISTEN; and their memory."""
    import psutil
    import psycopg
    from django.db import connection

    from tests.stories.listeners import Listeners
    from tests.web_server import web_server

    bare, ours = [], []
    with (
        web_server(WEB_WORKERS="1") as server,
        psycopg.connect(**connection.get_connection_params(), autocommit=True) as ear,
    ):
        session = sign_in()
        _warm_up(server.url, session)
        [worker] = [each for each in psutil.Process(server.pid).children() if _serves(each)]
        before = worker.memory_full_info().uss
        with Listeners(server.port, session, BROWSERS) as browsers:
            _wait(lambda: all(each.last for each in browsers.all))
            memory = (worker.memory_full_info().uss - before) / BROWSERS / 1024
            ear.execute("LISTEN colloquy")
            for _ in range(NEWS):
                time.sleep(1.05)  # told at most once a second
                since, began = time.monotonic(), time.perf_counter()
                _store(post, 1)
                next(ear.notifies(stop_after=1))
                bare.append(time.perf_counter() - began)
                _wait(lambda since=since: len(browsers.told(since)) == BROWSERS)
                ours.append(max(browsers.told(since)))
    return [
        (
            f"telling {BROWSERS} browsers of a new suspect: the last one, in seconds",
            median(ours),
            f"worst {max(ours):.3f} s; a bare LISTEN hears after {median(bare):.3f} s; promise ≤ 2",
        ),
        ("memory of a web process for each open stream, in KiB", memory, "promise ≤ 64"),
    ]


def sign_in() -> str:
    from django.test import Client

    from tests.factories import make_operator

    client = Client()
    client.force_login(make_operator())
    return client.cookies["sessionid"].value


def _warm_up(url: str, session: str) -> None:
    import httpx

    for _ in range(20):
        httpx.get(f"{url}/", cookies={"sessionid": session})


def _serves(process) -> bool:
    """Not the process that counts what the others share."""
    return "spawn_main" in " ".join(process.cmdline())


def _wait(is_so) -> None:
    ends_at = time.monotonic() + 30
    while not is_so():
        assert time.monotonic() < ends_at
        time.sleep(0.005)


if __name__ == "__main__":
    with scratch_database():
        sys.stdout.write(f"{main()}\n")
