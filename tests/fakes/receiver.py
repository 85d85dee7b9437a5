"""An agent that lives elsewhere, on this machine: it listens, checks who calls, and answers.

As a webhook it checks the signature with the library of Standard Webhooks; as a gateway of
OpenClaw it checks path, token and shape. `next` answers are used up first, in order:

    200 … 599      that status; (429, "120") with a Retry-After
    "redirect"     to `elsewhere`
    "hang"         takes the request and says nothing
    "trickle"      says something for ever, a letter at a time
    "cut"          hangs up before it answers
    "flood"        a yes, and megabytes behind it
"""

from __future__ import annotations

import json
import ssl
import threading
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from standardwebhooks import Webhook, WebhookVerificationError

from tests.fakes.loopback import Handler, Loopback

Answer = int | str | tuple[int, str]
FLOOD = 1024  # pieces of 64 kB
TRICKLE = 400  # letters, one every 20 ms: 8 s in all


@dataclass(frozen=True, slots=True)
class Got:
    """One request as it came in."""

    path: str
    headers: dict[str, str]  # names in small letters
    content: str

    @property
    def body(self) -> dict[str, Any]:
        return json.loads(self.content)

    @property
    def key(self) -> str:
        return self.headers["webhook-id"]


class Receiver(Loopback):
    """`secret` makes it a webhook, `token` a gateway; with neither it believes everybody."""

    def __init__(
        self,
        host: str = "127.0.0.1",
        *,
        port: int = 0,
        secret: str = "",
        token: str = "",
        tls: ssl.SSLContext | None = None,
        is_punctual: bool = False,  # also refuses a signature that is not of these minutes
    ) -> None:
        super().__init__(_Handler, host=host, port=port)
        if tls:
            self._server.socket = tls.wrap_socket(self._server.socket, server_side=True)
        self.secret, self.token, self.is_punctual = secret, token, is_punctual
        self.got: list[Got] = []
        self.next: list[Answer] = []
        self.refused: list[str] = []  # why somebody was not believed
        self.flooded = 0  # pieces of a flood that were begun
        self.elsewhere = "http://127.0.0.1:9/"
        self.before_answer: Callable[[], None] = lambda: None
        self._lock = threading.Lock()

    @property
    def base(self) -> str:
        """What is entered for a gateway: it has its own path for wakings."""
        return self.root

    @property
    def url(self) -> str:
        return f"{self.root}/wake"

    @property
    def keys(self) -> list[str]:
        return [got.key for got in self.got]

    def take(self, got: Got) -> Answer:
        """Remember it, and say what to answer."""
        why = self._why_not(got)
        with self._lock:
            self.got.append(got)
            if why:
                self.refused.append(why)
                return 401
            answer = self.next.pop(0) if self.next else 200
        self.before_answer()
        return answer

    def _why_not(self, got: Got) -> str:
        if self.token:
            return self._why_no_gateway(got)
        return self._why_no_signature(got) if self.secret else ""

    def _why_no_gateway(self, got: Got) -> str:
        if got.path != "/hooks/wake":
            return f"nothing is at {got.path}"
        if got.headers.get("authorization") != f"Bearer {self.token}":
            return "the token is wrong"
        if set(got.body) != {"text", "mode"} or got.body["mode"] != "now" or not got.body["text"]:
            return "the body is not that of a waking"
        return ""

    def _why_no_signature(self, got: Got) -> str:
        webhook = Webhook(self.secret)
        try:
            if self.is_punctual:
                webhook.verify(got.content, got.headers)
                return ""
            # As `verify`, for a clock that a test has moved.
            moment = datetime.fromtimestamp(int(got.headers["webhook-timestamp"]), UTC)
            right = webhook.sign(got.key, moment, got.content)
        except (WebhookVerificationError, KeyError, ValueError) as error:
            return f"{type(error).__name__}: {error}"
        given = got.headers["webhook-signature"].split(" ")
        return "" if right in given else "no signature matches"


class _Handler(Handler):
    protocol_version = "HTTP/1.0"  # one request for each connection

    def do_POST(self) -> None:
        size = int(self.headers.get("content-length", 0))
        content = self.rfile.read(size).decode()
        headers = {name.lower(): value for name, value in self.headers.items()}
        self._say(self.server.fake.take(Got(self.path, headers, content)))

    do_GET = do_POST

    def _say(self, answer: Answer) -> None:
        if answer == "hang":
            self.server.fake.closing.wait(30)
        elif answer == "trickle":
            self._trickle()
        elif answer == "flood":
            self._status(200, {"Content-Length": str(FLOOD * 64 * 1024)})
            for _ in range(FLOOD):
                self.server.fake.flooded += 1
                self.wfile.write(b"x" * 64 * 1024)
        elif answer == "redirect":
            self._status(307, {"Location": self.server.fake.elsewhere, "Content-Length": "0"})
        elif answer != "cut":
            status, wait = answer if isinstance(answer, tuple) else (answer, "")
            extra = {"Retry-After": wait} if wait else {}
            self._status(int(status), {"Content-Length": "0", **extra})
        self.close_connection = True

    def _trickle(self) -> None:
        self.wfile.write(b"HTTP/1.1 200 OK\r\nX-Patience: ")
        for _ in range(TRICKLE):
            if self.server.fake.closing.wait(0.02):
                return
            self.wfile.write(b"a")
            self.wfile.flush()
        self.wfile.write(b"\r\nContent-Length: 0\r\n\r\n")

    def _status(self, status: int, headers: dict[str, str]) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
