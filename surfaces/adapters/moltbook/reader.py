"""Read from Moltbook: identity, news, whole threads, and our own replies.

An empty or short list is no proof of absence: the open-source server truncates threads
silently, replies first.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any

from surfaces.adapters import types
from surfaces.adapters.base import Access, Reader
from surfaces.adapters.feeds import read_feed
from surfaces.adapters.moltbook import parse
from surfaces.adapters.moltbook.client import TRAITS, MoltbookAdapter, page_of
from surfaces.adapters.moltbook.news import find_news
from surfaces.adapters.moltbook.post_lists import LONGEST_LOOK, PostList
from surfaces.adapters.own_items import may_be_our_reply, may_be_ours, same_text
from surfaces.adapters.parsing import clean_count, skipped_item
from surfaces.adapters.types import Item, Malformed, Skipped
from surfaces.errors import NotThere, TryLater
from surfaces.net.json_client import at
from surfaces.text.reasons import reason, reason_of

# Open-source server, comments route: at most 500, counting every comment.
# Moltbook skill.md 1.12.0, comments: at most 100, counting roots, with cursors.
ASKED = {"open": 500, "live": 100}
OTHER_ENDS = {"open": ("top", "controversial"), "live": ("old",)}
MOST_PAGES = 25
SLACK = timedelta(minutes=10)  # clock skew


@dataclass(slots=True)
class _Heap:
    post_id: str
    glasses: parse.ParseContext
    comments: list[Item] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)
    is_cut: bool = False

    def size(self) -> int:
        return len({item.remote_id for item in self.comments}) + len(self.skipped)

    def unpack(self, nodes: list[Any]) -> int:
        found = list(parse.walk(nodes))
        for node, above in found:
            try:
                item = parse.comment(node, post_id=self.post_id, above=above, glasses=self.glasses)
            except Malformed as error:
                self.skipped.append(skipped_item(node, error))
            else:
                self.comments.append(item)
                self.is_cut = self.is_cut or parse.hides_replies(node)
        return len(found)


class Moltbook(MoltbookAdapter, Reader):
    traits = TRAITS

    def __init__(self, access: Access) -> None:
        super().__init__(access)
        us = types.Identity(remote_id=access.remote_id, handle=access.handle)
        self._us = us if access.handle else None

    def who_am_i(self) -> types.Identity:
        """Open-source server, agents route: GET /agents/me."""
        try:
            dialect = self._line.dialect
            known = parse.identity(self._line.get("/agents/me"))
        except Malformed as error:
            raise TryLater(reason_of(error)) from error
        self._us = replace(known, dialect=dialect)
        return self._us

    def news(self, known: Mapping[str, types.KnownThread], cursor: dict[str, Any]) -> types.News:
        return find_news(self._line, self._glasses(), known, cursor, now=self.access.clock())

    def history(self, cursor: str | None) -> types.ItemPage:
        return self._listing().own_page(cursor)

    def thread(
        self, post_id: str, *, count: int | None = None, known: int | None = None
    ) -> types.ThreadItems:
        """Read the post, unless its count was just told, then its comments.
        The post first: the list returns 200 for a missing post, and a count read before the list
        shows whether the list is short.
        """
        heap, root = _Heap(post_id, self._glasses(post_id)), None
        if count is None:
            try:
                data = self._line.get(at("/posts/{}", post_id))
            except NotThere as error:
                if error.permanent:
                    return types.ThreadItems(root=None, is_gone=True)
                raise TryLater(reason("moltbook.unknown_api", error=reason_of(error))) from error
            root, count = self._root(data, heap)
            if root and known is not None and count == known:
                return types.ThreadItems(root=root, is_unchanged=True)
        before = heap.size()
        self._read_list("new", heap)
        # Deleted comments still count, and are still listed.
        heap.is_cut = heap.is_cut or (count is not None and heap.size() - before < count)
        is_whole = not heap.is_cut
        for sort in OTHER_ENDS[self._line.dialect]:
            if not is_whole:  # the list is truncated: another order shows other comments
                self._read_list(sort, heap)
                is_whole = count is not None and heap.size() - before >= count
        return types.ThreadItems(
            root=root,
            comments=tuple(parse.parents_first(heap.comments)),
            is_complete=is_whole,
            is_cut=heap.is_cut,
            skipped=tuple(heap.skipped),
        )

    def comment(self, post_id: str, remote_id: str) -> Item | None:
        """Open-source server, comments route: GET /comments/:id, also behind a cut list."""
        try:
            data = self._line.get(at("/comments/{}", remote_id))
        except NotThere as error:
            if error.permanent:
                return None
            raise TryLater(reason("moltbook.unknown_api", error=reason_of(error))) from error
        sent = parse.unwrap(data, "comment") or data
        try:
            return parse.comment(sent, post_id=post_id, above=None, glasses=self._glasses(post_id))
        except Malformed as error:
            raise TryLater(reason_of(error)) from error

    def _root(self, data: dict[str, Any], heap: _Heap) -> tuple[Item | None, int | None]:
        sent = parse.unwrap(data, "post") or data
        try:
            root = parse.post(sent, heap.glasses)
        except Malformed as error:
            heap.skipped.append(Skipped(heap.post_id, reason_of(error)))
            return None, clean_count(parse.first(sent, "comment_count", "commentCount"))
        # An id that is a number there may be text here.
        root = replace(root, remote_id=heap.post_id, post_id=heap.post_id)
        return root, root.comment_count

    def _read_list(self, sort: str, heap: _Heap) -> None:
        asked = ASKED[self._line.dialect]
        params: dict[str, str | int] = {"sort": sort, "limit": asked}
        seen: set[str] = set()
        for _ in range(MOST_PAGES):
            data = self._line.get(at("/posts/{}/comments", heap.post_id), params)
            nodes = parse.listed(data, "comments")
            if nodes is None:
                raise TryLater("moltbook.no_comments")
            size = heap.unpack(nodes)
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

    def feed(self, communities: Sequence[str], limit: int) -> types.Feed:
        newest = PostList(self._line, self._glasses(), of_ours=False).newest
        return read_feed(newest, communities, limit, spare=self._line.spare())

    def find_own_reply(
        self, *, post_id: str, parent_id: str | None, text: str, since: datetime
    ) -> types.Look:
        """Look through the whole tree. There is no idempotency key and no list of our replies.
        An older reply with the same text counts, too.
        """
        thread = self.thread(post_id)
        candidates = [c for c in thread.comments if may_be_our_reply(c, parent_id)]
        said = [item for item in candidates if parse.says(item, text)]
        for item in said:
            if item.is_ours and item.parent_id == parent_id:
                return types.FoundItem(item=item)
        if said:
            return types.CannotTell("look.could_be_ours")
        if thread.is_cut or not thread.is_complete:
            return types.CannotTell(reason("moltbook.comments_cut", comments=len(thread.comments)))
        if skipped := len(thread.skipped):
            return types.CannotTell(reason("moltbook.items_unreadable", skipped=skipped))
        if any(item.is_deleted and item.created_at >= since - SLACK for item in candidates):
            return types.CannotTell("moltbook.comment_deleted")
        return types.NotFound()

    def find_own_post(self, *, title: str, text: str, since: datetime) -> types.Look:
        """Page through the newest posts until they are older than the attempt."""
        listing = self._listing()
        skipped = 0
        for page in listing.pages(LONGEST_LOOK):
            skipped += len(page.skipped)
            for item in page.posts:
                if same_text(item.title, title) and parse.says(item, text) and may_be_ours(item):
                    sure = types.FoundItem(item=item)
                    return sure if item.is_ours else types.CannotTell("look.could_be_ours")
            # One wrong date on a page says nothing about those behind it.
            if page.posts and all(item.created_at < since - SLACK for item in page.posts):
                break
        else:
            if not listing.is_at_end:
                return types.CannotTell(reason("moltbook.posts_cut", rows=listing.rows))
        if skipped:
            return types.CannotTell(reason("moltbook.posts_unreadable", skipped=skipped))
        return types.NotFound()

    def _listing(self) -> PostList:
        return PostList(self._line, self._glasses())

    def _glasses(self, post_id: str = "") -> parse.ParseContext:
        us = self._us or self.who_am_i()
        page = page_of(self._line.base_url, post_id) if post_id else ""
        return parse.ParseContext(us=us, seen_at=self.access.clock(), page=page)
