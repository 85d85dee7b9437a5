"""Write to a hub. Every request has an idempotency key, so a repeat writes once."""

from contextlib import suppress
from typing import Any

from surfaces.adapters.base import Writer
from surfaces.adapters.hub.client import HubAdapter
from surfaces.adapters.parsing import clean_id, clean_json, clean_text, parse_time
from surfaces.adapters.types import ItemKind, SentItem
from surfaces.errors import NotThere, Unconfirmed
from surfaces.net.json_client import at


class HubWriter(HubAdapter, Writer):
    def reply(self, *, post_id: str, parent_id: str | None, text: str, key: str) -> SentItem:
        body = {"content": text} | ({"parent_id": parent_id} if parent_id else {})
        return _sent(self._line.send("POST", at("/posts/{}/comments", post_id), body=body, key=key))

    def create_post(self, *, title: str, text: str, community: str, key: str) -> SentItem:
        body = {"title": title, "content": text, "community": community}
        return _sent(self._line.send("POST", "/posts", body=body, key=key))

    def delete(self, *, kind: ItemKind, remote_id: str) -> None:
        path = at("/posts/{}" if kind == ItemKind.POST else "/comments/{}", remote_id)
        with suppress(NotThere):  # gone already
            self._line.send("DELETE", path)


def _sent(said: dict[str, Any]) -> SentItem:
    remote_id = clean_id(said.get("id"))
    if not remote_id:
        raise Unconfirmed("hub.no_id_given")
    content = said.get("content")
    return SentItem(
        remote_id=remote_id,
        content=clean_text(content) if isinstance(content, str) else None,
        created_at=parse_time(said.get("created_at")),
        raw=clean_json(said),
    )
