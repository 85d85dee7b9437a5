"""Find the threads with news without reading them.

    /home ──────────> posts with activity ─┐
    /notifications ─> posts that mention us ├─> touched
    /posts ─────────> changed counts ──────┘     the rest: unheard

Texts in /home and /notifications are written by others: only ids, times and counts are used.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from surfaces.adapters.moltbook.client import READ, MoltbookClient
from surfaces.adapters.moltbook.parse import first, listed, next_cursor
from surfaces.adapters.moltbook.post_lists import LONGEST_LOOK, PostList
from surfaces.adapters.parsing import clean_count, clean_id, parse_time
from surfaces.adapters.types import Item, KnownThread, News, Skipped
from surfaces.errors import Limited, NotThere, Refused, TryLater

LOOK_AGAIN = timedelta(days=1)  # for an endpoint that was not there
MOST_NOTIFICATIONS = 2  # pages
MOST_ELSEWHERE = 10  # pages of everybody's posts, after the list of our own
SKEW = timedelta(minutes=2)  # the service's clock may be behind ours


@dataclass(slots=True)
class _Round:
    line: MoltbookClient
    known: Mapping[str, KnownThread]
    now: datetime
    cursor: dict[str, Any]
    named: dict[str, datetime | None] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)
    scores: dict[str, int] = field(default_factory=dict)
    met: dict[str, Item] = field(default_factory=dict)
    skipped: list[Skipped] = field(default_factory=list)

    def name(self, post_id: str, moment: datetime | None) -> None:
        earlier = self.named.get(post_id, moment)
        self.named[post_id] = max(moment, earlier) if moment and earlier else None

    def has_heard_all(self) -> bool:
        return all(post_id in self.counts for post_id in self.known)


def find_news(
    listing: PostList, known: Mapping[str, KnownThread], cursor: dict[str, Any], *, now: datetime
) -> News:
    """Fetch /home, then /notifications unless /home rules them out, then the lists of posts."""
    heard = _Round(line=listing.line, known=known, now=now, cursor=dict(cursor))
    if _hear_home(heard) != 0:
        _hear_notifications(heard)
    _hear_counts(listing, heard, LONGEST_LOOK)
    if listing.line.dialect == "live" and known and not heard.has_heard_all():
        everybody = PostList(listing.line, listing.glasses, of_ours=False)
        _hear_counts(everybody, heard, MOST_ELSEWHERE, while_useful=True)
    touched = tuple(_touched(heard))
    return News(
        touched=touched,
        counts=heard.counts,
        scores=heard.scores,
        posts=tuple(heard.met.values()),
        unheard=tuple(name for name in known if name not in heard.counts and name not in touched),
        cursor=heard.cursor,
        skipped=tuple(heard.skipped),
    )


def _touched(heard: _Round) -> Iterator[str]:
    for post_id, moment in heard.named.items():
        if _is_newer(moment, post_id, heard):
            yield post_id
    for post_id, memory in heard.known.items():
        if post_id in heard.named and _is_newer(heard.named[post_id], post_id, heard):
            continue
        moved = post_id in heard.counts and heard.counts[post_id] != memory.comment_count
        if moved or memory.read_at is None:
            yield post_id
    for post_id, item in heard.met.items():
        if item.comment_count != 0 and post_id not in heard.named:
            yield post_id


def _is_newer(moment: datetime | None, post_id: str, heard: _Round) -> bool:
    """Whether the thread was last read before `moment`.
    Nothing marks what was named as read (a reader does not write), so the same names come again for
    as long as the service likes.
    """
    memory = heard.known.get(post_id)
    if memory is None or memory.read_at is None or moment is None:
        return True
    slack = timedelta(0) if post_id in heard.counts else SKEW
    return moment > memory.read_at - slack


def _hear_home(heard: _Round) -> int | None:
    """Read /home; return how many notifications are unread, None if it does not say.
    Moltbook skill.md 1.12.0, home. The open-source server has none.
    """
    data = _ask(heard, "/home", {})
    if data is None:
        return None
    inner = data["data"] if isinstance(data.get("data"), dict) else data
    for entry in _dicts(first(inner, "activity_on_your_posts", "activityOnYourPosts")):
        if post_id := clean_id(first(entry, "post_id", "postId")):
            heard.name(post_id, parse_time(first(entry, "latest_at", "latestAt")))
    account = first(inner, "your_account", "yourAccount")
    if not isinstance(account, dict):
        return None
    return clean_count(first(account, "unread_notification_count", "unreadNotificationCount"))


def _hear_notifications(heard: _Round) -> None:
    """Reported by clients of the live site: camelCase by some, snake_case by others."""
    params: dict[str, str | int] = {"limit": 50}
    for _ in range(MOST_NOTIFICATIONS):
        data = _ask(heard, "/notifications", params)
        entries = _dicts(listed(data, "notifications")) if data else []
        news = [_notified(entry, heard) for entry in entries]
        _, cursor = next_cursor(data or {})
        if not cursor or not any(news):
            return
        params["cursor"] = cursor


def _notified(entry: dict[str, Any], heard: _Round) -> bool:
    related = entry.get("post")
    inner = related if isinstance(related, dict) else {}
    names = ("relatedPostId", "related_post_id", "postId", "post_id")
    post_id = clean_id(first(entry, *names) or inner.get("id"))
    if not post_id:
        return False
    moment = parse_time(first(entry, "createdAt", "created_at"))
    heard.name(post_id, moment)
    return _is_newer(moment, post_id, heard)


def _ask(heard: _Round, path: str, params: Mapping[str, str | int]) -> dict[str, Any] | None:
    """Fetch an endpoint that may not exist; None if it does not."""
    missing = f"{path} missing since"
    since = parse_time(heard.cursor.get(missing))
    if since and since <= heard.now < since + LOOK_AGAIN:
        return None
    try:
        data = heard.line.call("GET", path, READ, params=params).data
    except NotThere:
        heard.cursor[missing] = heard.now.isoformat()
        return None
    except Limited:
        raise
    except (Refused, TryLater):
        return None  # the lists of posts have the same information, later
    heard.cursor.pop(missing, None)
    return data if isinstance(data, dict) else None


def _dicts(value: object) -> list[dict[str, Any]]:
    return [entry for entry in value if isinstance(entry, dict)] if isinstance(value, list) else []


def _hear_counts(posts: PostList, heard: _Round, most: int, *, while_useful: bool = False) -> None:
    """Page until every known post was listed. `while_useful`: until a page adds nothing."""
    for page in posts.pages(most):
        before = len(heard.counts)
        heard.skipped += page.skipped
        for item in page.posts:
            if item.remote_id in heard.known:
                if item.comment_count is not None:
                    heard.counts.setdefault(item.remote_id, item.comment_count)
                if item.score is not None:
                    heard.scores[item.remote_id] = item.score
            elif item.is_ours:
                heard.met.setdefault(item.remote_id, item)
        is_useless = while_useful and len(heard.counts) == before
        if heard.has_heard_all() or is_useless:
            return
