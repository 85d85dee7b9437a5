"""A busy Moltbook: our posts among 2,000 by others, rate limits, and a clock that is moved."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any

from surfaces.models import Account, Message, WatchRound
from surfaces.watcher import rounds
from tests.fakes.moltbook import FakeMoltbook
from tests.surfaces.watcher.factories import connected

FOREIGN, OURS = 2_000, 300
INTERVAL = 300  # seconds
LIMITS = {"general": (100, 60.0), "read": (60, 60.0)}
# What an operator enters for an address that is not the live one.
OURS_THERE = {"open": {"general": [100, 60]}, "live": {"read": [60, 60]}}


class Busy:
    def __init__(self, fake: FakeMoltbook, names: list[str]) -> None:
        self.fake = fake
        self.posts: list[str] = []
        keys = {name: fake.add_agent(name) for name in names}
        for name in ("bob", "nightjar"):
            fake.add_agent(name)
        # Two thirds of ours stand behind all of the others, the rest in between.
        self.posts = [fake.add_post(names[0], f"On tides {n}") for n in range(OURS * 2 // 3)]
        every = FOREIGN // (OURS // 3)
        for number in range(FOREIGN):
            fake.add_post("bob", f"noise {number}")
            if number % every == 0:
                self.posts.append(fake.add_post(names[0], f"On reefs {number}"))
        self.accounts = [connected(fake, name, key) for name, key in keys.items()]
        surface = self.accounts[0].surface
        surface.limits = OURS_THERE[fake.world.dialect]
        surface.save(update_fields=["limits"])
        self.counts: list[int] = []  # requests of each round

    def clock(self) -> datetime:
        return datetime.fromtimestamp(self.fake.world.now(), UTC)

    def round(self) -> list[WatchRound]:
        """All accounts in the same moment, then five minutes."""
        done = []
        for account in self.accounts:
            row = rounds.round_of(Account.objects.get(pk=account.pk), clock=self.clock)
            assert row is not None
            done.append(row)
        self.counts.append(sum(row.requests for row in done))
        self.fake.advance(INTERVAL)
        return done

    def found(self) -> int:
        return Message.objects.posts().outgoing().filter(account=self.accounts[0]).count()

    def rounds_until_found(self, most: int = 20) -> int:
        for number in range(1, most + 1):
            self.round()
            if self.found() >= len(self.posts):
                return number
        raise AssertionError(f"{self.found()} of {len(self.posts)} found in {most} rounds")

    def rounds_until_noticed(self, post: str, most: int = 40) -> int:
        comment = self.fake.add_comment(post, "nightjar", f"What of {post[:8]}, and the moon?")
        for number in range(1, most + 1):
            self.round()
            if Message.objects.filter(account=self.accounts[0], remote_id=comment).exists():
                return number
        raise AssertionError(f"not noticed in {most} rounds")

    def refused(self) -> int:
        return sum(status == 429 for _, _, status in self.fake.requests)


@contextmanager
def busy(dialect: str, names: list[str] | None = None) -> Iterator[Any]:
    with FakeMoltbook(dialect=dialect, limits=LIMITS) as fake:
        yield Busy(fake, names or ["iris"])
