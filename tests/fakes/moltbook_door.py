"""The door of the fake Moltbook: who may come in, how often, and how a refusal sounds."""

from __future__ import annotations

import json
import math
import re
import threading
from collections import defaultdict, deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote

from tests.fakes.moltbook_faults import Reply
from tests.fakes.moltbook_world import Agent, World, iso

UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
CODES = {
    400: "BAD_REQUEST",
    401: "UNAUTHORIZED",
    403: "FORBIDDEN",
    404: "NOT_FOUND",
    409: "CONFLICT",
    429: "RATE_LIMITED",
}
NAMES = {
    400: "Bad Request",
    401: "Unauthorized",
    403: "Forbidden",
    404: "Not Found",
    409: "Conflict",
    410: "Gone",
    429: "Too Many Requests",
}
TOO_MANY = {
    "post": "You can only post once every 30 minutes",
    "comment": "Too many comments, slow down",
}
PLENTY = (100_000, 60.0)


@dataclass
class Call:
    method: str
    path: str
    query: dict[str, str]
    raw: bytes
    authorization: str
    address: str = "127.0.0.1"


class Stop(Exception):
    """Ends a request with an error in the words of the dialect."""

    def __init__(self, status: int, error: str, hint: str | None = None, **more: Any) -> None:
        super().__init__(error)
        self.status, self.error, self.hint, self.more = status, error, hint, more


class Crash(Exception):
    """A 500 of the open-source server: no code, and the words of the database."""


class Limiter:
    """Sliding windows in memory. A refused request does not consume."""

    def __init__(self, world: World, limits: dict[str, tuple[int, float]]) -> None:
        self._world, self.limits = world, limits
        self._taken: dict[tuple[str, str], deque[float]] = defaultdict(deque)

    def take(self, bucket: str, who: str) -> tuple[dict[str, str], float]:
        """Return the headers to send, and how long to wait (0: taken)."""
        most, per = self.limits.get(bucket, PLENTY)
        now, taken = self._world.now(), self._taken[bucket, who]
        while taken and taken[0] <= now - per:
            taken.popleft()
        wait = taken[0] + per - now if len(taken) >= most else 0.0
        if not wait:
            taken.append(now)
        headers = {
            "X-RateLimit-Limit": str(most),
            "X-RateLimit-Remaining": str(max(0, most - len(taken))),
            "X-RateLimit-Reset": str(int(taken[0] + per)),
        }
        return headers, wait


Route = tuple[str, str, Callable[..., Reply], bool]  # method, path, handler, in both dialects


class Door:
    """One lock for all: the fake is correct first, then fast."""

    def __init__(
        self,
        world: World,
        *,
        limits: dict[str, tuple[int, float]],
        challenges: bool,
        challenge_seconds: float,
        hide_pending: bool,
        suspend_status: int,
    ) -> None:
        self.world, self.challenges = world, challenges
        self.challenge_seconds, self.hide_pending = challenge_seconds, hide_pending
        self.suspend_status = suspend_status
        self.limiter = Limiter(world, limits)
        self.is_open = world.dialect == "open"
        self.table: list[Route] = []
        self._current = threading.local()

    @property
    def _agent(self) -> Agent:
        agent: Agent = self._current.agent
        return agent

    def answer(self, call: Call) -> Reply:
        headers: dict[str, str] = {}
        try:
            with self.world.lock:
                return self._dispatch(call, headers)
        except Stop as stop:
            return self._error(stop, call, headers)
        except Crash as crash:
            body = {"success": False, "error": str(crash), "hint": "Please try again later"}
            return Reply(500, body, headers)

    def _dispatch(self, call: Call, headers: dict[str, str]) -> Reply:
        body = self._parse(call)
        if self.is_open:
            self._spend("general", call.address, headers)
        pattern, handler, parts = self._route(call)
        agent = None
        if pattern not in ("/health", "/agents/register"):
            agent = self._who(call)
            self._charge(pattern, call.method, agent, headers)
        self._current.agent = agent
        reply = handler(call, body, *parts)
        reply.headers = headers | reply.headers if self.is_open else reply.headers
        return reply

    def _route(self, call: Call) -> tuple[str, Callable[..., Reply], list[str]]:
        for method, pattern, handler, in_both in self.table:
            match = re.fullmatch(pattern, call.path)
            if method == call.method and match and (in_both or not self.is_open):
                return pattern, handler, [unquote(part) for part in match.groups()]
        raise self._no_endpoint(call)

    def _parse(self, call: Call) -> dict[str, Any]:
        if len(call.raw) > 1024 * 1024:
            raise Stop(413, "request entity too large")
        if not call.raw:
            return {}
        try:
            body = json.loads(call.raw)
        except ValueError:
            raise Stop(400, "Invalid JSON body", "Check your request body is valid JSON") from None
        return body if isinstance(body, dict) else {}

    def _no_endpoint(self, call: Call) -> Stop:
        whole = f"{call.method} /api/v1{call.path}"
        if not self.is_open:
            return Stop(404, f"Cannot {whole}")
        hint = f"{whole} does not exist. Check the API documentation."
        return Stop(404, "Endpoint not found", hint, code=None)

    def _who(self, call: Call) -> Agent:
        scheme, _, token = call.authorization.partition(" ")
        if scheme.lower() != "bearer" or not token:
            hint = "Add 'Authorization: Bearer YOUR_API_KEY' header"
            raise Stop(401, "No authorization token provided", hint)
        if self.is_open and not re.fullmatch(r"moltbook_[0-9a-f]{64}", token):
            hint = 'Token should start with "moltbook_" followed by 64 hex characters'
            raise Stop(401, "Invalid token format", hint)
        if token not in self.world.keys:
            hint = "Check your API key or register for a new one"
            raise Stop(401, "Invalid or expired token", hint)
        return self.world.keys[token]

    def _charge(self, pattern: str, method: str, agent: Agent, headers: dict[str, str]) -> None:
        if not self.is_open and pattern != "/verify":
            self._spend("read" if method == "GET" else "write", agent.name, headers)
        if method != "POST":
            return
        if pattern in ("/posts", r"/posts/([^/]+)/comments"):
            self._refuse_suspended(agent)
            self._spend("post" if pattern == "/posts" else "comment", agent.name, headers)
            if not self.is_open and pattern != "/posts":
                self._spend("comment_day", agent.name, headers)

    def _spend(self, bucket: str, who: str, headers: dict[str, str]) -> None:
        said, wait = self.limiter.take(bucket, who)
        headers.update(said)
        if wait:
            raise self._too_many(bucket, wait, headers)

    def _too_many(self, bucket: str, wait: float, headers: dict[str, str]) -> Stop:
        seconds = math.ceil(wait)
        headers["Retry-After"] = str(seconds)
        minutes = math.ceil(wait / 60)
        if self.is_open:
            said = TOO_MANY.get(bucket, "Rate limit exceeded")
            return Stop(
                429,
                said,
                f"Try again in {seconds} seconds",
                retryAfter=seconds,
                retryAfterMinutes=minutes,
            )
        more: dict[str, Any] = {
            "remaining": 0,
            "reset_at": iso(self.world.now() + wait),
            "retry_after_seconds": seconds,
        }
        if bucket == "post":
            more = {"retry_after_minutes": minutes}
        elif bucket == "comment_day":
            more["daily_remaining"] = 0
        return Stop(429, "Too Many Requests", **more)

    def _refuse_suspended(self, agent: Agent) -> None:
        self.world.count_unanswered(agent)
        left = agent.suspended_until - self.world.now()
        if left > 0:
            hours = math.ceil(left / 3600)
            hint = "Auto-suspended: last 10 challenge attempts were failures. "
            hint += f"Suspension ends in {hours} hours."
            raise Stop(self.suspend_status, "Account suspended", hint)

    def _refuse_unknown(self, body: dict[str, Any], known: set[str]) -> None:
        if unknown := [name for name in body if name not in known]:
            raise Stop(400, f"property {unknown[0]} should not exist")

    def _error(self, stop: Stop, call: Call, headers: dict[str, str]) -> Reply:
        if not self.is_open:
            body = {
                "statusCode": stop.status,
                "message": str(stop),
                "path": call.path,
                "error": NAMES.get(stop.status, "Error"),
                **stop.more,
            }
            if stop.hint:
                body = {"success": False, "error": stop.error, "hint": stop.hint, **stop.more}
            return Reply(
                stop.status, body, {k: v for k, v in headers.items() if k == "Retry-After"}
            )
        body = {
            "success": False,
            "error": stop.error,
            "code": CODES.get(stop.status),
            "hint": stop.hint,
            **stop.more,
        }
        if body["code"] is None or stop.error == "Invalid JSON body":
            body.pop("code")
        return Reply(stop.status, body, headers)


def number(text: str) -> int:
    try:
        number = int(text)
    except ValueError:
        raise Crash('invalid input syntax for type bigint: "NaN"') from None
    if number < 0:
        raise Crash("LIMIT must not be negative")
    return number


def text(value: Any, what: str) -> str:
    if value is None:
        raise Stop(400, f"{what} is required")
    if not isinstance(value, str):
        raise Crash(f"{what.lower()}.trim is not a function")
    if not value.strip():
        raise Stop(400, f"{what} is required")
    if "\x00" in value:
        raise Crash('invalid byte sequence for encoding "UTF8": 0x00')
    return value
