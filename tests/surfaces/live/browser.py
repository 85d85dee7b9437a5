"""A browser that listens, as far as a socket can be one."""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Callable
from typing import Any

from django.test import Client

from surfaces.live.streams import Stream, Streams
from surfaces.models import Operator

PATIENCE = 20.0  # seconds


class Browser:
    def __init__(self, streams: Streams, operator: Operator) -> None:
        self.client = Client()
        self.client.force_login(operator)
        session = self.client.cookies["sessionid"].value
        self.sock, ours = socket.socketpair()
        self.sock.settimeout(0.1)
        self.heard = b""
        self.is_over = False
        streams.take(Stream(operator=operator.pk, session=session, reach=operator.reach), ours)

    def __enter__(self) -> Browser:
        return self

    def __exit__(self, *_: object) -> None:
        self.sock.close()

    @property
    def told(self) -> list[dict[str, Any]]:
        """Everything it was told, in order."""
        self._read()
        lines = self.heard.split(b"\n\n")[:-1]
        return [json.loads(each.partition(b"data: ")[2]) for each in lines if b"data: " in each]

    def _read(self) -> None:
        try:
            while more := self.sock.recv(65536):
                self.heard += more
            self.is_over = True
        except TimeoutError:
            pass

    def count(self, kind: str) -> str:
        told = self.told
        return str(told[-1]["counts"][kind]) if told else ""

    def has_ended(self) -> bool:
        self._read()
        return self.is_over


def eventually(what: Callable[[], Any]) -> Any:
    ends_at = time.monotonic() + PATIENCE
    while time.monotonic() < ends_at:
        if found := what():
            return found
        time.sleep(0.02)
    raise AssertionError("it did not come to pass")
