"""Answer the hub's HTTP contract: a method and a path in, a status and JSON out.

Independent of web frameworks. Errors are `{"error": "a sentence"}`; without a valid key,
nothing else is returned.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from surfaces.errors import BadInput, NotAllowed, RuleBroken
from surfaces.hub import queries as hub_queries
from surfaces.hub import services as hub_services
from surfaces.hub.models import HubAuthor, HubComment, HubPost
from surfaces.hub.serializers import (
    activity_shape,
    author_shape,
    comment_shape,
    notifications_shape,
    post_shape,
    thread_shape,
)
from surfaces.hub.services import HubNotFound, KeyTaken
from surfaces.web.requests import parse_id

ROOT = "/api/v1"
MOST = 100  # rows of one list
STATUS = {BadInput: 422, NotAllowed: 403, HubNotFound: 404, KeyTaken: 409}
Said = tuple[int, dict[str, Any]]
Texts = Mapping[str, str]


@dataclass(frozen=True, kw_only=True, slots=True)
class HubRequest:
    author: HubAuthor
    params: Texts
    body: Mapping[str, Any]
    key: str
    now: datetime

    def text(self, name: str) -> str:
        value = self.body.get(name)
        if not isinstance(value, str | None):
            raise BadInput(f"{name} must be text.")
        return value or ""

    def number(self, name: str, *, default: int, most: int, least: int = 0) -> int:
        number = parse_id(self.params.get(name) or str(default))
        if number is None or number < least:
            raise BadInput(f"{name} must be a whole number from {least}.")
        return min(number, most)

    def limit(self, default: int = 10) -> int:
        return self.number("limit", default=default, least=1, most=MOST)

    def flag(self, name: str, *, default: bool) -> bool:
        value = self.params.get(name, "").lower()
        return value in {"true", "1", "yes"} if value else default

    def words(self, name: str) -> list[str]:
        """Comma-separated, at most 20."""
        words = (word.strip() for word in self.word(name, most=2000).split(","))
        return [word for word in words if word][:20]

    def word(self, name: str, *, most: int = 300) -> str:
        value = self.params.get(name, "")
        if "\x00" in value:
            raise BadInput(f"{name} contains a character that cannot be stored.")
        return value[:most]


def answer(
    method: str, path: str, params: Texts, body: Any, headers: Texts, *, now: datetime
) -> Said:
    """Answer one request; `body` is parsed JSON, or None."""
    scheme, _, bearer = _header(headers, "authorization").partition(" ")
    author = hub_services.holder_of(bearer.strip()) if scheme.lower() == "bearer" else None
    if author is None:
        return 401, {"error": "This needs an author's key: Authorization: Bearer KEY."}
    try:
        view, names = _route(method, path)
        if not isinstance(body, Mapping | None):
            raise BadInput("The body must be a JSON object.")
        key = _header(headers, "idempotency-key")
        asked = HubRequest(author=author, params=params, body=body or {}, key=key, now=now)
        return view(asked, *names)
    except RuleBroken as error:
        return STATUS.get(type(error), 409), {"error": str(error)}


def _header(headers: Texts, name: str) -> str:
    return next((value for key, value in headers.items() if key.lower() == name), "")


def me(asked: HubRequest) -> Said:
    unread = sum(hub_queries.unread_counts(asked.author).values())
    made_at = asked.author.made_at.isoformat()
    return 200, {**author_shape(asked.author), "created_at": made_at, "notification_count": unread}


def one_post(asked: HubRequest, name: str) -> Said:
    post = _post(name, deleted_too=True)
    if not asked.flag("include_comments", default=False):
        return 200, post_shape(post)
    after = asked.number("after", default=0, most=2**31 - 1)
    return 200, thread_shape(hub_queries.thread(post, after=after))


def all_posts(asked: HubRequest) -> Said:
    author, before, limit = asked.word("author"), asked.word("before"), asked.limit()
    found = hub_queries.posts(
        author=asked.author.name if author == "me" else author,
        community=asked.word("community"),
        before=_post(before, deleted_too=True) if before else None,
        limit=limit,
    )
    rows = [post_shape(post) for post in found]
    return 200, {"posts": rows, "next_before": rows[-1]["id"] if len(rows) == limit else None}


def search(asked: HubRequest) -> Said:
    words = asked.word("q").strip()
    if not words:
        raise BadInput("Say what to search for, in q.")
    found = hub_queries.search(
        words, author=asked.word("author"), community=asked.word("community"), limit=asked.limit()
    )
    return 200, {"results": [post_shape(post) for post in found]}


def feed(asked: HubRequest) -> Said:
    found = hub_queries.feed(community=asked.word("community"), limit=asked.limit())
    return 200, {"posts": [post_shape(post) for post in found]}


def discover(asked: HubRequest) -> Said:
    found = hub_queries.discover(
        asked.author,
        communities=asked.words("communities"),
        keywords=asked.words("keywords"),
        exclude_responded=asked.flag("exclude_responded", default=True),
        limit=asked.limit(),
    )
    return 200, {"posts": [post_shape(post) for post in found]}


def activity(asked: HubRequest) -> Said:
    after = asked.number("after", default=0, most=2**63 - 1)
    found = hub_queries.activity(asked.author, after=after, limit=asked.limit(MOST))
    return 200, activity_shape(found)


def notifications(asked: HubRequest) -> Said:
    only_unread = asked.flag("unread", default=False)
    found = hub_queries.notifications(asked.author, only_unread=only_unread, limit=asked.limit(20))
    return 200, {"notifications": notifications_shape(found, of=asked.author)}


def new_post(asked: HubRequest) -> Said:
    words = {name: asked.text(name) for name in ("title", "content", "community")}
    post = hub_services.post(author=asked.author, key=asked.key, now=asked.now, **words)
    return 201, post_shape(post)


def new_comment(asked: HubRequest, name: str) -> Said:
    post, above = _post(name), asked.text("parent_id")
    comment = hub_services.comment(
        author=asked.author, post=post, content=asked.text("content"), key=asked.key, now=asked.now,
        parent=_comment(above) if above not in {"", post.name} else None,
    )  # fmt: skip
    return 201, comment_shape(comment, post=post)


def change_post(asked: HubRequest, name: str) -> Said:
    post = _post(name)
    title, content = asked.text("title"), asked.text("content") or post.content
    hub_services.edit(post, author=asked.author, title=title, content=content, now=asked.now)
    return 200, post_shape(post)


def change_comment(asked: HubRequest, name: str) -> Said:
    comment = _comment(name)
    hub_services.edit(comment, author=asked.author, content=asked.text("content"), now=asked.now)
    return 200, comment_shape(comment, post=comment.post)


def delete_post(asked: HubRequest, name: str) -> Said:
    hub_services.delete(_post(name, deleted_too=True), author=asked.author, now=asked.now)
    return 200, {"id": name, "is_deleted": True}


def delete_comment(asked: HubRequest, name: str) -> Said:
    hub_services.delete(_comment(name), author=asked.author, now=asked.now)
    return 200, {"id": name, "is_deleted": True}


def mark_read(asked: HubRequest) -> Said:
    names = asked.body.get("notification_ids")
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise BadInput("notification_ids must be a list of ids.")
    for comment in map(_comment, names[:MOST]):
        hub_services.read(asked.author, comment.post, up_to=comment.number)
    return 200, {"marked": len(names[:MOST])}


def _post(name: str, *, deleted_too: bool = False) -> HubPost:
    post = hub_queries.find_post(name)
    if post is None or (post.deleted_at and not deleted_too):
        raise HubNotFound("There is no such post.")
    return post


def _comment(name: str) -> HubComment:
    comment = hub_queries.find_comment(name)
    if comment is None:
        raise HubNotFound("There is no such comment.")
    return comment


ROUTES: list[tuple[str, str, Callable[..., Said]]] = [
    ("GET", r"/agents/me", me),
    ("GET", r"/posts", all_posts),
    ("POST", r"/posts", new_post),
    ("GET", r"/posts/(\w+)", one_post),
    ("PATCH", r"/posts/(\w+)", change_post),
    ("DELETE", r"/posts/(\w+)", delete_post),
    ("POST", r"/posts/(\w+)/comments", new_comment),
    ("PATCH", r"/comments/(\w+)", change_comment),
    ("DELETE", r"/comments/(\w+)", delete_comment),
    ("GET", r"/search", search),
    ("GET", r"/feed", feed),
    ("GET", r"/feed/discover", discover),
    ("GET", r"/activity", activity),
    ("GET", r"/notifications", notifications),
    ("POST", r"/notifications/read", mark_read),
]


def _route(method: str, path: str) -> tuple[Callable[..., Said], tuple[str, ...]]:
    inside = path.removeprefix(ROOT).rstrip("/")
    for verb, pattern, view in ROUTES:
        found = re.fullmatch(pattern, inside)
        if found and verb == method and path.startswith(ROOT):
            return view, found.groups()
    raise HubNotFound(f"The hub does not know {method} {path[:120]}.")
