"""Page through Moltbook's lists of posts.

Neither dialect lists our own posts for sure: the open-source server ignores
`author`, so what it lists is filtered here. `hasMore` is wrong in both
directions and never believed: a list ends with a page that brings nothing new.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from surfaces.adapters.base import Item, Page, Skipped
from surfaces.adapters.moltbook import words
from surfaces.adapters.moltbook.calls import Line, page_of
from surfaces.adapters.parsing import Malformed, clean_id
from surfaces.errors import NotThere, Refused, TryLater

AT_ONCE = 100  # open-source server, posts route: more is cut to 100
LONGEST_LOOK = 15  # pages


@dataclass(frozen=True, slots=True)
class Place:
    """Where the next page begins: at an offset, or behind a cursor the service gave."""

    offset: int = 0
    cursor: str = ""
    top: str = ""  # first id of the page before: a page that begins alike is the same page

    def __str__(self) -> str:
        return f"{self.offset} {self.top or '-'} {self.cursor}".strip()

    @classmethod
    def read(cls, text: str | None) -> Place:
        offset, top, cursor = [*(text or "").split(" ", 2), "", "", ""][:3]
        number = int(offset) if offset.isascii() and offset.isdigit() else 0
        return cls(offset=number, cursor=cursor, top="" if top == "-" else top)


class Listing:
    """One walk through /posts, newest first. `of_ours` asks for our own only, where that works."""

    def __init__(self, line: Line, glasses: words.Glasses, *, of_ours: bool = True) -> None:
        self.glasses = glasses
        self.rows = 0
        self.is_at_end = False
        self._line = line
        # Reported by clients of the live site; the open-source server ignores it.
        self._author = glasses.us.handle if of_ours and line.dialect == "live" else ""

    def pages(self, most: int) -> Iterator[Page]:
        """Yield up to `most` pages of whoever's posts; then `is_at_end` tells if that was all."""
        place: Place | None = Place()
        heard: set[str] = set()
        for _ in range(most):
            if place is None:
                return
            page, place = self._page(place)
            new = tuple(item for item in page.posts if item.remote_id not in heard)
            heard |= {item.remote_id for item in new}
            if not (new or page.skipped):  # offsets shift while posts arrive: this was the end
                place = None
            self.is_at_end = place is None
            yield replace(page, posts=new)

    def own_page(self, cursor: str | None) -> Page:
        """One page, our own posts only, and the cursor of the next as text."""
        page, following = self._page(Place.read(cursor))
        own = tuple(item for item in page.posts if item.is_ours)
        return replace(page, posts=own, cursor=str(following) if following else None)

    def _page(self, place: Place) -> tuple[Page, Place | None]:
        data = self._ask(place)
        rows = words.listed(data, "posts")
        if rows is None:
            raise TryLater("the answer holds no list of posts")
        posts, skipped = self._parse(rows)
        self.rows += len(rows)
        more, cursor = words.next_cursor(data)
        top = next((item.remote_id for item in posts), "")
        following: Place | None = Place(offset=place.offset + len(rows), cursor=cursor, top=top)
        is_repeated = bool(top) and top == place.top
        ends_by_cursor = more is False and bool(place.cursor) and not cursor
        if not rows or is_repeated or ends_by_cursor:
            following = None
        return Page(posts=posts, cursor=None, skipped=skipped), following

    def _ask(self, place: Place) -> dict[str, object]:
        params: dict[str, str | int] = {"sort": "new", "limit": AT_ONCE}
        if place.cursor:
            params["cursor"] = place.cursor
        elif place.offset:
            params["offset"] = place.offset
        if self._author:
            try:
                return self._line.get("/posts", params | {"author": self._author})
            except NotThere:
                raise
            except Refused:
                self._author = ""  # this server does not know the parameter
        return self._line.get("/posts", params)

    def _parse(self, rows: list[object]) -> tuple[tuple[Item, ...], tuple[Skipped, ...]]:
        posts, skipped = [], []
        for row in rows:
            remote_id = clean_id(row.get("id")) if isinstance(row, dict) else ""
            page = page_of(self._line.base_url, remote_id)
            try:
                posts.append(words.post(row, replace(self.glasses, page=page)))
            except Malformed as error:
                skipped.append(Skipped(remote_id, str(error)))
        return tuple(posts), tuple(skipped)
