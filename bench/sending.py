"""Sending 1,000 approved drafts to a local service answering in 20 ms, against bare httpx."""

from __future__ import annotations

import multiprocessing
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count
from multiprocessing.connection import Connection
from time import perf_counter, sleep

import httpx

from bench.world import scratch_database

DRAFTS, AT_ONCE, ANSWERS_IN = 1_000, 4, 0.020
_number = count(1)


class Slow(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # or each answer takes 40 ms more than it says

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        sleep(ANSWERS_IN)
        body = (
            b'{"success":true,"comment":{"id":"c%d","content":"x","score":0,"depth":1,'
            b'"created_at":"2026-11-21T12:00:00.000Z"}}' % next(_number)
        )
        self.send_response(201)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        return


def serve(tells: Connection) -> None:
    """The service, in a process of its own, as services are."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Slow)
    server.daemon_threads = True
    tells.send(server.server_address[1])
    server.serve_forever()


def main() -> tuple[str, float, str]:
    context = multiprocessing.get_context("spawn")
    hears, tells = context.Pipe(duplex=False)
    service = context.Process(target=serve, args=[tells], daemon=True)
    service.start()
    url = f"http://127.0.0.1:{hears.recv()}/api/v1"
    ours, theirs = [], []
    for _ in range(2):
        theirs.append(_bare(url))
        ours.append(_deliver(url))
    service.kill()
    ratio = min(theirs) / min(ours)
    return (
        f"sending 1,000 drafts, {AT_ONCE} at once, speed against bare httpx",
        ratio,
        f"{DRAFTS / min(ours):.0f}/s against {DRAFTS / min(theirs):.0f}/s; promise ≥ 0.8",
    )


def _bare(url: str) -> float:
    numbers = iter(range(DRAFTS))
    lock = threading.Lock()

    def work() -> None:
        with httpx.Client(base_url=url) as client:
            while True:
                with lock:
                    number = next(numbers, None)
                if number is None:
                    return
                client.post("/posts/p/comments", json={"content": f"answer {number}"})

    return _together(work)


def _deliver(url: str) -> float:
    from django.db import connection
    from django.utils import timezone

    from surfaces.delivery import sender
    from surfaces.models import Draft
    from surfaces.workers.locks import WorkerLock
    from tests.factories import make_account, make_message, make_post, make_surface

    account = make_account(surface=make_surface(base_url=url, dialect="open"))
    post = make_post(account=account)
    now = timezone.now()
    for number in range(DRAFTS):
        draft = Draft(
            account=account, what="reply", target=make_message(post=post), state="approved",
            text=f"answer {number} {next(_number)}", made_by="bench", made_at=now, not_before=now,
        )  # fmt: skip
        draft.approved_digest = draft.digest()
        draft.save()

    def work() -> None:
        sender.deliver_due(WorkerLock(), clock=timezone.now)
        connection.close()

    took = _together(work)
    assert Draft.objects.filter(account=account, state="sent").count() == DRAFTS
    account.surface.base_url = f"{url}/{next(_number)}"
    account.surface.save()
    return took


def _together(work) -> float:
    threads = [threading.Thread(target=work) for _ in range(AT_ONCE)]
    started = perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return perf_counter() - started


if __name__ == "__main__":
    with scratch_database():
        sys.stdout.write(f"{main()}\n")
