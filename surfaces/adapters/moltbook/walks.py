"""Walk a list of posts in parts: the place of every walk is kept in the cursor between rounds.

top ──> new posts, until a post that was there at the last round
 └─ not reached ──> a gap: walked down from there, over several rounds; the first is the history
sweep ──> again over all of it, for the comment counts, as long as that costs less than asking
          for each post
"""

from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from typing import Any

from surfaces.adapters.moltbook.post_lists import ListPosition, PostList
from surfaces.adapters.parsing import parse_time
from surfaces.adapters.types import ItemPage

TOP_PAGES = 2
MARKS = 20  # ids of the newest posts; all of them deleted in one interval is not expected
MOST_GAPS = 5
SWEEP_AGAIN = timedelta(days=1)  # after asking for each post was found to cost less

Hear = Callable[[ItemPage], None]


class ListWalk:
    """The walks over one list. `place`: what the cursor holds of them, changed in place."""

    def __init__(self, posts: PostList, place: dict[str, Any], hear: Hear, *, now: datetime):
        self._posts, self._place, self._hear, self._now = posts, place, hear, now
        self._below: ListPosition | None = ListPosition()
        self.is_at_end = False  # the top was all of it

    def look_at_top(self) -> None:
        """Read what is new; what was not reached becomes a gap."""
        marks, newest = set(self._place.get("marks") or []), list[str]()
        is_known = False
        for page, below in self._pages(ListPosition(), TOP_PAGES):
            self._below = below
            ids = [item.remote_id for item in page.posts]
            newest = newest or ids[:MARKS]
            is_known = is_known or bool(marks.intersection(ids))
            if is_known:
                break
        self.is_at_end = self._below is None
        gaps = self._gaps
        if self.is_at_end:
            gaps = []
        elif not is_known:
            until = sorted(marks)
            gaps = [{"place": str(self._below), "until": until}, *([] if not until else gaps)]
        if len(gaps) > MOST_GAPS:
            gaps = [*gaps[: MOST_GAPS - 1], gaps[MOST_GAPS - 1] | {"until": gaps[-1]["until"]}]
        self._place |= {"marks": newest, "gaps": gaps}

    @property
    def _gaps(self) -> list[dict[str, Any]]:
        return list(self._place.get("gaps") or [])

    def close_gaps(self, most: int) -> int:
        """Walk down gaps, `most` pages at most; return the number of pages read."""
        read = 0
        while read < most and (gaps := self._gaps):
            until = set(gaps[0]["until"])
            for page, below in self._pages(ListPosition.read(gaps[0]["place"]), most - read):
                read += 1
                is_over = below is None or until.intersection(i.remote_id for i in page.posts)
                rest = [] if is_over else [gaps[0] | {"place": str(below)}]
                self._place["gaps"] = [*rest, *gaps[1:]]
                self._place["rows"] = int(self._place.get("rows") or 0) + len(page.posts)
                if is_over:
                    break
        return read

    def sweep(self, unheard: Callable[[], list[str]], most: int, *, oldest: datetime | None) -> int:
        """Walk down for counts until nothing is `unheard` or posts are older than `oldest`.

        It goes on in the next round, and ends for a day where it has cost more than it hears.
        """
        state = dict(self._place.get("sweep") or {})
        too_dear = parse_time(state.get("too_dear"))
        if too_dear and too_dear <= self._now < too_dear + SWEEP_AGAIN:
            return 0
        begin = ListPosition.read(state.get("place")) if state.get("place") else self._below
        pages, wanted, read = int(state.get("pages") or 0), len(unheard()), 0
        since = state.get("since") or self._now.isoformat()
        state = {"since": since}
        for page, below in self._pages(begin, most) if begin else ():
            read, pages = read + 1, pages + 1
            is_past = oldest and page.posts and all(i.created_at < oldest for i in page.posts)
            if below is None or is_past or not unheard():
                state = {"ended": since}
                break
            state = {"since": since, "place": str(below), "pages": pages}
            if pages > wanted:
                state = {"too_dear": self._now.isoformat()}
                break
        self._place["sweep"] = state
        return read

    def leaves_out(self, checked_at: datetime | None) -> bool:
        """Whether no sweep hears a post that was last heard then, so it must be asked for."""
        state = self._place.get("sweep") or {}
        since = parse_time(state.get("ended"))
        if self.is_at_end:
            return True
        return not state.get("place") and not (since and checked_at and checked_at >= since)

    @property
    def is_whole(self) -> bool:
        return not self._gaps

    def _pages(
        self, place: ListPosition, most: int
    ) -> Iterator[tuple[ItemPage, ListPosition | None]]:
        following: ListPosition | None = place
        for _ in range(most):
            if following is None:
                return
            page, following = self._posts.page(following)
            self._hear(page)
            yield page, following
