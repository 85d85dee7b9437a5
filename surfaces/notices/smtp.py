"""Django's SMTP backend with one deadline and one bound on bytes for a whole mail.

A timeout per read is not enough: a server may send a byte now and then, or lines without end.
"""

import smtplib
import socket
import time
from io import BufferedReader
from typing import Any

from django.core.mail.backends import smtp

LONGEST = 40.0  # seconds for one mail
MOST_READ = 64 * 1024  # bytes of all answers of the server


class BrokenOff(OSError):
    """We left the server: it was too slow, or it sent too much."""


class BoundedReader:
    """The server's lines, read while time and bytes are left."""

    def __init__(self, line: socket.socket, *, ends: float, most: int) -> None:
        self._line, self._ends, self._left = line, ends, most
        self._file: BufferedReader = line.makefile("rb")

    def readline(self, most: int = -1) -> bytes:
        read = b""
        while not read.endswith(b"\n") and len(read) < most:
            waiting = self._waiting()
            if not waiting:
                break
            end = waiting.find(b"\n") + 1 or len(waiting)
            read += self._file.read(min(end, most - len(read)))
        self._left -= len(read)
        if self._left < 0:
            raise BrokenOff("the mail server sends too much")
        return read

    def _waiting(self) -> bytes:
        """What has arrived, after one read at most."""
        left = self._ends - time.monotonic()
        step = self._line.gettimeout() or left
        if left > 0:
            self._line.settimeout(min(left, step))
            try:
                return self._file.peek(1)
            except TimeoutError:
                if left > step:
                    raise
        raise BrokenOff("the mail took too long")

    def close(self) -> None:
        self._file.close()


class BoundedSMTP(smtplib.SMTP):
    def __init__(self, *given: Any, **more: Any) -> None:
        self._ends = time.monotonic() + LONGEST
        super().__init__(*given, **more)

    def getreply(self) -> tuple[int, bytes]:
        if self.file is None and self.sock is not None:
            self.file = BoundedReader(self.sock, ends=self._ends, most=MOST_READ)
        return super().getreply()


class BoundedSSL(BoundedSMTP, smtplib.SMTP_SSL):
    """The same over TLS from the first byte."""


class EmailBackend(smtp.EmailBackend):
    @property
    def connection_class(self) -> type[smtplib.SMTP]:
        return BoundedSSL if self.use_ssl else BoundedSMTP
