"""Read Moltbook: who we are, what is new, whole threads, and whether we already spoke.

An empty or short list is never taken as proof: the open-source server cuts a
thread without saying so, replies first.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any

from surfaces.adapters.base import (
    Absent,
    Access,
    CannotTell,
    Found,
    Identity,
    Item,
    Known,
    Look,
    News,
    Page,
    Reader,
    Skipped,
    Thread,
)
from surfaces.adapters.moltbook import words
from surfaces.adapters.moltbook.calls import TRAITS, Line, at, page_of
from surfaces.adapters.moltbook.listening import gather
from surfaces.adapters.moltbook.listing import LONGEST_LOOK, Listing
from surfaces.adapters.parsing import Malformed, clean_count, clean_id
from surfaces.errors import NotThere, TryLater

# Open-source server, comments route: at most 500, counting every comment.
# Moltbook skill.md 1.12.0, comments: at most 100, counting roots, with cursors.
ASKED = {"open": 500, "live": 100}
OTHER_END = {"open": "top", "live": "old"}
MOST_PAGES = 25
SLACK = timedelta(minutes=10)  # between their clock and ours


@dataclass(slots=True)
class _Heap:
    """Comments as they come in, page by page."""

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
        self._line = Line(access)
        known = bool(access.handle)
        self._us = Identity(remote_id=access.remote_id, handle=access.handle) if known else None

    def close(self) -> None:
        self._line.close()

    def who_am_i(self) -> Identity:
        """Open-source server, agents route: GET /agents/me."""
        try:
            self._us = words.identity(self._line.get("/agents/me"))
        except Malformed as error:
            raise TryLater(str(error)) from error
        return self._us

    def news(self, known: Mapping[str, Known], cursor: dict[str, Any]) -> News:
        listing = self._listing()
        return gather(self._line, listing, known, cursor, now=self.access.clock())

    def history(self, cursor: str | None) -> Page:
        return self._listing().own_page(cursor)

    # ── threads ───────────────────────────────────────────────────────────

    def thread(self, post_id: str, *, count: int | None = None) -> Thread:
        """Read the post, unless its count was just told, then its comments.

        The post first: the list says 200 for a post that is not there, and a count
        taken before the list cannot hide that the list is short.
        """
        glasses = self._glasses(post_id)
        if count is not None:
            return self._comments(None, count, post_id, glasses, _Heap())
        try:
            data = self._line.get(at("/posts/{}", post_id))
        except NotThere as error:
            if not error.permanent:
                raise TryLater(f"this is not the API we know: {error}") from error
            return Thread(root=None, is_gone=True)
        heap = _Heap()
        root, count = self._root(data, post_id, glasses, heap)
        return self._comments(root, count, post_id, glasses, heap)

    def _comments(
        self,
        root: Item | None,
        count: int | None,
        post_id: str,
        glasses: words.Glasses,
        heap: _Heap,
    ) -> Thread:
        self._collect(post_id, count, glasses, heap)
        return Thread(
            root=root,
            comments=tuple(words.parents_first(heap.comments)),
            is_complete=not heap.is_cut,
            skipped=tuple(heap.skipped),
        )

    def _root(
        self, data: dict[str, Any], post_id: str, glasses: words.Glasses, heap: _Heap
    ) -> tuple[Item | None, int | None]:
        sent = words.unwrap(data, "post") or data
        try:
            root = words.post(sent, glasses)
        except Malformed as error:
            heap.skipped.append(Skipped(post_id, str(error)))
            return None, clean_count(words.first(sent, "comment_count", "commentCount"))
        # An id that was a number there may be asked for as text here.
        return replace(root, remote_id=post_id, post_id=post_id), root.comment_count

    def _collect(
        self, post_id: str, count: int | None, glasses: words.Glasses, heap: _Heap
    ) -> None:
        """Read every page; if the list is cut, also look at its other end."""
        before = heap.size()
        self._read_list(post_id, "new", glasses, heap)
        # Deleted comments still count, and are still listed.
        heap.is_cut = heap.is_cut or (count is not None and heap.size() - before < count)
        if heap.is_cut:
            self._read_list(post_id, OTHER_END[self._line.dialect], glasses, heap)

    def _read_list(self, post_id: str, sort: str, glasses: words.Glasses, heap: _Heap) -> None:
        """Follow one sorted list to its end."""
        asked = ASKED[self._line.dialect]
        params: dict[str, str | int] = {"sort": sort, "limit": asked}
        seen: set[str] = set()
        for _ in range(MOST_PAGES):
            data = self._line.get(at("/posts/{}/comments", post_id), params)
            nodes = words.listed(data, "comments")
            if nodes is None:
                raise TryLater("the answer holds no list of comments")
            size = _unpack(nodes, post_id, glasses, heap)
            more, cursor = words.next_cursor(data)
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

        An older reply with the same words counts too: we would not say it twice.
        """
        thread = self.thread(post_id)
        here = [item for item in thread.comments if item.is_ours and item.parent_id == parent_id]
        for item in here:
            if words.says(item, text):
                return Found(item=item)
        if not thread.is_complete:
            return CannotTell(f"the list is cut at {len(thread.comments)} comments")
        if thread.skipped:
            return CannotTell(f"{len(thread.skipped)} items of the thread cannot be read")
        if any(item.is_deleted and item.created_at >= since - SLACK for item in here):
            return CannotTell("a comment of ours was deleted there since")
        return Absent()

    def find_own_post(self, *, title: str, text: str, since: datetime) -> Look:
        """Page through the newest posts until they are older than the attempt."""
        listing = self._listing()
        skipped = 0
        for page in listing.pages(LONGEST_LOOK):
            skipped += len(page.skipped)
            for item in page.posts:
                same_title = words.trimmed(item.title) == words.trimmed(title)
                if item.is_ours and same_title and words.says(item, text):
                    return Found(item=item)
            if page.posts and page.posts[-1].created_at < since - SLACK:
                break
        else:
            if not listing.is_at_end:
                return CannotTell(f"the list is cut at {listing.rows} posts")
        return CannotTell(f"{skipped} posts cannot be read") if skipped else Absent()

    # ── ourselves ─────────────────────────────────────────────────────────

    def _listing(self) -> Listing:
        return Listing(self._line, self._glasses())

    def _glasses(self, post_id: str = "") -> words.Glasses:
        us = self._us or self.who_am_i()
        page = page_of(self._line.base_url, post_id) if post_id else ""
        return words.Glasses(us=us, seen_at=self.access.clock(), page=page)


def _unpack(nodes: list[Any], post_id: str, glasses: words.Glasses, heap: _Heap) -> int:
    """Sort one answer into comments and what cannot be used; return how many there were."""
    total = 0
    for node, above in words.walk(nodes):
        total += 1
        try:
            item = words.comment(node, post_id=post_id, above=above, glasses=glasses)
        except Malformed as error:
            remote_id = clean_id(node.get("id")) if isinstance(node, dict) else ""
            heap.skipped.append(Skipped(remote_id, str(error)))
        else:
            heap.comments.append(item)
            heap.is_cut = heap.is_cut or words.hides_replies(node)
    return total
