"""A watch round over 1,000 known posts, 20 with news, against one request per post."""

from __future__ import annotations

import sys
from typing import Any

from bench.world import scratch_database, seconds

POSTS, NEWS = 1_000, 20


def main() -> list[tuple[str, float, str]]:
    rows = [_round(dialect) for dialect in ("open", "live")]
    return rows + [row for dialect in ("open", "live") for row in _busy(dialect)]


def _busy(dialect: str) -> list[tuple[str, float, str]]:
    """300 posts of ours among 2,000 by others, at 100 requests a minute (live: 60)."""
    from tests.surfaces.watcher.busy import busy

    with busy(dialect, [f"iris_{dialect}"]) as place:
        until_found = place.rounds_until_found()
        noticed = [place.rounds_until_noticed(place.posts[n]) for n in (0, 150, 299)]
        counts = ", ".join(map(str, place.counts))
        refused = place.refused()
    name = f"busy Moltbook, {dialect}"
    return [
        (f"{name}: rounds until all posts are found", float(until_found), "promise ≤ 6"),
        (f"{name}: rounds until a comment is noticed", float(max(noticed)), "promise ≤ 3"),
        (f"{name}: requests of the last round", float(place.counts[-1]),
         f"per round {counts}; {refused} refused"),
    ]  # fmt: skip


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
