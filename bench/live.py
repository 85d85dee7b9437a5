"""News of the desk: what saying them costs those who store, and how soon 200 browsers are told."""

from __future__ import annotations

import socket
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
    return [_storing(post), _telling(post)]


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


def _telling(post: int) -> tuple[str, float, str]:
    """From the commit to the last of 200 browsers, against one bare LISTEN."""
    import psycopg
    from django.db import connection

    from surfaces.live.streams import Streams

    params = connection.get_connection_params()
    streams = Streams(BROWSERS)
    streams.thread.start()
    browsers = _open(streams)
    _all_told(browsers)
    bare, ours = [], []
    with psycopg.connect(**params, autocommit=True) as ear:
        ear.execute("LISTEN colloquy")
        for _ in range(NEWS):
            time.sleep(1.05)  # told at most once a second
            began = time.perf_counter()
            _store(post, 1)
            next(ear.notifies(stop_after=1))
            bare.append(time.perf_counter() - began)
            _all_told(browsers)
            ours.append(time.perf_counter() - began)
    streams.stop()
    streams.thread.join()
    for browser in browsers:
        browser.close()
    return (
        f"telling {BROWSERS} browsers of a new suspect: the last one, in seconds",
        median(ours),
        f"worst {max(ours):.3f} s; a bare LISTEN hears after {median(bare):.3f} s; promise ≤ 2",
    )


def _open(streams) -> list[socket.socket]:
    from django.test import Client

    from surfaces.live.streams import Stream
    from tests.factories import make_operator

    operator, client = make_operator(), Client()
    client.force_login(operator)
    session = client.cookies["sessionid"].value
    browsers = []
    for _ in range(BROWSERS):
        theirs, ours = socket.socketpair()
        streams.take(Stream(operator=operator.pk, session=session, reach=operator.reach), ours)
        browsers.append(theirs)
    return browsers


def _all_told(browsers: list[socket.socket]) -> None:
    for browser in browsers:
        while b"event: now" not in browser.recv(65536):
            pass


if __name__ == "__main__":
    with scratch_database():
        sys.stdout.write(f"{main()}\n")
