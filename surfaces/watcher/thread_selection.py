"""Choose which threads a round reads: news first, then a share of the rest."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from math import ceil

from django.db.models import Count, F, Q

from surfaces.accounts.models.account import Account
from surfaces.adapters.types import KnownThread, News
from surfaces.messages.models import Direction, Message

CLOCKS_DIFFER = timedelta(minutes=1)  # between our hosts
SWEEP = timedelta(hours=24)  # within it, every known thread is read once
SURELY_GONE = timedelta(minutes=10)  # after it, a post that was missing is asked for once more
MOST_MISSING = 20  # of these in one round
LATELY = timedelta(days=7)  # comments since then make a post an active one
LEFT = "left"  # in the cursor: threads with news that a round did not get to
MOST_LEFT = 1_000


@dataclass(frozen=True, slots=True)
class ThreadChoice:
    """`news` are read; of `rotation` only the counts, unless they moved."""

    news: list[str]
    rotation: list[str]


def known_posts(account: Account) -> dict[str, KnownThread]:
    """Threads we watch: our own posts, and posts we spoke under."""
    ours = Message.objects.filter(account=account).outgoing()
    posts = Message.objects.filter(account=account).posts().alive()
    watched = posts.filter(Q(direction="outgoing") | Q(pk__in=ours.comments().values("post")))
    names = ("comment_count", "thread_read_at", "thread_checked_at", "created_at", "direction")
    return {
        remote_id: KnownThread(
            count, read_at, checked_at or read_at, created_at, direction == Direction.OUTGOING
        )
        for remote_id, count, read_at, checked_at, created_at, direction in watched.values_list(
            "remote_id", *names
        )
    }


def to_read(
    account: Account, known: Mapping[str, KnownThread], news: News, *, now: datetime
) -> ThreadChoice:
    """Threads with news, a share of those not read for a day, and the rotation."""
    met = [p.remote_id for p in news.posts if p.remote_id not in known and p.comment_count != 0]
    chosen = dict.fromkeys([*account.cursor.get(LEFT, []), *news.touched, *met])
    chosen.update(dict.fromkeys(_missing(account, now=now)))
    longest_ago = datetime.min.replace(tzinfo=now.tzinfo)
    stale = sorted(
        (read.read_at or longest_ago, post_id)
        for post_id, read in known.items()
        if post_id not in chosen and not _is_fresh(read.read_at, now)
    )
    share = max(1, ceil(len(known) * account.interval / SWEEP))
    chosen.update(dict.fromkeys(post_id for _, post_id in stale[:share]))
    unheard = [post_id for post_id in news.unheard if post_id not in chosen and post_id in known]
    return ThreadChoice(list(chosen), _rotation(account, known, unheard, news.spare, now=now))


def _missing(account: Account, *, now: datetime) -> list[str]:
    """Posts of ours that were missing once: no list names them again, if they are old."""
    lately = {"deleted_at__gte": now - 2 * SWEEP, "deleted_at__lte": now - SURELY_GONE}
    gone = Message.objects.filter(account=account, **lately).posts().outgoing()
    once = gone.filter(thread_read_at__lte=F("deleted_at")).order_by("deleted_at", "pk")
    return list(once.values_list("remote_id", flat=True)[:MOST_MISSING])


def _rotation(
    account: Account,
    known: Mapping[str, KnownThread],
    unheard: Sequence[str],
    most: int,
    *,
    now: datetime,
) -> list[str]:
    """The most active posts first, for half of it; then those checked the longest ago."""
    active = _active(account, unheard, now=now)[: max(1, most // 2)]
    longest_ago = datetime.min.replace(tzinfo=now.tzinfo)

    def checked(post_id: str) -> tuple[datetime, str]:
        at = known[post_id].checked_at
        return at if at and at <= now + CLOCKS_DIFFER else longest_ago, post_id

    rest = sorted(unheard, key=checked)
    return list(dict.fromkeys([*active, *rest]))[:most]


def _active(account: Account, unheard: Sequence[str], *, now: datetime) -> list[str]:
    """Posts with comments lately, most comments first."""
    if not unheard:
        return []
    lately = Message.objects.filter(account=account, created_at__gte=now - LATELY).comments()
    counts = lately.filter(post__remote_id__in=unheard).order_by().values("post__remote_id")
    rows = counts.annotate(said=Count("pk")).order_by("-said", "post__remote_id")
    return list(rows.values_list("post__remote_id", flat=True))


def _is_fresh(read_at: datetime | None, now: datetime) -> bool:
    """A time that a clock that ran ahead wrote says nothing."""
    return read_at is not None and now - SWEEP <= read_at <= now + CLOCKS_DIFFER


def turned(chosen: list[str], number: int) -> list[str]:
    """Begin elsewhere every round: threads that end a round must not hide those behind them."""
    start = number % max(len(chosen), 1)
    return chosen[start:] + chosen[:start]
