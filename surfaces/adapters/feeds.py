"""Put together what several communities show into one feed."""

from collections.abc import Callable, Sequence
from datetime import timedelta

from surfaces.adapters.types import Feed, Item, Skipped
from surfaces.errors import Limited, Refused, TryLater
from surfaces.text.reasons import reason

MOST_COMMUNITIES = 10  # asked for one feed; each is a request
MOST_POSTS = 100
A_WHILE = timedelta(minutes=1)
Ask = Callable[[str, int], tuple[Sequence[Item], Sequence[Skipped]]]


def read_feed(ask: Ask, communities: Sequence[str], limit: int, *, spare: int) -> Feed:
    """Ask for each community, "" for all of them, and merge: newest first, each post once.

    `spare`: how many requests may be made. A community that cannot be read is skipped with its
    reason; if none can, the error of the last is raised.
    """
    if spare < 1:
        raise Limited(reason("account.rate_spent", bucket="read"), wait=A_WHILE, asked=False)
    limit = max(1, min(limit, MOST_POSTS))
    asked = list(dict.fromkeys(communities))[: min(spare, MOST_COMMUNITIES)] or [""]
    found: dict[str, Item] = {}
    skipped: list[Skipped] = []
    answered = 0
    failed: Refused | TryLater = Refused("service.no_feed")
    for community in asked:
        try:
            posts, unread = ask(community, limit)
        except (Refused, TryLater) as error:
            failed = error
            skipped.append(Skipped("", error.reason))
            if isinstance(error, Limited):
                break
            continue
        answered += 1
        skipped += unread
        for item in posts:
            is_wanted = not community or item.community.casefold() == community.casefold()
            if is_wanted and not item.is_deleted:
                found.setdefault(item.remote_id, item)
    if not answered:
        raise failed
    newest = sorted(found.values(), key=lambda item: item.created_at, reverse=True)
    return Feed(posts=tuple(newest[:limit]), skipped=tuple(skipped))
