"""A mail server on this machine that keeps what it is given, and fails as it is told to."""

from __future__ import annotations

import socketserver
from dataclasses import dataclass
from email import message_from_bytes, policy
from email.message import EmailMessage
from threading import Event, Thread
from typing import Any, Self, cast


@dataclass(frozen=True, slots=True)
class Received:
    """One mail as it came over the line."""

    sender: str
    to: list[str]
    raw: bytes

    @property
    def message(self) -> EmailMessage:
        return cast(EmailMessage, message_from_bytes(self.raw, policy=policy.default))

    @property
    def subject(self) -> str:
        return str(self.message["Subject"])

    @property
    def text(self) -> str:
        return str(self.message.get_content()).replace("\r\n", "\n")


class SmtpServer:
    """`next` faults are used up first: "refuse", "busy", "bad_data", "hang", "cut", "cut_after",
    "trickle", "flood"."""

    def __init__(self) -> None:
        self.got: list[Received] = []
        self.next: list[str] = []
        self.connections = 0
        self.before_taken: Any = lambda: None
        self.closing = Event()
        self._server = _Server(("127.0.0.1", 0), _Talk)
        self._server.fake = self
        self.port = int(self._server.server_address[1])
        self._thread = Thread(target=self._server.serve_forever, args=[0.01], daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self.closing.set()
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def fault(self) -> str:
        return self.next.pop(0) if self.next else ""


class _Server(socketserver.ThreadingTCPServer):
    daemon_threads = True
    block_on_close = False
    fake: SmtpServer

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that went away is no news."""


class _Talk(socketserver.StreamRequestHandler):
    server: _Server

    def handle(self) -> None:
        fake = self.server.fake
        fake.connections += 1
        fault = fake.fault()
        if fault == "hang":
            fake.closing.wait(30)
            return
        if fault == "cut":
            return
        if fault == "trickle":
            while not fake.closing.wait(0.02):
                self.wfile.write(b"2")
            return
        if fault == "flood":
            while not fake.closing.is_set():
                self.wfile.write(b"220-and more\r\n" * 1000)
            return
        self._say("220 fake at your service")
        sender, to = "", list[str]()
        while line := self.rfile.readline().decode().strip():
            verb = line.partition(" ")[0].upper()
            if verb in {"EHLO", "HELO"}:
                self._say("250 fake")
            elif verb == "MAIL":
                sender = line
                self._say("250 fine")
            elif verb == "RCPT":
                if fault in {"refuse", "busy"}:
                    self._say("550 no such person" if fault == "refuse" else "451 come back")
                    continue
                to.append(line.partition("<")[2].partition(">")[0])
                self._say("250 fine")
            elif verb == "DATA":
                self._data(sender, to, fault)
                if fault == "cut_after":
                    return
            elif verb == "QUIT":
                self._say("221 bye")
                return
            else:
                self._say("250 fine")

    def _data(self, sender: str, to: list[str], fault: str) -> None:
        self._say("354 go on")
        lines = []
        while (line := self.rfile.readline()) not in {b".\r\n", b""}:
            lines.append(line[1:] if line.startswith(b".") else line)
        if fault == "bad_data":
            self._say("554 not this one")
            return
        self.server.fake.before_taken()
        self.server.fake.got.append(Received(sender, list(to), b"".join(lines)))
        if fault != "cut_after":
            self._say("250 taken")

    def _say(self, words: str) -> None:
        self.wfile.write(f"{words}\r\n".encode())
