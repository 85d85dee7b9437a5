"""The web processes as `run` starts them, on the database of the test or bench."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import httpx

from tests.stories.processes import ROOT, database_url

OURS = ["-m", "config.processes.web", "--host=127.0.0.1", "--port={port}"]


class WebServer(subprocess.Popen[str]):
    """A web server, as soon as it answers. `command` is what Python runs."""

    def __init__(self, command: Sequence[str] = OURS, **environment: str) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        super().__init__(
            [sys.executable, *(each.format(port=self.port) for each in command)],
            cwd=ROOT,
            env={**os.environ, "DATABASE_URL": database_url(), **environment},
            stderr=subprocess.PIPE if "LOG_LEVEL" in environment else None,
            text=True,
        )
        ends_at = time.monotonic() + 60
        while not self.answers():
            assert self.poll() is None, "the web server ended"
            assert time.monotonic() < ends_at, "the web server does not answer"
            time.sleep(0.1)

    def answers(self) -> bool:
        try:
            return httpx.get(f"{self.url}/healthz").is_success
        except httpx.TransportError:
            return False


@contextmanager
def web_server(command: Sequence[str] = OURS, **environment: str) -> Iterator[WebServer]:
    server = WebServer(command, **environment)
    try:
        yield server
    finally:
        server.terminate()
        server.communicate(timeout=20)
