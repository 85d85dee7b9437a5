"""How the fake model server answers: one method for each way to go wrong on the wire."""

from __future__ import annotations

import json
from dataclasses import asdict
from email.utils import formatdate
from time import time
from typing import TYPE_CHECKING, Any

from tests.fakes.loopback import Handler
from tests.fakes.openai_words import SAYINGS, answer_of, error_of, pieces, whole, words_for

if TYPE_CHECKING:
    from tests.fakes.openai_chat import Outcome

HUGE = 5 * 1024 * 1024  # bytes
TOO_MUCH = error_of("Rate limit reached for requests", code="rate_limit_exceeded", kind="requests")
STATUSES: dict[str, tuple[int, Any]] = {
    "500": (500, error_of("The server had an error", kind="server_error")),
    "503": (503, error_of("The engine is overloaded", kind="server_error")),
    "401": (401, error_of("Incorrect API key provided", code="invalid_api_key")),
    "403": (403, error_of("You are not allowed to sample from this model")),
    "404": (404, error_of("The model does not exist", code="model_not_found")),
    "400": (400, error_of("Unsupported parameter: temperature", kind="invalid_request_error")),
    "413": (413, error_of("Request too large")),
    "not_liked": (400, error_of("Your prompt was flagged", code="content_policy_violation")),
    "insufficient_quota": (429, error_of("You exceeded your quota", code="insufficient_quota")),
    "context_too_long": (
        400,
        error_of("This model's maximum context length is 10", code="context_length_exceeded"),
    ),
}


def _method(name: str) -> str:
    return "_on_" + name.replace("-", "_")


def is_known(name: str) -> bool:
    return name in STATUSES or name in SAYINGS or hasattr(Door, _method(name))


def _said(outcome: Outcome, body: dict[str, Any], name: str = "") -> dict[str, Any]:
    words = words_for(body) | outcome.words
    return answer_of(name or outcome.name, words, outcome.calls, outcome.ids)


class Door(Handler):
    def do_GET(self) -> None:
        if self.path == "/_fake/requests":
            self._json(200, [asdict(seen) for seen in self.server.fake.requests])
        elif self.path == "/v1/models":
            self._json(200, {"object": "list", "data": []})
        else:
            self._json(404, error_of("Not found"))

    def do_POST(self) -> None:
        raw = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        body = json.loads(raw or b"{}")
        if self.path == "/_fake/script":
            self.server.fake.script(*body["outcomes"])
            self._json(200, {"ok": True})
        elif self.path != "/v1/chat/completions":
            self._json(404, error_of(f"Unknown request URL: POST {self.path}"))
        else:
            headers = {name.lower(): value for name, value in self.headers.items()}
            outcome = self.server.fake.take(body, headers)
            self.server.fake.closing.wait(self.server.fake.delay)
            self._answer(outcome, body)

    # ── outcomes ──────────────────────────────────────────────────────────

    def _answer(self, outcome: Outcome, body: dict[str, Any]) -> None:
        if go_wrong := getattr(self, _method(outcome.name), None):
            go_wrong(outcome, body)
        elif outcome.name in STATUSES:
            self._json(*STATUSES[outcome.name])
        else:
            self._say(_said(outcome, body), body)

    def _say(self, said: dict[str, Any], body: dict[str, Any], most: int | None = None) -> None:
        """Say it whole, or in pieces if asked so; `most` pieces, then the line goes dead."""
        if not body.get("stream"):
            self._json(200, whole(said, body))
            return
        self._begin_stream()
        for piece in list(pieces(said, body))[:most]:
            self._chunk(f"data: {json.dumps(piece)}\n\n".encode())
        if most is not None:
            self.break_off()
            return
        self._chunk(b"data: [DONE]\n\n")
        self._chunk(b"")

    def _on_429(self, outcome: Outcome, body: dict[str, Any]) -> None:
        self._json(429, TOO_MUCH)

    def _on_429_retry_after(self, outcome: Outcome, body: dict[str, Any]) -> None:
        self._json(429, TOO_MUCH, {"Retry-After": str(int(outcome.seconds))})

    def _on_429_retry_after_date(self, outcome: Outcome, body: dict[str, Any]) -> None:
        self._json(
            429, TOO_MUCH, {"Retry-After": formatdate(time() + outcome.seconds, usegmt=True)}
        )

    def _on_503_retry_after(self, outcome: Outcome, body: dict[str, Any]) -> None:
        self._json(503, STATUSES["503"][1], {"Retry-After": str(int(outcome.seconds))})

    def _on_429_reset(self, outcome: Outcome, body: dict[str, Any]) -> None:
        headers = {"x-ratelimit-reset-requests": "1m20s", "x-ratelimit-reset-tokens": "500ms"}
        self._json(429, TOO_MUCH, headers)

    def _on_hang(self, outcome: Outcome, body: dict[str, Any]) -> None:
        self.server.fake.closing.wait(outcome.seconds)
        self.break_off()

    def _on_hang_in_stream(self, outcome: Outcome, body: dict[str, Any]) -> None:
        self._begin_stream()
        self._chunk(b": still thinking\n\n")
        self._on_hang(outcome, body)

    def _on_trickle(self, outcome: Outcome, body: dict[str, Any]) -> None:
        """A few bytes now and then, so that no single read takes long."""
        self._head(200, {"Content-Length": "100000"})
        for _ in range(int(outcome.seconds * 20)):
            self.wfile.write(b" ")
            self.wfile.flush()
            if self.server.fake.closing.wait(0.05):
                return

    def _on_cut_before(self, outcome: Outcome, body: dict[str, Any]) -> None:
        self.break_off()

    def _on_cut(self, outcome: Outcome, body: dict[str, Any]) -> None:
        """Half of the answer, then nothing."""
        self._cut(_said(outcome, body, "good"), body)

    def _on_calls_cut(self, outcome: Outcome, body: dict[str, Any]) -> None:
        """Nothing more in the middle of a tool call."""
        self._cut(_said(outcome, body, "calls"), body)

    def _cut(self, said: dict[str, Any], body: dict[str, Any]) -> None:
        if body.get("stream"):
            self._say(said, body, most=3)
            return
        raw = json.dumps(whole(said, body)).encode()
        self._head(200, {"Content-Length": str(len(raw))})
        self.wfile.write(raw[: len(raw) // 2])
        self.wfile.flush()
        self.break_off()

    def _on_malformed(self, outcome: Outcome, body: dict[str, Any]) -> None:
        self._raw(200, b'{"id": "chatcmpl-1", "choices": [{"mess', "application/json")

    def _on_html(self, outcome: Outcome, body: dict[str, Any]) -> None:
        self._raw(200, b"<html><body>Welcome to the proxy</body></html>", "text/html")

    def _on_not_a_completion(self, outcome: Outcome, body: dict[str, Any]) -> None:
        self._json(200, {"hello": "world"})

    def _on_huge(self, outcome: Outcome, body: dict[str, Any]) -> None:
        self._raw(200, b'{"x": "' + b"a" * HUGE + b'"}', "application/json")

    def _on_packed(self, outcome: Outcome, body: dict[str, Any]) -> None:
        self._head(200, {"Content-Length": "4", "Content-Encoding": "gzip"})
        self.wfile.write(b"abcd")

    def _on_redirect(self, outcome: Outcome, body: dict[str, Any]) -> None:
        self._json(307, {}, {"Location": "http://127.0.0.1:9/v1/chat/completions"})

    def _on_error_in_stream(self, outcome: Outcome, body: dict[str, Any]) -> None:
        self._begin_stream()
        error = error_of("The server had an error", kind="server_error")
        self._chunk(f"data: {json.dumps(error)}\n\n".encode())
        self._chunk(b"")

    def _on_401_with_key(self, outcome: Outcome, body: dict[str, Any]) -> None:
        """Some servers say back which key was wrong."""
        key = self.headers.get("Authorization", "").removeprefix("Bearer ")
        self._json(401, error_of(f"Incorrect API key provided: {key}.", code="invalid_api_key"))

    def _on_echo_key(self, outcome: Outcome, body: dict[str, Any]) -> None:
        """A good answer that holds our key: it could have been in a prompt."""
        key = self.headers.get("Authorization", "").removeprefix("Bearer ")
        self._say(answer_of("good", words_for(body) | {"pointer": f"The key {key}."}), body)

    # ── the wire ──────────────────────────────────────────────────────────

    def _json(self, status: int, body: Any, headers: dict[str, str] | None = None) -> None:
        self._raw(status, json.dumps(body).encode(), "application/json", headers)

    def _raw(
        self, status: int, raw: bytes, kind: str, headers: dict[str, str] | None = None
    ) -> None:
        self._head(
            status, {"Content-Type": kind, "Content-Length": str(len(raw)), **(headers or {})}
        )
        self.wfile.write(raw)
        self.wfile.flush()

    def _head(self, status: int, headers: dict[str, str]) -> None:
        self.send_response(status)
        for name, value in {"Content-Type": "application/json", **headers}.items():
            self.send_header(name, value)
        self.end_headers()

    def _begin_stream(self) -> None:
        self._head(200, {"Content-Type": "text/event-stream", "Transfer-Encoding": "chunked"})

    def _chunk(self, raw: bytes) -> None:
        self.wfile.write(f"{len(raw):x}\r\n".encode() + raw + b"\r\n")
        self.wfile.flush()
