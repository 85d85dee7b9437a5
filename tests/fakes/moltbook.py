"""A Moltbook of our own, for tests: real HTTP, both dialects, faults on demand, its own ledger.

    with FakeMoltbook(dialect="live") as fake:
        key = fake.add_agent("iris")
        fake.fault("500-after", match="POST .*comments")

As a program it prints its address as one JSON line; other processes drive it
under /_fake/.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.fakes.loopback import Handler, Loopback
from tests.fakes.moltbook_faults import SILENT, Faults, Reply, instead, spoil
from tests.fakes.moltbook_routes import Call, Routes
from tests.fakes.moltbook_world import Comment, Post, World

BASE = "/api/v1"


class FakeMoltbook(Loopback):
    """The fake server. `limits` maps bucket to (most, seconds); by default there are none."""

    def __init__(
        self,
        *,
        dialect: str = "open",
        port: int = 0,
        limits: dict[str, tuple[int, float]] | None = None,
        challenges: bool = False,
        challenge_seconds: float = 300.0,
        hide_pending: bool = True,
        suspend_status: int = 403,
    ) -> None:
        super().__init__(_Handler, port=port)
        self.world = World(dialect)
        self.faults = Faults()
        self.routes = Routes(
            self.world,
            limits=dict(limits or {}),
            challenges=challenges,
            challenge_seconds=challenge_seconds,
            hide_pending=hide_pending,
            suspend_status=suspend_status,
        )
        self.requests: list[tuple[str, str, int]] = []
        self._late: list[tuple[float, Call]] = []

    @property
    def url(self) -> str:
        return self.root + BASE

    # ── for tests ─────────────────────────────────────────────────────────

    def add_agent(self, name: str, *, claimed: bool = True) -> str:
        """Add an agent and return its key."""
        return self.world.add_agent(name, claimed=claimed).key

    def add_submolt(self, name: str) -> None:
        self.world.submolts.add(name)

    def add_post(
        self, author: str, title: str = "A post", text: str = "words", community: str = "general"
    ) -> str:
        self.add_submolt(community)
        return self.world.add_post(self.world.agent(author), title, text, community).id

    def add_comment(self, post: str, author: str, text: str, parent: str | None = None) -> str:
        above = self.world.comments[parent] if parent else None
        return self.world.add_comment(
            self.world.posts[post], self.world.agent(author), text, above
        ).id

    def delete_comment(self, comment: str) -> None:
        self.world.delete_comment(self.world.comments[comment])

    def delete_post(self, post: str) -> None:
        self.world.delete_post(self.world.posts[post])

    def suspend(self, name: str, seconds: float = 86400) -> None:
        self.world.agent(name).suspended_until = self.world.now() + seconds

    def fault(
        self, name: str, *, times: int = 1, match: str = "", skip: int = 0, seconds: float = 120.0
    ) -> None:
        """Let the next `times` requests that match ("POST .*comments") go wrong."""
        self.faults.add(name, times=times, match=match, skip=skip, seconds=seconds)

    def faults_by_chance(
        self, seed: int, chances: dict[str, float], match: str = "", latest: float = 1.0
    ) -> None:
        """`latest`: how many seconds later the fault "late" stores at most."""
        self.faults.by_chance(seed, chances, match, latest)

    def clear_faults(self) -> None:
        self.faults.clear()

    def advance(self, seconds: float) -> None:
        """Move the server's clock forward."""
        self.world.ahead += seconds

    @property
    def posts(self) -> dict[str, Post]:
        return self.world.posts

    @property
    def comments(self) -> dict[str, Comment]:
        return self.world.comments

    @property
    def ledger(self) -> list[dict[str, Any]]:
        return list(self.world.ledger)

    def stored(self, **wanted: Any) -> list[dict[str, Any]]:
        """Ledger lines of what was stored, with kind, id, author, text, parent_id, post_id."""
        return self.world.stored(**wanted)

    def duplicates(self, author: str) -> list[dict[str, Any]]:
        return self.world.duplicates(author)

    # ── serving ───────────────────────────────────────────────────────────

    def serve(self, call: Call) -> Reply | None:
        """Answer a call, or None to break the connection without a word."""
        self.store_late()
        request = f"{call.method} {call.path}"
        fault = self.faults.next(request)
        if fault and fault.name == "late":
            with self.world.lock:
                self._late.append((self.world.now() + fault.seconds, call))
            return None
        if fault and fault.name in ("hang-before", "reset-before"):
            self._silence(fault.name, fault.seconds)
            return None
        if fault and (given := instead(fault.name, fault.seconds)):
            return given
        if fault and fault.name == "challenge-expired":
            self.advance(self.routes.challenge_seconds + 1)
        reply = self.routes.answer(call)
        if fault and fault.name in SILENT:
            self._silence(fault.name, fault.seconds)
            return None
        return spoil(fault, reply) if fault else reply

    def store_late(self, *, by: float | None = None) -> None:
        """Carry out the held requests that are due now, or `by` a moment, in their order."""
        moment = self.world.now() if by is None else by
        with self.world.lock:
            due = sorted(
                (late for late in self._late if late[0] <= moment), key=lambda late: late[0]
            )
            self._late = [late for late in self._late if late[0] > moment]
            for _, call in due:
                self.routes.answer(call)

    def _silence(self, name: str, seconds: float) -> None:
        if name.startswith("hang"):
            self.closing.wait(seconds)

    def admin(self, action: str, given: dict[str, Any]) -> Any:
        """What other processes may ask under /_fake/<action>."""
        if action == "agent":
            return {"key": self.add_agent(**given)}
        makers: dict[str, Callable[..., str]] = {"post": self.add_post, "comment": self.add_comment}
        if action in makers:
            return {"id": makers[action](**given)}
        views = {"ledger": self.ledger, "requests": self.requests, "struck": self.faults.struck}
        if action in views:
            return views[action]
        if action == "duplicates":
            return self.duplicates(**given)
        doers: dict[str, Callable[..., None]] = {
            "fault": self.fault,
            "random": self.faults_by_chance,
            "clear": self.clear_faults,
            "delete-comment": self.delete_comment,
            "delete-post": self.delete_post,
            "suspend": self.suspend,
            "advance": self.advance,
        }
        doers[action](**given)
        return {"ok": True}


class _Handler(Handler):
    wbufsize = 65536

    def date_time_string(self, timestamp: float | None = None) -> str:
        """The Date header, by the clock that tests move."""
        fake: FakeMoltbook = self.server.fake
        return super().date_time_string(fake.world.now() if timestamp is None else timestamp)

    def _handle(self) -> None:
        fake: FakeMoltbook = self.server.fake
        parts = urlsplit(self.path)
        raw = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        query = dict(parse_qsl(parts.query, keep_blank_values=True))
        if parts.path.startswith("/_fake/"):
            self._send(self._admin(parts.path.removeprefix("/_fake/"), raw, query))
            return
        path = parts.path.removeprefix(BASE)
        call = Call(
            self.command,
            path,
            query,
            raw,
            self.headers.get("Authorization") or "",
            self.client_address[0],
        )
        reply = fake.serve(call)
        fake.requests.append((self.command, self.path, reply.status if reply else 0))
        if reply is None:
            self.break_off()
        else:
            self._send(reply)

    do_GET = do_POST = do_PATCH = do_DELETE = do_PUT = _handle

    def _admin(self, action: str, raw: bytes, query: dict[str, str]) -> Reply:
        try:
            given = json.loads(raw) if raw else query
            return Reply(200, self.server.fake.admin(action, given))
        except (KeyError, TypeError, ValueError) as error:
            return Reply(400, {"error": repr(error)})

    def _send(self, reply: Reply) -> None:
        raw = reply.raw()
        self.send_response(reply.status)
        plain = {} if reply.status == 204 else {"Content-Type": "application/json; charset=utf-8"}
        headers = plain | reply.headers
        for name, value in headers.items():
            self.send_header(name, value)
        if reply.status != 204:
            self.send_header("Content-Length", str(len(raw)))
        self.end_headers()
        self.wfile.write(raw)
        self.wfile.flush()


def seed_demo(fake: FakeMoltbook) -> dict[str, str]:
    """Three agents, three posts and some talk; returns the keys."""
    keys = {name: fake.add_agent(name) for name in ("iris", "bob", "carol")}
    for number, author in enumerate(keys):
        post = fake.add_post(author, f"Thoughts of {author}", f"What do you think of {number}?")
        asked = fake.add_comment(post, "bob", "Why do you say so?")
        fake.add_comment(post, "carol", "Because of the tide.", parent=asked)
    return keys


def main() -> None:
    options = argparse.ArgumentParser(description="A fake Moltbook for tests.")
    options.add_argument("--port", type=int, default=0)
    options.add_argument("--dialect", choices=("open", "live"), default="open")
    options.add_argument("--challenges", action="store_true")
    options.add_argument("--seed-demo", action="store_true")
    given = options.parse_args()
    with FakeMoltbook(dialect=given.dialect, port=given.port, challenges=given.challenges) as fake:
        keys = seed_demo(fake) if given.seed_demo else {}
        said = {"url": fake.url, "admin": f"{fake.root}/_fake/", "keys": keys}
        print(json.dumps(said), flush=True)
        try:
            fake.closing.wait()
        except KeyboardInterrupt:
            return


if __name__ == "__main__":
    main()
