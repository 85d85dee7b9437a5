"""A watch round over 1,000 known posts, 20 with news, against one request per post."""

from __future__ import annotations

import sys
from typing import Any

from bench.world import scratch_database, seconds

POSTS, NEWS = 1_000, 20


def main() -> list[tuple[str, float, str]]:
    return [_round(dialect) for dialect in ("open", "live")]


def _round(dialect: str) -> tuple[str, float, str]:
    from django.utils import timezone

    from surfaces.accounts.connect import connect
    from surfaces.watcher import rounds as watcher_rounds
    from surfaces.watcher.backfill import backfill
    from tests.fakes.moltbook import FakeMoltbook

    with FakeMoltbook(dialect=dialect) as moltbook:
        key = moltbook.add_agent("iris")
        moltbook.add_agent("nightjar")
        posts = [moltbook.add_post("iris", f"On tides {n}") for n in range(POSTS)]
        account = connect(
            "moltbook", agent=f"iris-{dialect}", base_url=moltbook.url, token=key, by="bench",
            now=timezone.now(),
        )  # fmt: skip
        account.surface.dialect = dialect
        account.surface.save(update_fields=["dialect"])
        read = sum(1 for _ in backfill(account, clock=timezone.now))
        assert read == POSTS, read
        watcher_rounds.round_of(account)
        for number, post in enumerate(posts[:: POSTS // NEWS]):
            moltbook.add_comment(post, "nightjar", f"What of part {number}, and of the moon?")
        before = len(moltbook.requests)
        rounds: list[Any] = []
        took = seconds(lambda: rounds.append(watcher_rounds.round_of(account)))
        requests = len(moltbook.requests) - before
        assert rounds[0].stored == NEWS, rounds[0].stored
    return (
        f"watch round, 1,000 posts, 20 with news, {dialect}: share of requests",
        requests / POSTS,
        f"{requests} requests in {took:.2f} s against {POSTS}; promise ≤ 0.05",
    )


if __name__ == "__main__":
    with scratch_database():
        sys.stdout.write(f"{main()}\n")
