"""Read from a hub: changes since a cursor, one thread, our own posts.

A hub counts its changes, so one request tells which threads have news. Threads it does not
list are unchanged.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from surfaces.adapters import types
from surfaces.adapters.base import Reader
from surfaces.adapters.feeds import read_feed
from surfaces.adapters.hub.client import TRAITS, HubAdapter, comment_item, post_item
from surfaces.adapters.own_items import same_text
from surfaces.adapters.parsing import clean_count, clean_id, clean_text, skipped_item
from surfaces.adapters.types import Item, Malformed, Skipped
from surfaces.errors import NotThere, TryLater
from surfaces.net.json_client import at
from surfaces.text.reasons import reason, reason_of

MOST_PAGES = 50  # of anything, in one go
PER_PAGE = 100
CLOCKS_DIFFER = timedelta(minutes=2)


class Hub(HubAdapter, Reader):
    traits = TRAITS

    def who_am_i(self) -> types.Identity:
        said = self._line.get("/agents/me")
        remote_id, name = clean_id(said.get("id")), clean_text(said.get("name"), most=120)
        if not remote_id or not name:
            raise TryLater("hub.no_identity")
        return types.Identity(remote_id=remote_id, handle=name)

    def news(self, known: Mapping[str, types.KnownThread], cursor: dict[str, Any]) -> types.News:
        """Fetch changes in our threads: one request, and one more per hundred threads."""
        after = clean_id(cursor.get("after")) or "0"
        posts: dict[str, Item] = {}
        skipped: list[Skipped] = []
        for _ in range(MOST_PAGES):
            said = self._line.get("/activity", after=after, limit=PER_PAGE)
            for post in _items(said.get("threads"), self._post, skipped):
                posts[post.remote_id] = post
            then, after = after, clean_id(said.get("cursor")) or after
            if said.get("has_more") is not True or after == then:
                break
        return types.News(
            touched=(*posts, *(item.remote_id for item in skipped if item.remote_id)),
            counts={
                name: post.comment_count
                for name, post in posts.items()
                if name in known and post.comment_count is not None
            },
            posts=tuple(post for post in posts.values() if not post.is_deleted),
            cursor={"after": after},
            skipped=tuple(skipped),
        )

    def thread(
        self, post_id: str, *, count: int | None = None, known: int | None = None
    ) -> types.ThreadItems:
        gone = types.ThreadItems(root=None, is_gone=True)
        try:
            found = self._thread(post_id)
        except NotThere:
            return gone
        return gone if found.root and found.root.is_deleted else found

    def history(self, cursor: str | None) -> types.ItemPage:
        params = {"before": cursor} if cursor else {}
        said = self._line.get("/posts", author="me", limit=PER_PAGE, **params)
        skipped: list[Skipped] = []
        posts = tuple(_items(said.get("posts"), self._post, skipped))
        older = clean_id(said.get("next_before"))
        return types.ItemPage(posts=posts, cursor=older or None, skipped=tuple(skipped))

    def feed(self, communities: Sequence[str], limit: int) -> types.Feed:
        spare = self.access.meter.spare("read")
        return read_feed(self._newest, communities, limit, spare=spare)

    def _newest(self, community: str, limit: int) -> tuple[list[Item], list[Skipped]]:
        return self._listed("/posts", "posts", limit=limit, community=community)

    def search(
        self, words: str, *, community: str = "", author: str = "", limit: int
    ) -> types.Feed:
        """Hub contract, search: all of the words, in posts."""
        posts, skipped = self._listed(
            "/search", "results", q=words, community=community, author=author, limit=limit
        )
        shown = tuple(post for post in posts if not post.is_deleted)
        return types.Feed(posts=shown[:limit], skipped=tuple(skipped))

    def _listed(
        self, path: str, name: str, **params: str | int
    ) -> tuple[list[Item], list[Skipped]]:
        said = self._line.get(path, **{key: value for key, value in params.items() if value})
        if not isinstance(said.get(name), list):
            raise TryLater("hub.no_list")
        skipped: list[Skipped] = []
        return list(_items(said[name], self._post, skipped)), skipped

    def find_own_reply(
        self, *, post_id: str, parent_id: str | None, text: str, since: datetime
    ) -> types.Look:
        thread = self.thread(post_id)
        said = [item for item in thread.comments if self._is_ours(item, text=text, since=since)]
        for item in said:
            if item.parent_id == parent_id:
                return types.FoundItem(item=item)
        if any("parent_id" not in item.raw for item in said):  # a root says null
            return types.CannotTell("look.could_be_ours")
        if thread.is_complete and not thread.skipped:
            return types.NotFound()
        return types.CannotTell("hub.thread_cut")

    def find_own_post(self, *, title: str, text: str, since: datetime) -> types.Look:
        cursor: str | None = None
        for _ in range(MOST_PAGES):
            page = self.history(cursor)
            for item in page.posts:
                is_titled = same_text(item.title, title)
                if is_titled and self._is_ours(item, text=text, since=since):
                    return types.FoundItem(item=item)
            if page.skipped:
                return types.CannotTell("hub.post_unreadable")
            if page.cursor is None or page.cursor == cursor:
                return types.NotFound()
            if page.posts and all(i.created_at < since - CLOCKS_DIFFER for i in page.posts):
                return types.NotFound()  # newest first: the rest is older
            cursor = page.cursor
        return types.CannotTell("hub.list_endless")

    def _is_ours(self, item: Item, *, text: str, since: datetime) -> bool:
        is_recent = item.created_at >= since - CLOCKS_DIFFER
        return item.is_ours and is_recent and same_text(item.content, text)

    def _post(self, raw: object) -> Item:
        return post_item(raw, self.access)

    def _thread(self, post_id: str) -> types.ThreadItems:
        skipped: list[Skipped] = []
        comments: list[Item] = []
        root, said_count, after, is_whole = None, 0, 0, False
        read = partial(comment_item, access=self.access, post_id=post_id)
        for _ in range(MOST_PAGES):
            said = self._line.get(at("/posts/{}", post_id), include_comments="true", after=after)
            if root is None:
                root = self._root(said, post_id)
                said_count = root.comment_count or 0
            comments += _items(said.get("comments"), read, skipped)
            then, after = after, clean_count(said.get("next_after")) or 0
            if after <= then:
                is_whole = isinstance(said.get("comments"), list) and not after
                break
        ordered = _parents_first(comments, skipped)
        is_complete = is_whole and len(ordered) + len(skipped) >= said_count
        return types.ThreadItems(
            root=root, comments=tuple(ordered), is_complete=is_complete, skipped=tuple(skipped)
        )

    def _root(self, said: dict[str, Any], post_id: str) -> Item:
        try:
            root = self._post(said)
        except Malformed as error:
            raise TryLater(reason("hub.post_unusable", error=reason_of(error))) from error
        if root.remote_id != post_id:
            raise TryLater("hub.other_post")
        return root


def _items(raws: object, read: Callable[[object], Item], skipped: list[Skipped]) -> Iterator[Item]:
    for raw in raws if isinstance(raws, list) else []:
        try:
            yield read(raw)
        except Malformed as error:
            skipped.append(skipped_item(raw, error))


def _parents_first(comments: list[Item], skipped: list[Skipped]) -> list[Item]:
    """Each comment once, after its parent. A missing parent is allowed."""
    by_name = {item.remote_id: item for item in reversed(comments)}
    ordered: dict[str, Item] = {}
    for item in comments:
        path: dict[str, Item] = {}
        above = by_name.get(item.remote_id)
        while above and above.remote_id not in ordered and above.remote_id not in path:
            path[above.remote_id] = above
            above = by_name.get(above.parent_id) if above.parent_id else None
        if above and above.remote_id in path:
            by_name.pop(item.remote_id, None)
            skipped.append(Skipped(item.remote_id, "item.circle"))
            continue
        ordered.update(reversed(path.items()))
    return list(ordered.values())
