"""A Moltbook of a few lines, for tests that want to say each answer themselves."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import httpx

from tests.factories import NOON

Answer = Callable[[httpx.Request], httpx.Response]


class ScriptedMoltbook(httpx.BaseTransport):
    """Stores what is posted. `next` answers are used up first, in order."""

    def __init__(self) -> None:
        self.comments: list[dict[str, Any]] = []
        self.posted: list[dict[str, Any]] = []  # every writing request's body, stored or not
        self.next: list[Answer] = []
        self.is_cut = False
        self.before_write: Callable[[], None] = lambda: None

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        request.read()
        if request.method == "GET":
            return self._read(request)
        self.posted.append(json.loads(request.content or b"{}"))
        self.before_write()
        if self.next:
            return self.next.pop(0)(request)
        return self.store(request)

    def store(self, request: httpx.Request) -> httpx.Response:
        """Store the comment, as the service would."""
        if request.method == "DELETE":
            return httpx.Response(204)
        body = json.loads(request.content)
        comment = {
            "id": f"c-{len(self.comments) + 1}",
            "content": body["content"].strip(),
            "parent_id": body.get("parent_id"),
            "depth": 0,
            "score": 0,
            "created_at": "2026-11-21T12:00:00.000Z",
            "author_name": "iris",
            "replies": [],
        }
        self.comments.append(comment)
        shown = {key: comment[key] for key in ("id", "content", "score", "depth", "created_at")}
        return httpx.Response(201, json={"success": True, "comment": shown})

    def store_and_say(self, status: int) -> Answer:
        def answer(request: httpx.Request) -> httpx.Response:
            self.store(request)
            return httpx.Response(status, json={"success": False, "error": "oops"})

        return answer

    def store_and_hang(self, request: httpx.Request) -> httpx.Response:
        self.store(request)
        raise httpx.ReadTimeout("silence", request=request)

    def _read(self, request: httpx.Request) -> httpx.Response:
        path = request.url.path
        if path.endswith("/comments"):
            return httpx.Response(200, json={"success": True, "comments": self.comments})
        if path.endswith("/agents/me"):
            me = {"id": "agent-iris", "name": "iris"}
            return httpx.Response(200, json={"success": True, "agent": me})
        count = len(self.comments) + (500 if self.is_cut else 0)
        post = {
            "id": path.rsplit("/", 1)[1],
            "title": "On tides",
            "content": "…",
            "author_name": "iris",
            "comment_count": count,
            "created_at": "2026-11-21T10:00:00.000Z",
        }
        return httpx.Response(200, json={"success": True, "post": post})


def saying(status: int, *, headers: dict[str, str] | None = None, **body: Any) -> Answer:
    """An answer that stores nothing."""
    return lambda request: httpx.Response(status, json={"success": False, **body}, headers=headers)


def hanging(request: httpx.Request) -> httpx.Response:
    raise httpx.ReadTimeout("silence", request=request)


def unreachable(request: httpx.Request) -> httpx.Response:
    raise httpx.ConnectError("refused", request=request)


class Clock:
    """A clock that stands still until it is told to move."""

    def __init__(self, now: datetime = NOON) -> None:
        self.now = now

    def __call__(self) -> datetime:
        return self.now

    def pass_by(self, **time: float) -> None:
        self.now += timedelta(**time)
