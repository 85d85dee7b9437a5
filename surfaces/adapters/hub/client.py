"""HTTP client of one account on a hub: requests, status codes, parsing of items."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from surfaces import errors
from surfaces.adapters.base import Access, Adapter, Traits
from surfaces.adapters.parsing import clean_count, clean_id, clean_json, clean_text, parse_time
from surfaces.adapters.types import Item, ItemKind, Malformed
from surfaces.net.json_client import JsonClient, JsonResponse
from surfaces.text.reasons import reason

TRAITS = Traits(
    kind="hub",
    label="Built-in hub",
    base_url="http://hub.internal/api/v1",
    text_limit=10_000,
    title_limit=300,
    max_depth=10,
    can_delete=frozenset({ItemKind.POST, ItemKind.COMMENT}),
    honours_key=True,
    has_feed=True,
    has_search=True,
)
ORDINARY_WAIT = timedelta(minutes=1)  # when a 429 does not say


class HubClient:
    def __init__(self, access: Access) -> None:
        if not access.token.isascii() or not access.token.isprintable():
            raise ValueError(reason("service.key_impossible", label=TRAITS.label))
        self._access = access
        base_url = (access.base_url or TRAITS.base_url).rstrip("/")
        headers = {"Authorization": f"Bearer {access.token}"}
        self._wire = JsonClient(base_url, headers=headers, transport=access.transport)

    def close(self) -> None:
        self._wire.close()

    def get(self, path: str, **params: str | int) -> dict[str, Any]:
        return self._ask("GET", path, params=params)

    def send(
        self, method: str, path: str, *, body: Mapping[str, Any] | None = None, key: str = ""
    ) -> dict[str, Any]:
        return self._ask(method, path, body=body, headers={"Idempotency-Key": key} if key else {})

    def _ask(self, method: str, path: str, **request: Any) -> dict[str, Any]:
        bucket = "read" if method == "GET" else "write"
        self._access.meter.take(bucket)
        answer = self._wire.call(method, path, **request)
        lost = errors.TryLater if method == "GET" else errors.Unconfirmed
        if answer.is_success:
            if isinstance(answer.data, dict):
                return answer.data
            raise lost("hub.no_object")
        error = _error_of(answer, lost)
        if isinstance(error, errors.Limited):
            self._access.meter.heard(bucket, wait=error.wait)
        raise error


class HubAdapter(Adapter):
    def __init__(self, access: Access) -> None:
        super().__init__(access)
        self._line = HubClient(access)

    def close(self) -> None:
        self._line.close()


def _error_of(answer: JsonResponse, lost: type[errors.SurfaceError]) -> errors.SurfaceError:
    why = reason("hub.status", status=str(answer.status))
    said = answer.data.get("error") if isinstance(answer.data, dict) else None
    if words := clean_text(said, most=300):
        why = reason("hub.says", words=words)
    if answer.status == 401:
        return errors.AuthFailed(why)
    if answer.status in {404, 410}:
        # A page of a proxy says nothing about what it stands before.
        return errors.NotThere(why) if answer.is_json else lost(why)
    if answer.status == 429:
        seconds = clean_count(answer.headers.get("retry-after"))
        wait = ORDINARY_WAIT if seconds is None else timedelta(seconds=seconds)
        return errors.Limited(why, wait=wait)
    if answer.status >= 500 or answer.status == 408:
        return lost(why)
    return errors.Refused(why)


def post_item(raw: object, access: Access) -> Item:
    sent, facts = _common(raw, access)
    return Item(
        kind=ItemKind.POST,
        post_id=facts["remote_id"],
        title=clean_text(sent.get("title"), most=TRAITS.title_limit),
        community=clean_text(sent.get("community"), most=200),
        comment_count=clean_count(sent.get("comment_count")),
        **facts,
    )


def comment_item(raw: object, access: Access, *, post_id: str) -> Item:
    """Read a comment under `post_id`, or raise `Malformed`."""
    sent, facts = _common(raw, access)
    parent = clean_id(sent.get("parent_id"))
    return Item(
        kind=ItemKind.COMMENT,
        post_id=post_id,
        parent_id=None if parent in {"", post_id, facts["remote_id"]} else parent,
        **facts,
    )


def _common(raw: object, access: Access) -> tuple[dict[str, Any], dict[str, Any]]:
    """The object as it was sent, and the facts that posts and comments have in common."""
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
    return raw, {
        "remote_id": remote_id,
        "author": name,
        "author_id": author_id,
        "author_is_bot": is_bot if isinstance(is_bot, bool) else None,
        "is_ours": _is_us(author_id, name, access),
        "created_at": made_at,
        "edited_at": parse_time(raw.get("updated_at")),
        "is_deleted": raw.get("is_deleted") is True,
        "content": clean_text(raw.get("content")),
        "raw": clean_json({key: value for key, value in raw.items() if key != "comments"}),
    }


def _is_us(author_id: str, name: str, access: Access) -> bool:
    if access.remote_id and author_id:
        return author_id == access.remote_id
    return bool(access.handle) and name.casefold() == access.handle.casefold()
