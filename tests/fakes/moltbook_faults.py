"""Everything that can go wrong with Moltbook, by name, on demand or by chance.

A fault either replaces the answer (before or after the request was carried
out), silences it, or spoils it on the way out. "late" breaks the connection and
carries the request out `seconds` later.
"""

from __future__ import annotations

import json
import random
import re
import time
import zlib
from collections.abc import Callable
from dataclasses import dataclass, field
from email.utils import formatdate
from threading import RLock
from typing import Any

BOOM = {"success": False, "error": "boom", "hint": "Please try again later"}
HUGE = 9 * 1024 * 1024


@dataclass
class Reply:
    """An answer on its way out. `body` is JSON unless it is bytes; None: no body."""

    status: int
    body: Any = None
    headers: dict[str, str] = field(default_factory=dict)

    def raw(self) -> bytes:
        if self.body is None:
            return b""
        if isinstance(self.body, bytes):
            return self.body
        return json.dumps(self.body).encode()


@dataclass
class Fault:
    name: str
    match: str = ""
    left: int = 1
    skip: int = 0
    seconds: float = 120.0


def limited(**more: Any) -> dict[str, Any]:
    return {"statusCode": 429, "message": "Too Many Requests", "remaining": 0, **more}


def instead(name: str, seconds: float) -> Reply | None:
    """The answer that a fault gives in place of carrying the request out."""
    whole = int(seconds)
    at = time.time() + seconds
    iso = time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime(at + 1))
    later = formatdate(at + 1, usegmt=True)
    html = {"Content-Type": "text/html"}
    page = b"<html><body>Request blocked. CloudFront</body></html>"
    answers: dict[str, Reply] = {
        "429-retry-after": Reply(429, limited(), {"Retry-After": str(whole)}),
        "429-retry-after-date": Reply(429, limited(), {"Retry-After": later}),
        "429-retry_after_seconds": Reply(429, limited(retry_after_seconds=whole)),
        "429-retryAfter": Reply(429, {"success": False, "error": "slow", "retryAfter": whole}),
        "429-retry_after_minutes": Reply(429, limited(retry_after_minutes=seconds / 60)),
        "429-retryAfterMinutes": Reply(429, limited(retryAfterMinutes=seconds / 60)),
        "429-reset_at": Reply(429, limited(reset_at=iso)),
        "429-ratelimit-reset": Reply(429, limited(), {"X-RateLimit-Reset": str(int(at) + 1)}),
        "429-daily": Reply(429, limited(retry_after_seconds=20, daily_remaining=0)),
        "429-words": Reply(429, limited(message=[f"Please wait {whole} seconds"])),
        "429-bare": Reply(429, b"slow down", {"Content-Type": "text/plain"}),
        "500-before": Reply(500, dict(BOOM)),
        "503": Reply(503, page, html),
        "html-403": Reply(403, page, html),
        "html-404": Reply(404, page, html),
        "suspended-401": Reply(
            401,
            {
                "error": "Account suspended",
                "hint": "Your account is suspended: Failing to answer "
                "AI verification challenge (offense #1). Suspension ends in 10 hours.",
            },
        ),
        "suspended-403": Reply(
            403,
            {
                "success": False,
                "error": "Your account has been suspended for duplicate content",
                "suspended_until": iso,
            },
        ),
        "401": Reply(401, {"success": False, "error": "Invalid or expired token"}),
        "402": Reply(402, {"statusCode": 402, "message": "Payment required"}),
        "413": Reply(413, {"success": False, "error": "request entity too large"}),
        "400-array": Reply(
            400,
            {
                "statusCode": 400,
                "message": ["property x should not exist", "content is empty"],
                "error": "Bad Request",
                "path": "/x",
            },
        ),
        "redirect": Reply(308, b"", {"Location": "https://moltbook.com/api/v1/elsewhere"}),
        "text": Reply(200, b"all is well", {"Content-Type": "text/plain"}),
    }
    return answers.get(name)


# ── spoiling an answer on its way out ─────────────────────────────────────


def _each(value: Any, change: Callable[[dict[str, Any]], None]) -> None:
    """Apply `change` to every object that has an id."""
    if isinstance(value, dict):
        for inner in list(value.values()):
            _each(inner, change)
        if "id" in value:
            change(value)
    elif isinstance(value, list):
        for inner in value:
            _each(inner, change)


def _wrong_types(item: dict[str, Any]) -> None:
    item |= {"score": "many", "depth": [], "created_at": {"$date": 1}, "replies": "none"}
    item |= {"content": 12345} if "content" in item else {}


def _numeric_ids(item: dict[str, Any]) -> None:
    # The same text must become the same number, or nothing fits together.
    for name in ("id", "parent_id", "post_id", "author_id"):
        if isinstance(item.get(name), str):
            item[name] = zlib.crc32(item[name].encode())


def _odd_times(item: dict[str, Any]) -> None:
    odd = iter(("2026-06-22 21:42:16+00", 1782164536, "1782164536000", "yesterday", None))
    for name in item:
        if name.endswith("_at") or name.endswith("At"):
            item[name] = next(odd, "")


def _surrogates(item: dict[str, Any]) -> None:
    if isinstance(item.get("content"), str):
        item["content"] = f"a\x00b\ud800{item['content']}"


def _null_author(item: dict[str, Any]) -> None:
    """What the live site does now and then. Posts in lists have an author, too."""
    for name in ("author", "author_name", "author_display_name", "author_id"):
        if name in item:
            item[name] = None


def _double_space(item: dict[str, Any]) -> None:
    if isinstance(item.get("content"), str):
        item["content"] = item["content"].replace(" ", "  ")


def _flat(body: Any) -> Any:
    """The same comments as a flat list that names no parent."""
    found: list[dict[str, Any]] = []

    def lift(item: dict[str, Any]) -> None:
        if "replies" in item:
            item |= {"replies": [], "parent_id": None}
            found.append(item)

    _each(body, lift)
    return body | {"comments": found} if isinstance(body, dict) and "comments" in body else body


def _deep(body: Any) -> bytes:
    return (
        b'{"success":true,"comments":'
        + b'[{"id":"x","replies":' * 60_000
        + b"[]"
        + b"}]" * 60_000
        + b"}"
    )


def _truncate(body: Any, most: int) -> Any:
    for name in ("comments", "data", "posts"):
        if isinstance(body, dict) and isinstance(body.get(name), list):
            return body | {name: body[name][:most]}
    return body


def spoil(fault: Fault, reply: Reply) -> Reply:
    """Change an answer as the fault says; a fault that is none of these changes nothing."""
    changes = {
        "wrong-types": _wrong_types,
        "numeric-ids": _numeric_ids,
        "odd-times": _odd_times,
        "surrogates": _surrogates,
        "null-author": _null_author,
        "double-space": _double_space,
    }
    if change := changes.get(fault.name):
        _each(reply.body, change)
    elif fault.name == "broken-json":
        reply.body = reply.raw()[:-7]
    elif fault.name == "empty-object":
        reply.body = {}
    elif fault.name == "not-a-list":
        reply.body = {"success": True, "comments": {"oops": 1}, "data": "none"}
    elif fault.name == "huge":
        reply.body = b'{"success":true,"comments":[],"x":"' + b"a" * HUGE + b'"}'
    elif fault.name == "deep":
        reply.body = _deep(reply.body)
    elif fault.name == "no-parent":
        reply.body = _flat(reply.body)
    elif fault.name == "truncate":
        reply.body = _truncate(reply.body, int(fault.seconds))
    elif fault.name == "500-after":
        return Reply(500, dict(BOOM))
    return reply


SILENT = {"hang-before", "hang-after", "reset-before", "reset-after"}


class Faults:
    """The faults that wait, and those that come by chance. Thread-safe."""

    def __init__(self) -> None:
        self._lock = RLock()
        self._waiting: list[Fault] = []
        self._chances: dict[str, float] = {}
        self._match = ""
        self._latest = 1.0
        self._random = random.Random(0)
        self.struck: list[tuple[str, str]] = []

    def add(
        self, name: str, *, times: int = 1, match: str = "", skip: int = 0, seconds: float = 120.0
    ) -> None:
        with self._lock:
            self._waiting.append(Fault(name, match, times, skip, seconds))

    def by_chance(
        self, seed: int, chances: dict[str, float], match: str = "", latest: float = 1.0
    ) -> None:
        with self._lock:
            self._random = random.Random(seed)
            self._chances, self._match, self._latest = dict(chances), match, latest

    def clear(self) -> None:
        with self._lock:
            self._waiting.clear()
            self._chances = {}

    def next(self, request: str) -> Fault | None:
        """The fault that strikes `request` ("POST /posts/1/comments"), if any."""
        with self._lock:
            fault = self._scripted(request) or self._drawn(request)
            if fault:
                self.struck.append((fault.name, request))
            return fault

    def _scripted(self, request: str) -> Fault | None:
        for fault in self._waiting:
            if fault.left > 0 and re.search(fault.match, request):
                if fault.skip > 0:
                    fault.skip -= 1
                    continue
                fault.left -= 1
                return fault
        return None

    def _drawn(self, request: str) -> Fault | None:
        if not self._chances or not re.search(self._match, request):
            return None
        for name, chance in self._chances.items():
            if self._random.random() < chance:
                late = self._random.uniform(0.0, self._latest) if name == "late" else 1.0
                return Fault(name, seconds=late)
        return None
