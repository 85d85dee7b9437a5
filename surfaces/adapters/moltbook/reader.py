"""Read from Moltbook: identity, news, whole threads, and our own replies.

An empty or short list is no proof of absence: the open-source server truncates threads
silently, replies first.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any

from surfaces.adapters.base import Access, Reader
from surfaces.adapters.moltbook import parse
from surfaces.adapters.moltbook.client import TRAITS, MoltbookClient, at, page_of
from surfaces.adapters.moltbook.news import find_news
from surfaces.adapters.moltbook.post_lists import LONGEST_LOOK, PostList
from surfaces.adapters.parsing import Malformed, clean_count, clean_id
from surfaces.adapters.types import (
    CannotTell,
    FoundItem,
    Identity,
    Item,
    ItemPage,
    KnownThread,
    Look,
    News,
    NotFound,
    Skipped,
    ThreadItems,
)
from surfaces.errors import NotThere, TryLater
from surfaces.text.reasons import reason, reason_of

# Open-source server, comments route: at most 500, counting every comment.
# Moltbook skill.md 1.12.0, comments: at most 100, counting roots, with cursors.
ASKED = {"open": 500, "live": 100}
OTHER_END = {"open": "top", "live": "old"}
MOST_PAGES = 25
SLACK = timedelta(minutes=10)  # clock skew


@dataclass(slots=True)
class _Heap:
    """Comments collected page by page."""

    comments: list[Item] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)
    is_cut: bool = False

    def size(self) -> int:
        return len({item.remote_id for item in self.comments}) + len(self.skipped)


class Moltbook(Reader):
    """Moltbook, the live site or the open-source server."""

    traits = TRAITS

    def __init__(self, access: Access) -> None:
        super().__init__(access)
        self._line = MoltbookClient(access)
        known = bool(access.handle)
        self._us = Identity(remote_id=access.remote_id, handle=access.handle) if known else None

    def close(self) -> None:
        self._line.close()

    def who_am_i(self) -> Identity:
        """Open-source server, agents route: GET /agents/me."""
        try:
            self._us = parse.identity(self._line.get("/agents/me"))
        except Malformed as error:
            raise TryLater(reason_of(error)) from error
        return self._us

    def news(self, known: Mapping[str, KnownThread], cursor: dict[str, Any]) -> News:
        listing = self._listing()
        return find_news(self._line, listing, known, cursor, now=self.access.clock())

    def history(self, cursor: str | None) -> ItemPage:
        return self._listing().own_page(cursor)

    # ── threads ───────────────────────────────────────────────────────────

    def thread(self, post_id: str, *, count: int | None = None) -> ThreadItems:
        """Read the post, unless its count was just told, then its comments.

        The post first: the list returns 200 for a missing post, and a count read before the list
        shows whether the list is short.
        """
        glasses = self._glasses(post_id)
        if count is not None:
            return self._comments(None, count, post_id, glasses, _Heap())
        try:
            data = self._line.get(at("/posts/{}", post_id))
        except NotThere as error:
            if not error.permanent:
                raise TryLater(reason("moltbook.unknown_api", error=reason_of(error))) from error
            return ThreadItems(root=None, is_gone=True)
        heap = _Heap()
        root, count = self._root(data, post_id, glasses, heap)
        return self._comments(root, count, post_id, glasses, heap)

    def _comments(
        self,
        root: Item | None,
        count: int | None,
        post_id: str,
        glasses: parse.ParseContext,
        heap: _Heap,
    ) -> ThreadItems:
        self._collect(post_id, count, glasses, heap)
        return ThreadItems(
            root=root,
            comments=tuple(parse.parents_first(heap.comments)),
            is_complete=not heap.is_cut,
            skipped=tuple(heap.skipped),
        )

    def _root(
        self, data: dict[str, Any], post_id: str, glasses: parse.ParseContext, heap: _Heap
    ) -> tuple[Item | None, int | None]:
        sent = parse.unwrap(data, "post") or data
        try:
            root = parse.post(sent, glasses)
        except Malformed as error:
            heap.skipped.append(Skipped(post_id, reason_of(error)))
            return None, clean_count(parse.first(sent, "comment_count", "commentCount"))
        # An id that is a number there may be text here.
        return replace(root, remote_id=post_id, post_id=post_id), root.comment_count

    def _collect(
        self, post_id: str, count: int | None, glasses: parse.ParseContext, heap: _Heap
    ) -> None:
        """Read every page; if the list is truncated, read it from the other end, too."""
        before = heap.size()
        self._read_list(post_id, "new", glasses, heap)
        # Deleted comments still count, and are still listed.
        heap.is_cut = heap.is_cut or (count is not None and heap.size() - before < count)
        if heap.is_cut:
            self._read_list(post_id, OTHER_END[self._line.dialect], glasses, heap)

    def _read_list(self, post_id: str, sort: str, glasses: parse.ParseContext, heap: _Heap) -> None:
        """Follow one sorted list to its end."""
        asked = ASKED[self._line.dialect]
        params: dict[str, str | int] = {"sort": sort, "limit": asked}
        seen: set[str] = set()
        for _ in range(MOST_PAGES):
            data = self._line.get(at("/posts/{}/comments", post_id), params)
            nodes = parse.listed(data, "comments")
            if nodes is None:
                raise TryLater("moltbook.no_comments")
            size = _unpack(nodes, post_id, glasses, heap)
            more, cursor = parse.next_cursor(data)
            if more is False:
                return
            if more is None and not cursor:
                heap.is_cut = heap.is_cut or size >= asked
                return
            if not cursor or cursor in seen:
                break
            seen.add(cursor)
            params["cursor"] = cursor
        heap.is_cut = True

    # ── did we already speak? ─────────────────────────────────────────────

    def find_own_reply(
        self, *, post_id: str, parent_id: str | None, text: str, since: datetime
    ) -> Look:
        """Look through the whole tree. There is no idempotency key and no list of our replies.

        An older reply with the same text counts, too.
        """
        thread = self.thread(post_id)
        here = [item for item in thread.comments if item.is_ours and item.parent_id == parent_id]
        for item in here:
            if parse.says(item, text):
                return FoundItem(item=item)
        if not thread.is_complete:
            return CannotTell(reason("moltbook.comments_cut", comments=len(thread.comments)))
        if thread.skipped:
            return CannotTell(reason("moltbook.items_unreadable", skipped=len(thread.skipped)))
        if any(item.is_deleted and item.created_at >= since - SLACK for item in here):
            return CannotTell("moltbook.comment_deleted")
        return NotFound()

    def find_own_post(self, *, title: str, text: str, since: datetime) -> Look:
        """Page through the newest posts until they are older than the attempt."""
        listing = self._listing()
        skipped = 0
        for page in listing.pages(LONGEST_LOOK):
            skipped += len(page.skipped)
            for item in page.posts:
                same_title = parse.trimmed(item.title) == parse.trimmed(title)
                if item.is_ours and same_title and parse.says(item, text):
                    return FoundItem(item=item)
            if page.posts and page.posts[-1].created_at < since - SLACK:
                break
        else:
            if not listing.is_at_end:
                return CannotTell(reason("moltbook.posts_cut", rows=listing.rows))
        return (
            CannotTell(reason("moltbook.posts_unreadable", skipped=skipped))
            if skipped
            else NotFound()
        )

    # ── ourselves ─────────────────────────────────────────────────────────

    def _listing(self) -> PostList:
        return PostList(self._line, self._glasses())

    def _glasses(self, post_id: str = "") -> parse.ParseContext:
        us = self._us or self.who_am_i()
        page = page_of(self._line.base_url, post_id) if post_id else ""
        return parse.ParseContext(us=us, seen_at=self.access.clock(), page=page)


def _unpack(nodes: list[Any], post_id: str, glasses: parse.ParseContext, heap: _Heap) -> int:
    """Split a response into comments and unusable items; return the total."""
    total = 0
    for node, above in parse.walk(nodes):
        total += 1
        try:
            item = parse.comment(node, post_id=post_id, above=above, glasses=glasses)
        except Malformed as error:
            remote_id = clean_id(node.get("id")) if isinstance(node, dict) else ""
            heap.skipped.append(Skipped(remote_id, reason_of(error)))
        else:
            heap.comments.append(item)
            heap.is_cut = heap.is_cut or parse.hides_replies(node)
    return total
