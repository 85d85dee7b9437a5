"""Find the threads with news without reading them.

    /home ──────────> posts with activity ─┐
    /notifications ─> posts that mention us ├─> touched
    /posts ─────────> changed counts ──────┘     the rest: unheard

/posts is walked in parts (`walks`): what is new at every round; what is older, and the counts of
older posts, with the requests that the rate limit leaves to reading that could wait.

Texts in /home and /notifications are written by others: only ids, times and counts are used.
"""

from collections.abc import Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from surfaces.adapters.moltbook.client import READ, MoltbookClient
from surfaces.adapters.moltbook.parse import ParseContext, first, listed, next_cursor
from surfaces.adapters.moltbook.post_lists import PostList
from surfaces.adapters.moltbook.walks import ListWalk
from surfaces.adapters.parsing import clean_count, clean_id, parse_time
from surfaces.adapters.types import Item, ItemPage, KnownThread, News, Skipped
from surfaces.errors import Limited, NotThere, Refused, TryLater
from surfaces.text.reasons import reason

LOOK_AGAIN = timedelta(days=1)  # for an endpoint that was not there
MOST_NOTIFICATIONS = 2  # pages
FAR_AHEAD = timedelta(days=1)  # a moment that cannot be: it is news once
SKEW = timedelta(minutes=2)  # the service's clock may be behind ours
MOST_NAMES = 500  # of posts in the cursor, the last that were named
OTHERS = "others"  # in the cursor: posts that are not ours, and when they were last named


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
        if moment and moment > self.now + FAR_AHEAD:
            odd = self.cursor.setdefault("odd_times", {})
            if odd.get(post_id) == moment.isoformat():
                return
            self.cursor["odd_times"] = _newest({**odd, post_id: moment.isoformat()})
            moment = None
        earlier = self.named.get(post_id, moment)
        self.named[post_id] = max(moment, earlier) if moment and earlier else None

    def remember(self) -> None:
        """Keep which posts of others were named: what was not read yet is kept by the round."""
        others = dict(self.cursor.get(OTHERS) or {})
        for post_id, moment in self.named.items():
            if moment and post_id not in self.known:
                others.pop(post_id, None)
                others[post_id] = moment.isoformat()
        self.cursor[OTHERS] = _newest(others)

    def unheard(self, *, ours: bool | None = None) -> list[str]:
        """Known posts without a count so far."""
        return [
            post_id
            for post_id, known in self.known.items()
            if post_id not in self.counts and ours in (None, known.is_ours)
        ]

    def hear(self, page: ItemPage) -> None:
        self.skipped += page.skipped
        for item in page.posts:
            if item.remote_id in self.known:
                if item.comment_count is not None:
                    self.counts.setdefault(item.remote_id, item.comment_count)
                if item.score is not None:
                    self.scores[item.remote_id] = item.score
            elif item.is_ours:
                self.met.setdefault(item.remote_id, item)


def find_news(
    line: MoltbookClient,
    glasses: ParseContext,
    known: Mapping[str, KnownThread],
    cursor: dict[str, Any],
    *,
    now: datetime,
) -> News:
    """Fetch /home, then /notifications unless /home rules them out, then the lists of posts."""
    heard = _Round(line=line, known=known, now=now, cursor=deepcopy(cursor))
    if _hear_home(heard) != 0:
        _hear_notifications(heard)
    walks = heard.cursor.setdefault("walks", {})
    # The open-source server has no list of ours.
    lists = {"ours": True, "all": False} if line.dialect == "live" else {"all": False}
    spare, quiet = line.spare(), set[str]()
    for name, of_ours in lists.items():
        posts = PostList(line, glasses, of_ours=of_ours)
        walk = ListWalk(posts, walks.setdefault(name, {}), heard.hear, now=now)
        is_first = name == next(iter(lists))
        spare -= _walk(walk, heard, spare, is_first=is_first, of_ours=of_ours)
        unheard = heard.unheard(ours=of_ours or None)
        quiet |= {p for p in unheard if not walk.leaves_out(known[p].checked_at)}
    touched = tuple(_touched(heard))
    heard.remember()
    return News(
        touched=touched,
        counts=heard.counts,
        scores=heard.scores,
        posts=tuple(heard.met.values()),
        unheard=tuple(p for p in heard.unheard() if p not in touched and p not in quiet),
        spare=max(0, spare),
        cursor=heard.cursor,
        skipped=tuple(heard.skipped),
    )


def _walk(walk: ListWalk, heard: _Round, spare: int, *, is_first: bool, of_ours: bool) -> int:
    """Walk one list; return how many of the spare requests it took."""
    if is_first:
        walk.look_at_top()
    elif not heard.unheard():
        return 0
    if walk.is_at_end:
        return 0
    used = 0
    try:
        used = walk.close_gaps(spare) if is_first else 0
        wanted = heard.unheard(ours=of_ours or None)
        if wanted and used < spare:
            times = [heard.known[post_id].created_at for post_id in wanted]
            oldest = None if None in times else min(filter(None, times))
            unheard = partial(heard.unheard, ours=of_ours or None)
            used += walk.sweep(unheard, spare - used, oldest=oldest)
    except TryLater as error:
        # What was heard so far is kept; the walk goes on at its place in the next round.
        if error.asked and isinstance(error, Limited):
            raise
        heard.skipped.append(Skipped("", reason("watch.list", error=error.reason)))
    return used


def _touched(heard: _Round) -> Iterator[str]:
    for post_id, moment in heard.named.items():
        if _is_newer(moment, post_id, heard):
            yield post_id
    for post_id, memory in heard.known.items():
        if post_id in heard.named and _is_newer(heard.named[post_id], post_id, heard):
            continue
        moved = post_id in heard.counts and heard.counts[post_id] != memory.comment_count
        # Where nothing was ever said, there is nothing to read.
        if moved or (memory.read_at is None and heard.counts.get(post_id) != 0):
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
    if memory is None and moment:
        named = parse_time((heard.cursor.get(OTHERS) or {}).get(post_id))
        return named is None or moment > named
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


def _newest(names: dict[str, str]) -> dict[str, str]:
    return dict([*names.items()][-MOST_NAMES:])


def _dicts(value: object) -> list[dict[str, Any]]:
    return [entry for entry in value if isinstance(entry, dict)] if isinstance(value, list) else []
