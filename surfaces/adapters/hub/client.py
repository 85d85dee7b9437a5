"""HTTP client of one account on a hub: requests, status codes, parsing of items."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any
from urllib.parse import quote

from surfaces.adapters.base import Access, Traits
from surfaces.adapters.parsing import (
    Malformed,
    clean_count,
    clean_id,
    clean_json,
    clean_text,
    parse_time,
)
from surfaces.adapters.types import Item, ItemKind
from surfaces.errors import (
    AuthFailed,
    Limited,
    NotThere,
    Refused,
    SurfaceError,
    TryLater,
    Unconfirmed,
)
from surfaces.net.json_client import JsonClient, JsonResponse
from surfaces.text.reasons import StoredReason, reason

TRAITS = Traits(
    kind="hub",
    label="Built-in hub",
    base_url="http://hub.internal/api/v1",
    text_limit=10_000,
    title_limit=300,
    max_depth=10,
    can_delete=frozenset({ItemKind.POST, ItemKind.COMMENT}),
    takes_idempotency_key=True,
)
ORDINARY_WAIT = timedelta(minutes=1)  # when a 429 does not say
LONGEST_WAIT = timedelta(days=1)


class HubClient:
    """A `JsonClient` for one hub that meters requests and maps status codes to errors."""

    def __init__(self, access: Access) -> None:
        if not access.token.isascii() or not access.token.isprintable():
            raise ValueError("hub.key_impossible")
        self._access = access
        self._wire = JsonClient(
            (access.base_url or TRAITS.base_url).rstrip("/"),
            headers={"Authorization": f"Bearer {access.token}"},
            transport=access.transport,
        )

    def close(self) -> None:
        self._wire.close()

    def get(self, path: str, **params: str | int) -> dict[str, Any]:
        return self._ask("GET", path, params=params)

    def send(
        self, method: str, path: str, *, body: Mapping[str, Any] | None = None, key: str = ""
    ) -> dict[str, Any]:
        return self._ask(method, path, body=body, headers={"Idempotency-Key": key} if key else {})

    def _ask(self, method: str, path: str, **request: Any) -> dict[str, Any]:
        """Make one request; return the JSON object, or raise an error."""
        bucket = "read" if method == "GET" else "write"
        self._access.meter.take(bucket)
        answer = self._wire.call(method, path, **request)
        lost = TryLater if method == "GET" else Unconfirmed
        if answer.is_success:
            if isinstance(answer.data, dict):
                return answer.data
            raise lost("hub.no_object")
        error = _meaning(answer, lost)
        if isinstance(error, Limited):
            self._access.meter.heard(bucket, wait=error.wait)
        raise error


def _meaning(answer: JsonResponse, lost: type[SurfaceError]) -> SurfaceError:
    why = _why(answer)
    if answer.status == 401:
        return AuthFailed(why)
    if answer.status in {404, 410}:
        return NotThere(why)
    if answer.status == 429:
        return Limited(why, wait=_wait(answer))
    if answer.status >= 500 or answer.status == 408:
        return lost(why)
    return Refused(why)


def _why(answer: JsonResponse) -> StoredReason:
    said = answer.data.get("error") if isinstance(answer.data, dict) else None
    words = clean_text(said, most=300)
    return (
        reason("hub.says", words=words)
        if words
        else reason("hub.status", status=str(answer.status))
    )


def _wait(answer: JsonResponse) -> timedelta:
    seconds = clean_count(answer.headers.get("retry-after"))
    return ORDINARY_WAIT if seconds is None else min(timedelta(seconds=seconds), LONGEST_WAIT)


def at(template: str, remote_id: str) -> str:
    """Quote an id for a path. Ids come from the service and may contain slashes."""
    return template.format(quote(remote_id, safe=""))


# ── what an item is ───────────────────────────────────────────────────────


def post_item(raw: object, access: Access) -> Item:
    """Read a post, or raise `Malformed`."""
    facts = _common(raw, access)
    assert isinstance(raw, dict)  # noqa: S101 - `_common` has looked
    return Item(
        kind=ItemKind.POST,
        post_id=facts["remote_id"],
        title=clean_text(raw.get("title"), most=TRAITS.title_limit),
        community=clean_text(raw.get("community"), most=200),
        comment_count=clean_count(raw.get("comment_count")),
        **facts,
    )


def comment_item(raw: object, access: Access, *, post_id: str) -> Item:
    """Read a comment under `post_id`, or raise `Malformed`."""
    facts = _common(raw, access)
    assert isinstance(raw, dict)  # noqa: S101 - `_common` has looked
    parent = clean_id(raw.get("parent_id"))
    return Item(
        kind=ItemKind.COMMENT,
        post_id=post_id,
        parent_id=None if parent in {"", post_id, facts["remote_id"]} else parent,
        **facts,
    )


def _common(raw: object, access: Access) -> dict[str, Any]:
    if not isinstance(raw, dict):
        raise Malformed(reason("item.no_object", what=reason("part.item")))
    remote_id, made_at = clean_id(raw.get("id")), parse_time(raw.get("created_at"))
    if not remote_id:
        raise Malformed("item.no_id")
    if made_at is None:
        raise Malformed("item.no_time")
    author = raw.get("author")
    by: dict[str, Any] = author if isinstance(author, dict) else {}
    name = clean_text(by.get("name"), most=200).strip()
    if not name:
        raise Malformed("item.no_author")
    author_id, is_bot = clean_id(by.get("id"))[:200], by.get("is_bot")
    own = {key: value for key, value in raw.items() if key != "comments"}
    return {
        "remote_id": remote_id,
        "author": name,
        "author_id": author_id,
        "author_is_bot": is_bot if isinstance(is_bot, bool) else None,
        "is_ours": _is_us(author_id, name, access),
        "created_at": made_at,
        "edited_at": parse_time(raw.get("updated_at")),
        "is_deleted": raw.get("is_deleted") is True,
        "content": clean_text(raw.get("content")),
        "raw": clean_json(own),
    }


def _is_us(author_id: str, name: str, access: Access) -> bool:
    if access.remote_id and author_id:
        return author_id == access.remote_id
    return bool(access.handle) and name.casefold() == access.handle.casefold()
