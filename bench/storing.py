"""Storing 100,000 comments, against COPY of the same rows into the same table."""

from __future__ import annotations

import sys

from bench.world import NOON, maintain, scratch_database, seconds

COMMENTS = 100_000


def main() -> tuple[str, float, str]:
    from django.db import connection

    from surfaces.adapters.types import Item, ItemKind
    from surfaces.messages import store as message_store
    from surfaces.models import Message
    from tests.factories import make_account

    account, plain = make_account(), message_store.Classification()
    post = Item(
        remote_id="p", kind=ItemKind.POST, post_id="p", author="iris", is_ours=True, created_at=NOON
    )
    comments = [
        Item(
            remote_id=f"c{n}",
            kind=ItemKind.COMMENT,
            post_id="p",
            parent_id=f"c{n - 1}" if n % 4 else None,
            author=f"author{n % 3000}",
            created_at=NOON,
            content=f"The tide table says word{n % 20000}, but what of the reef number {n}?",
            raw={"id": f"c{n}", "score": n % 7},
        )
        for n in range(COMMENTS)
    ]

    def store() -> None:
        message_store.store(account, [post, *comments], now=NOON, judge=lambda *_: {})

    def empty() -> None:
        maintain("TRUNCATE messages CASCADE")

    def rows() -> list[tuple]:
        ids = dict(zip(["p", *(c.remote_id for c in comments)],
                       message_store.take_ids(COMMENTS + 1), strict=True))  # fmt: skip
        return [message_store._row(account, item, ids, plain, NOON) for item in [post, *comments]]

    def copy(prepared: list[tuple]) -> None:
        with (
            connection.cursor() as cursor,
            cursor.copy(f"COPY messages ({message_store.NAMES}) FROM STDIN") as stream,
        ):
            for row in prepared:
                stream.write_row(row)

    ours, theirs = [], []
    for _ in range(3):
        empty()
        ours.append(seconds(store))
        assert Message.objects.count() == COMMENTS + 1
        again = seconds(store)
        assert Message.objects.count() == COMMENTS + 1
        empty()
        prepared = rows()
        theirs.append(seconds(lambda ready=prepared: copy(ready)))
    ratio = min(theirs) / min(ours)
    return (
        "storing 100,000 comments, speed against COPY",
        ratio,
        f"{COMMENTS / min(ours):,.0f}/s against {COMMENTS / min(theirs):,.0f}/s;"
        f" the same again (all known): {again:.1f} s; promise ≥ 0.33",
    )


if __name__ == "__main__":
    with scratch_database():
        sys.stdout.write(f"{main()}\n")
