"""Speak on a hub. Every intent carries its key, so asking twice says it once."""

from __future__ import annotations

from typing import Any

from surfaces.adapters.base import Access, Kind, Sent, Writer
from surfaces.adapters.hub.calls import Line, at
from surfaces.adapters.parsing import clean_id, clean_json, clean_text, parse_time
from surfaces.errors import NotThere, Unconfirmed


class HubWriter(Writer):
    def __init__(self, access: Access) -> None:
        super().__init__(access)
        self._line = Line(access)

    def close(self) -> None:
        self._line.close()

    def reply(self, *, post_id: str, parent_id: str | None, text: str, key: str) -> Sent:
        body = {"content": text} | ({"parent_id": parent_id} if parent_id else {})
        path = at("/posts/{}/comments", post_id)
        return _sent(self._line.send("POST", path, body=body, key=key))

    def create_post(self, *, title: str, text: str, community: str, key: str) -> Sent:
        body = {"title": title, "content": text, "community": community}
        return _sent(self._line.send("POST", "/posts", body=body, key=key))

    def delete(self, *, kind: Kind, remote_id: str) -> None:
        path = at("/posts/{}" if kind == Kind.POST else "/comments/{}", remote_id)
        try:
            self._line.send("DELETE", path)
        except NotThere:
            return  # gone already


def _sent(said: dict[str, Any]) -> Sent:
    remote_id = clean_id(said.get("id"))
    if not remote_id:
        raise Unconfirmed("the hub took it and did not say under which id")
    content = said.get("content")
    return Sent(
        remote_id=remote_id,
        content=clean_text(content) if isinstance(content, str) else None,
        created_at=parse_time(said.get("created_at")),
        raw=clean_json(said),
    )
