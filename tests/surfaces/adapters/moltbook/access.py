"""What the Moltbook tests share: a fake per dialect, and a way in."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx

from surfaces.adapters.base import Access
from surfaces.adapters.moltbook import Moltbook
from surfaces.adapters.moltbook.writer import MoltbookWriter
from tests.fakes.moltbook import FakeMoltbook

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)
LONG_AGO = datetime(2020, 1, 1, tzinfo=UTC)


class Purse:
    """A meter that only writes down."""

    def __init__(self) -> None:
        self.taken: list[str] = []
        self.told: list[tuple[str, int | None, timedelta | None]] = []

    def take(self, *buckets: str) -> None:
        self.taken += buckets

    def spare(self, *buckets: str) -> int:
        return 50

    def heard(self, bucket: str, *, left: int | None = None, wait: timedelta | None = None) -> None:
        self.told.append((bucket, left, wait))


@contextmanager
def reading(fake: FakeMoltbook, key: str, **more: Any) -> Iterator[Moltbook]:
    access = Access(token=key, base_url=fake.url, dialect=fake.world.dialect, **more)
    reader = Moltbook(access)
    try:
        yield reader
    finally:
        reader.close()


@contextmanager
def writing(fake: FakeMoltbook, key: str, **more: Any) -> Iterator[MoltbookWriter]:
    access = Access(token=key, base_url=fake.url, dialect=fake.world.dialect, **more)
    writer = MoltbookWriter(access)
    try:
        yield writer
    finally:
        writer.close()


def pretend(answer: Callable[[httpx.Request], httpx.Response], **more: Any) -> Access:
    """Access over a pretend wire, as iris, in the live dialect unless told otherwise."""
    given: dict[str, Any] = {
        "token": "moltbook_sk_1",
        "handle": "iris",
        "remote_id": "7",
        "dialect": "live",
        "transport": httpx.MockTransport(answer),
        "clock": lambda: NOON,
    }
    return Access(**given | more)
