"""Parse Moltbook's objects in both dialects.

The open-source server writes `author_name`, the live site `author: {...}` or
null; either may write camelCase, send counters as text, or wrap the object.
"""

import html
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from surfaces.adapters.own_items import same_text
from surfaces.adapters.parsing import (
    LARGEST_COUNT,
    clean_count,
    clean_id,
    clean_json,
    clean_text,
    parse_time,
)
from surfaces.adapters.types import Challenge, Identity, Item, ItemKind, Malformed, SentItem
from surfaces.text.reasons import reason

DELETED = "[deleted]"
LONGEST_PUZZLE = 4000  # characters
LONGEST_LINK = 2000
USUAL_TIME_TO_ANSWER = timedelta(minutes=5)
REPLIES = ("replies", "children")
EDGES = re.compile(r"\A[\s\ufeff]+|[\s\ufeff]+\Z")  # what JavaScript's trim() takes away


@dataclass(frozen=True, kw_only=True, slots=True)
class ParseContext:
    us: Identity
    seen_at: datetime
    page: str = ""  # link to the post's page


def first(data: dict[str, Any], *names: str) -> Any:
    return next((data[name] for name in names if data.get(name) is not None), None)


def unwrap(data: dict[str, Any], name: str) -> dict[str, Any] | None:
    """Find the object `name`: in the answer, in its `data`, or as its `data`."""
    inner = data.get("data")
    for found in (data.get(name), inner.get(name) if isinstance(inner, dict) else None, inner):
        if isinstance(found, dict):
            return found
    return None


def listed(data: dict[str, Any], *names: str) -> list[Any] | None:
    """Find the list under one of `names`, or None: an absent list is not an empty one."""
    inner = data.get("data")
    for layer in (data, inner if isinstance(inner, dict) else {}):
        for name in (*names, "data"):
            if isinstance(layer.get(name), list):
                return list(layer[name])
    return None


def next_cursor(data: dict[str, Any]) -> tuple[bool | None, str]:
    """Whether there is more (None: unknown), and the cursor for it."""
    more: bool | None = None
    cursor = ""
    for layer in (data, data.get("pagination"), data.get("data")):
        if not isinstance(layer, dict):
            continue
        said = first(layer, "has_more", "hasMore")
        more = said if more is None and isinstance(said, bool) else more
        cursor = cursor or clean_id(first(layer, "next_cursor", "nextCursor"))
    return more, cursor


def identity(data: dict[str, Any]) -> Identity:
    """Read GET /agents/me. Open-source server, agents route; either spelling."""
    agent = unwrap(data, "agent") or data
    name = clean_id(first(agent, "name", "username"))
    if not name:
        raise Malformed("service.no_identity")
    claimed = first(agent, "isClaimed", "is_claimed")
    unclaimed = claimed is False or agent.get("status") == "pending_claim"
    note = "moltbook.not_claimed" if unclaimed else ""
    return Identity(remote_id=clean_id(agent.get("id")), handle=name, note=note)


def author_of(data: dict[str, Any]) -> tuple[str, str]:
    """Return (name, id) of an author; either may be ''. The display name is free text."""
    author = data.get("author")
    inner = author if isinstance(author, dict) else {}
    name = first(data, "author_name", "authorName") or first(inner, "name", "username")
    if name is None and isinstance(author, str):
        name = author
    return clean_id(name), clean_id(first(data, "author_id", "authorId") or inner.get("id"))


def is_ours(name: str, author_id: str, us: Identity) -> bool:
    """Compare ids where both are known, else names in lower case."""
    if author_id and us.remote_id:
        return author_id == us.remote_id
    return bool(name) and name.lower() == us.handle.lower()


def post(data: object, glasses: ParseContext) -> Item:
    sent, remote_id = _object(data, "post")
    community = first(sent, "submolt_name", "submoltName", "submolt")
    if isinstance(community, dict):
        community = community.get("name")
    return Item(
        kind=ItemKind.POST,
        post_id=remote_id,
        title=clean_text(sent.get("title"), most=1000),
        community=clean_text(community, most=200),
        comment_count=clean_count(first(sent, "comment_count", "commentCount")),
        **_common(sent, remote_id, glasses) | _link(sent),
    )


def _link(sent: dict[str, Any]) -> dict[str, str]:
    """Where a link post points. Open-source server, posts route: content or url, never both."""
    link = clean_text(sent.get("url"), most=LONGEST_LINK).strip()
    return {"url": link} if link else {}


def comment(data: object, *, post_id: str, above: str | None, glasses: ParseContext) -> Item:
    """Read a comment; `above` is the comment it was nested under. Raises `Malformed`."""
    sent, remote_id = _object(data, "comment")
    parent = clean_id(first(sent, "parent_id", "parentId")) or above
    return Item(
        kind=ItemKind.COMMENT,
        post_id=post_id,
        parent_id=None if parent in (None, post_id) else parent,
        **_common(sent, remote_id, glasses),
    )


def _common(sent: dict[str, Any], remote_id: str, glasses: ParseContext) -> dict[str, Any]:
    name, author_id = author_of(sent)
    content = sent.get("content")
    if content is not None and not isinstance(content, str):
        raise Malformed("item.no_text")
    # Open-source server, comment service: a deleted comment stays, as "[deleted]".
    is_deleted = first(sent, "is_deleted", "isDeleted") is True or content == DELETED
    ours = is_ours(name, author_id, glasses.us)
    if ours and is_pending(sent):
        raise Malformed("item.not_verified")
    return {
        "remote_id": remote_id,
        "author": name,
        "author_id": author_id,
        "is_ours": ours,
        # A time in an unknown format must not lose the comment.
        "created_at": parse_time(first(sent, "created_at", "createdAt")) or glasses.seen_at,
        "edited_at": parse_time(first(sent, "edited_at", "editedAt")),
        "is_deleted": is_deleted,
        "content": clean_text(content),
        "score": _score(sent.get("score")),
        "url": glasses.page,
        "raw": clean_json({key: inner for key, inner in sent.items() if key not in REPLIES}),
    }


def _score(value: object) -> int | None:
    """Votes for minus votes against; the live site may send it as text."""
    try:
        score = int(value) if isinstance(value, int | str) else None
    except ValueError:
        return None
    return score if score is not None and abs(score) <= LARGEST_COUNT else None


def _object(data: object, what: str) -> tuple[dict[str, Any], str]:
    if not isinstance(data, dict):
        raise Malformed(reason("item.no_object", what=reason(f"part.{what}")))
    remote_id = clean_id(data.get("id"))
    if not remote_id:
        raise Malformed("item.no_id")
    return data, remote_id


def says(item: Item, text: str) -> bool:
    """Whether an item has our text, whatever the service did to white space and HTML."""
    ours = clean_text(text)
    return same_text(item.content, ours) or same_text(html.unescape(item.content), ours)


def trimmed(text: str) -> str:
    return EDGES.sub("", text)


def walk(nodes: Iterable[Any]) -> Iterator[tuple[Any, str | None]]:
    """Yield every node of a comment tree with the id it is nested under, parents first.
    Without recursion, because others choose the depth.
    """
    level: list[tuple[Any, str | None]] = [(node, None) for node in nodes]
    while level:
        below: list[tuple[Any, str | None]] = []
        for node, above in level:
            yield node, above
            if not isinstance(node, dict):
                continue
            for name in REPLIES:
                if isinstance(node.get(name), list):
                    own = clean_id(node.get("id")) or above
                    below += [(reply, own) for reply in node[name]]
        level = below


def hides_replies(node: dict[str, Any]) -> bool:
    """Whether a node has replies in an unknown form."""
    return any(node.get(name) and not isinstance(node[name], list) for name in REPLIES)


def parents_first(comments: Iterable[Item]) -> list[Item]:
    kept: dict[str, Item] = {}
    for item in comments:
        kept.setdefault(item.remote_id, item)
    below: dict[str | None, list[Item]] = {}
    for item in kept.values():
        known = item.parent_id in kept and item.parent_id != item.remote_id
        below.setdefault(item.parent_id if known else None, []).append(item)
    ordered = below.get(None, [])
    for item in ordered:  # grows while we walk it
        ordered += below.get(item.remote_id, [])
    placed = {item.remote_id for item in ordered}
    return ordered + [item for item in kept.values() if item.remote_id not in placed]


def sent(data: object, name: str, *, now: datetime) -> SentItem | None:
    """Parse the response to a create; None if it does not identify the item.
    Open-source server: it has no parent, author or post; content comes back trimmed.
    """
    if not isinstance(data, dict):
        return None
    created = unwrap(data, name)
    remote_id = clean_id(created.get("id")) if created else ""
    if not created or not remote_id:
        return None
    content = created.get("content")
    return SentItem(
        remote_id=remote_id,
        content=clean_text(content) if isinstance(content, str) else None,
        created_at=parse_time(first(created, "created_at", "createdAt")),
        challenge=challenge(data, now=now),
        raw=clean_json(created),
    )


def is_pending(sent: dict[str, Any]) -> bool:
    """Whether it is hidden until its challenge is answered. Moltbook skill.md 1.12.0."""
    return bool(first(sent, "verification_status", "verificationStatus") == "pending")


def challenge(data: dict[str, Any], *, now: datetime) -> Challenge | None:
    """Find the challenge in the response to a create; None: published at once.
    Moltbook skill.md 1.12.0, AI verification: inside the created object. Older forms: on top, as
    `verification {code, challenge}`.
    """
    for layer in _places(data):
        found = layer.get("verification")
        if not isinstance(found, dict):
            continue
        code = clean_id(first(found, "verification_code", "verificationCode", "code"))
        text = first(found, "challenge_text", "challengeText", "challenge")
        if code and isinstance(text, str):
            expires_at = parse_time(first(found, "expires_at", "expiresAt"))
            return Challenge(
                code=code,
                text=clean_text(text, most=LONGEST_PUZZLE),
                expires_at=expires_at or now + USUAL_TIME_TO_ANSWER,
            )
    return None


def _places(data: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for layer in (data, data.get("data")):
        if isinstance(layer, dict):
            yield layer
            for name in ("comment", "post", "submolt"):
                if isinstance(layer.get(name), dict):
                    yield layer[name]
