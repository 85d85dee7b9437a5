"""Choose which threads a round reads: news first, then a share of the rest."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from math import ceil

from django.db.models import Q

from surfaces.accounts.models.account import Account
from surfaces.adapters.types import KnownThread, News
from surfaces.messages.models import Message

CLOCKS_DIFFER = timedelta(minutes=1)  # between our hosts
SWEEP = timedelta(hours=24)  # within it, every known thread is read once
ROTATION = 10  # threads per round the surface says nothing about
LEFT = "left"  # in the cursor: threads with news that a round did not get to
MOST_LEFT = 1_000


def known_posts(account: Account) -> dict[str, KnownThread]:
    """Threads we watch: our own posts, and posts we spoke under."""
    ours = Message.objects.filter(account=account).outgoing()
    posts = Message.objects.filter(account=account).posts().alive()
    watched = posts.filter(Q(direction="outgoing") | Q(pk__in=ours.comments().values("post")))
    rows = watched.values_list("remote_id", "comment_count", "thread_read_at")
    return {remote_id: KnownThread(count, read_at) for remote_id, count, read_at in rows}


def to_read(
    account: Account, known: Mapping[str, KnownThread], news: News, *, now: datetime
) -> list[str]:
    """Threads with news first, then a share of the rest, the longest unread first."""
    met = [p.remote_id for p in news.posts if p.remote_id not in known and p.comment_count != 0]
    chosen = dict.fromkeys([*account.cursor.get(LEFT, []), *news.touched, *met])
    longest_ago = datetime.min.replace(tzinfo=now.tzinfo)
    stale = sorted(
        (read.read_at or longest_ago, post_id)
        for post_id, read in known.items()
        if post_id not in chosen and not _is_fresh(read.read_at, now)
    )
    share = max(1, ceil(len(known) * account.interval / SWEEP))
    chosen.update(dict.fromkeys(post_id for _, post_id in stale[:share]))
    quiet = sorted((known[p].read_at or longest_ago, p) for p in {*news.unheard} if p in known)
    chosen.update(dict.fromkeys(post_id for _, post_id in quiet[:ROTATION]))
    return list(chosen)


def _is_fresh(read_at: datetime | None, now: datetime) -> bool:
    """A time that a clock that ran ahead wrote says nothing."""
    return read_at is not None and now - SWEEP <= read_at <= now + CLOCKS_DIFFER


def turned(chosen: list[str], number: int) -> list[str]:
    """Begin elsewhere every round: threads that end a round must not hide those behind them."""
    start = number % max(len(chosen), 1)
    return chosen[start:] + chosen[:start]
