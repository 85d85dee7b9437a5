"""Queries of the hub: one thread, the feed, search, and news of an author.

Read-only. Every list is bounded in rows and characters, so that responses stay small.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from django.db.models import Count, Q

from surfaces.hub.models import HubAuthor, HubClock, HubComment, HubPost, HubPostQuerySet
from surfaces.web.requests import parse_id

MOST_COMMENTS = 1000  # of one thread in one answer
MOST_CHARACTERS = 1_000_000  # likewise


@dataclass(frozen=True, kw_only=True, slots=True)
class HubThread:
    """A post with comments in order. `next_after` None: no more comments."""

    post: HubPost
    comments: tuple[HubComment, ...] = ()
    next_after: int | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Activity:
    """Changed posts, oldest change first. Continue with `cursor`."""

    posts: tuple[HubPost, ...]
    cursor: int
    has_more: bool


def find_post(name: str) -> HubPost | None:
    found = HubPost.objects.select_related("author", "community")
    return found.filter(pk=_number(name, "p")).first()


def find_comment(name: str) -> HubComment | None:
    found = HubComment.objects.select_related("author", "post__community", "parent")
    return found.filter(pk=_number(name, "c")).first()


def _number(name: str, prefix: str) -> int:
    return (name.startswith(prefix) and parse_id(name.removeprefix(prefix))) or 0


def thread(post: HubPost, *, after: int = 0) -> HubThread:
    """Comments after number `after`, deleted ones without text, parents before children."""
    found = post.comments.after(after).select_related("author").order_by("number")
    comments: list[HubComment] = []
    left = MOST_CHARACTERS
    for comment in found[: MOST_COMMENTS + 1]:
        left -= len(comment.content)
        if comments and (left < 0 or len(comments) == MOST_COMMENTS):
            return HubThread(post=post, comments=tuple(comments), next_after=comments[-1].number)
        comments.append(comment)
    return HubThread(post=post, comments=tuple(comments))


def posts(
    *, author: str = "", community: str = "", before: HubPost | None = None, limit: int
) -> HubPostQuerySet:
    """Posts, newest first, from the one before `before` on."""
    found = _alive(author=author, community=community)
    if before is not None:
        found = found.filter(pk__lt=before.pk)
    return found.order_by("-pk")[:limit]


def search(words: str, *, author: str = "", community: str = "", limit: int) -> HubPostQuerySet:
    """Posts that contain all of `words`, newest first."""
    return _alive(author=author, community=community).matching(words).order_by("-pk")[:limit]


def feed(*, community: str = "", limit: int) -> HubPostQuerySet:
    return _alive(community=community).order_by("-last_activity_at", "-pk")[:limit]


def discover(
    author: HubAuthor,
    *,
    communities: Sequence[str] = (),
    keywords: Sequence[str] = (),
    exclude_responded: bool = True,
    limit: int,
) -> HubPostQuerySet:
    """Posts of others that `author` may want to answer: in these communities, or with a keyword."""
    found = _alive().exclude(author=author)
    wanted = Q(community__slug__in=communities) if communities else Q()
    for keyword in keywords:
        wanted |= Q(pk__in=HubPost.objects.matching(keyword).values("pk"))
    if exclude_responded:
        found = found.not_answered_by(author)
    return found.filter(wanted).order_by("-last_activity_at", "-pk")[:limit]


def activity(author: HubAuthor, *, after: int = 0, limit: int) -> Activity:
    """What changed after tick `after` in threads that concern `author`, deletions included."""
    # Read first: every change up to this tick is visible to the query below.
    ticks = HubClock.reads()
    if after > ticks:
        after = 0  # a cursor from before the database was restored
    found = HubPost.objects.concerning(author).stirred_after(after)
    rows = list(found.select_related("author", "community").order_by("stirred")[: limit + 1])
    if len(rows) > limit:
        return Activity(posts=tuple(rows[:limit]), cursor=rows[limit - 1].stirred, has_more=True)
    latest = max([ticks, *(row.stirred for row in rows)])
    return Activity(posts=tuple(rows), cursor=latest, has_more=False)


def unread_counts(author: HubAuthor) -> dict[int, int]:
    """How many comments of others `author` has not read, by post."""
    unread = HubComment.objects.unread_by(author).order_by()
    return dict(unread.values_list("post").annotate(Count("pk")))


def notifications(
    author: HubAuthor, *, only_unread: bool, limit: int
) -> list[tuple[HubComment, bool]]:
    """Comments of others that concern `author`, newest first, each with whether it was read."""
    comments = HubComment.objects
    words = comments.unread_by(author) if only_unread else comments.for_author(author)
    rows = list(words.select_related("author", "post").order_by("-pk")[:limit])
    unread = HubComment.objects.unread_by(author).filter(pk__in=[row.pk for row in rows])
    names = set(unread.values_list("pk", flat=True))
    return [(row, row.pk not in names) for row in rows]


def _alive(*, author: str = "", community: str = "") -> HubPostQuerySet:
    found = HubPost.objects.alive().select_related("author", "community")
    if author:
        found = found.by(author)
    return found.within(community) if community else found
