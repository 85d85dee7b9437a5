"""A service on this machine that answers to do harm: packed, endless, slow or costly to read.

`ATTACKS` names its answers. An endless one ends when the client leaves or the fake is stopped.
"""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Callable, Iterator
from functools import cache

from tests.fakes.loopback import Handler, Loopback

MEGABYTE = 1024 * 1024
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
HINT = b"HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n"
PAUSE = 0.02  # seconds between two pieces of what trickles


class Hostile(Loopback):
    """Answers every request with `attack`. `bomb`: megabytes that a packed answer unpacks to."""

    def __init__(self, attack: str, *, bomb: int = 64) -> None:
        super().__init__(_Handler)
        self.attack, self.bomb, self.requests = attack, bomb, 0
        next(ATTACKS[attack](self))  # what takes long to make is made before anybody waits for it


class _Handler(Handler):
    def do_GET(self) -> None:
        self._attack()

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self._attack()

    def _attack(self) -> None:
        fake = self.server.fake
        fake.requests += 1
        self.close_connection = True
        for piece, pause in ATTACKS[fake.attack](fake):
            self.wfile.write(piece)
            if fake.closing.wait(pause) if pause else fake.closing.is_set():
                return


Pieces = Iterator[tuple[bytes, float]]


def _whole(body: bytes, *headers: str) -> Pieces:
    lines = "".join(f"{line}\r\n" for line in (*headers, f"Content-Length: {len(body)}"))
    yield HEAD + lines.encode() + b"\r\n" + body, 0


def _for_ever(head: bytes, piece: bytes, pause: float = 0) -> Pieces:
    yield head, 0
    while True:
        yield piece, pause


GZIP, DEFLATE = 31, 15  # as zlib calls them


@cache
def packed_zeros(megabytes: int, layers: int = 1, form: int = GZIP) -> bytes:
    """A JSON text of that many zeros, packed as often as said."""
    packer = zlib.compressobj(9, zlib.DEFLATED, form)
    zeros = b"0" * MEGABYTE
    pieces = [packer.compress(b'"'), *(packer.compress(zeros) for _ in range(megabytes))]
    packed = b"".join([*pieces, packer.compress(b'"'), packer.flush()])
    for _ in range(layers - 1):
        packed = gzip.compress(packed)
    return packed


@cache
def _filled(unit: str, most: int = 8 * MEGABYTE) -> bytes:
    """A JSON list of as many `unit` as fit."""
    body = "[" + ",".join([unit] * ((most - 2) // (len(unit) + 1))) + "]"
    return body.encode()


@cache
def _keys(most: int = 8 * MEGABYTE) -> bytes:
    return json.dumps({f"{n:x}": 0 for n in range(most // 12)}, separators=(",", ":")).encode()


@cache
def _wide(most: int = 8 * MEGABYTE) -> bytes:
    """One text that takes four times its bytes in memory."""
    return b'["' + b"a" * (most - 8) + "🦞".encode() + b'"]'


CHUNKED = HEAD + b"Transfer-Encoding: chunked\r\n\r\n"
LENGTH = HEAD + b"Content-Length: 1000000\r\n\r\n"
ATTACKS: dict[str, Callable[[Hostile], Pieces]] = {
    "gzip": lambda fake: _whole(packed_zeros(fake.bomb), "Content-Encoding: gzip"),
    "gzip, gzip": lambda fake: _whole(packed_zeros(fake.bomb, 2), "Content-Encoding: gzip, gzip"),
    "gzip in two headers": lambda fake: _whole(
        packed_zeros(fake.bomb, 2), "Content-Encoding: gzip", "Content-Encoding: gzip"
    ),
    "deflate": lambda fake: _whole(
        packed_zeros(fake.bomb, form=DEFLATE), "Content-Encoding: deflate"
    ),
    "br": lambda fake: _whole(b"\x0b\x00\x80a\x03", "Content-Encoding: br"),
    "zstd": lambda fake: _whole(b"\x28\xb5\x2f\xfd", "Content-Encoding: zstd"),
    "endless body": lambda fake: _for_ever(HEAD + b"\r\n", b"0" * 65536),
    "endless chunks": lambda fake: _for_ever(CHUNKED, b"1\r\n0\r\n" * 1000),
    "endless headers": lambda fake: _for_ever(HEAD, b"X-More: " + b"a" * 4000 + b"\r\n"),
    "endless header": lambda fake: _for_ever(HEAD + b"X-More: ", b"a" * 65536),
    "endless hints": lambda fake: _for_ever(HINT, HINT * 1000),
    "lists": lambda fake: _whole(_filled("[]")),
    "objects": lambda fake: _whole(_filled('{"a":0}')),
    "deep lists": lambda fake: _whole(b"[" * 4 * MEGABYTE + b"]" * 4 * MEGABYTE),
    "keys": lambda fake: _whole(_keys()),
    "wide text": lambda fake: _whole(_wide()),
    "escapes": lambda fake: _whole(b'"' + b"\\n" * (4 * MEGABYTE - 1)),
    "slow body": lambda fake: _for_ever(LENGTH, b"0", PAUSE),
    "slow headers": lambda fake: _for_ever(HEAD + b"X-More: ", b"a", PAUSE),
    "slow hints": lambda fake: _for_ever(HINT, HINT, PAUSE),
    "silence": lambda fake: _for_ever(b"", b"", PAUSE),
}
SLOW = [name for name in ATTACKS if name.startswith("slow")] + ["silence"]
PACKED = ["gzip", "gzip, gzip", "gzip in two headers", "deflate", "br", "zstd"]
COSTLY = ["lists", "objects", "keys", "wide text"]
ENDLESS = [name for name in ATTACKS if name.startswith("endless")]
