"""Page through Moltbook's lists of posts.

Neither dialect reliably lists our own posts: the open-source server ignores `author`, so its lists
are filtered here. `hasMore` is unreliable and ignored: a list ends with a page without new posts.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from surfaces.adapters.moltbook import parse
from surfaces.adapters.moltbook.client import MoltbookClient, page_of
from surfaces.adapters.parsing import skipped_item
from surfaces.adapters.types import Item, ItemPage, Malformed, Skipped
from surfaces.errors import NotThere, Refused, TryLater

AT_ONCE = 100  # open-source server, posts route: more is cut to 100
LONGEST_LOOK = 15  # pages


@dataclass(frozen=True, slots=True)
class ListPosition:
    """Start of the next page: an offset, or a cursor of the service."""

    offset: int = 0
    cursor: str = ""
    top: str = ""  # first id of the page before: a page that begins alike is the same page

    def __str__(self) -> str:
        return f"{self.offset} {self.top or '-'} {self.cursor}".strip()

    @classmethod
    def read(cls, text: str | None) -> ListPosition:
        offset, top, cursor = [*(text or "").split(" ", 2), "", "", ""][:3]
        number = int(offset) if offset.isascii() and offset.isdigit() else 0
        return cls(offset=number, cursor=cursor, top="" if top == "-" else top)


class PostList:
    """Iterates over /posts, newest first. `of_ours` requests our own only, where supported."""

    def __init__(
        self, line: MoltbookClient, glasses: parse.ParseContext, *, of_ours: bool = True
    ) -> None:
        self.glasses = glasses
        self.rows = 0
        self.is_at_end = False
        self.line = line
        # Reported by clients of the live site; the open-source server ignores it.
        self._author = glasses.us.handle if of_ours and line.dialect == "live" else ""

    def pages(self, most: int) -> Iterator[ItemPage]:
        """Yield up to `most` pages of whoever's posts; then `is_at_end` tells if that was all."""
        place: ListPosition | None = ListPosition()
        heard: set[str] = set()
        for _ in range(most):
            if place is None:
                return
            page, place = self.page(place)
            new = tuple(item for item in page.posts if item.remote_id not in heard)
            heard |= {item.remote_id for item in new}
            if not (new or page.skipped):  # offsets shift while posts arrive: the end is reached
                place = None
            self.is_at_end = place is None
            yield replace(page, posts=new)

    def newest(self, community: str, limit: int) -> tuple[list[Item], list[Skipped]]:
        """One page of posts by anybody. Open-source server, posts route: sort, limit, submolt."""
        params: dict[str, str | int] = {"sort": "new", "limit": min(limit, AT_ONCE)}
        data = self.line.get("/posts", params | ({"submolt": community} if community else {}))
        return self._read(data)

    def own_page(self, cursor: str | None) -> ItemPage:
        page, following = self.page(ListPosition.read(cursor))
        own = tuple(item for item in page.posts if item.is_ours)
        return replace(page, posts=own, cursor=str(following) if following else None)

    def page(self, place: ListPosition) -> tuple[ItemPage, ListPosition | None]:
        data = self._ask(place)
        posts, skipped = self._read(data)
        rows = len(posts) + len(skipped)
        self.rows += rows
        more, cursor = parse.next_cursor(data)
        top = next((item.remote_id for item in posts), "")
        following = ListPosition(offset=place.offset + rows, cursor=cursor, top=top)
        is_repeated = bool(top) and top == place.top
        ends_by_cursor = more is False and bool(place.cursor) and not cursor
        is_last = not rows or is_repeated or ends_by_cursor
        read = ItemPage(posts=tuple(posts), cursor=None, skipped=tuple(skipped))
        return read, None if is_last else following

    def _read(self, data: dict[str, Any]) -> tuple[list[Item], list[Skipped]]:
        rows = parse.listed(data, "posts")
        if rows is None:
            raise TryLater("moltbook.no_posts")
        posts, skipped = [], []
        for row in rows:
            try:
                item = parse.post(row, self.glasses)
                posts.append(replace(item, url=page_of(self.line.base_url, item.remote_id)))
            except Malformed as error:
                skipped.append(skipped_item(row, error))
        return posts, skipped

    def _ask(self, place: ListPosition) -> dict[str, Any]:
        params: dict[str, str | int] = {"sort": "new", "limit": AT_ONCE}
        if place.cursor:
            params["cursor"] = place.cursor
        elif place.offset:
            params["offset"] = place.offset
        if self._author:
            try:
                return self.line.get("/posts", params | {"author": self._author})
            except NotThere:
                raise
            except Refused:
                self._author = ""  # this server ignores the parameter
        return self.line.get("/posts", params)
