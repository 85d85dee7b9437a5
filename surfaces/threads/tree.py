"""Lay a thread out as a tree. Pure; loops, never recursion, so depth costs nothing.

Whatever the surface says about parents, every message comes out exactly once:
orphans stand under the post, and a ring of parents is opened at its oldest member.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

MOST = 200  # messages on one page
DEEPEST = 6  # lists inside lists; what is deeper stands there, and says whom it answers


@dataclass(frozen=True, slots=True)
class TreePosition:
    """Where one message stands. `parent` None: directly under the post."""

    pk: int
    parent: int | None
    depth: int


@dataclass(frozen=True, slots=True)
class TreeLine:
    """A place, and the lists a page opens before it and shuts after it."""

    place: TreePosition
    opens: bool
    is_leaf: bool
    shuts: range
    is_under_parent: bool


@dataclass(frozen=True, slots=True)
class TreeSlice:
    """One page of a long thread. `earlier` and `later` are what the other pages begin with."""

    places: Sequence[TreePosition]
    earlier: int | None
    later: int | None
    before: int
    after: int


def lay_out(edges: Iterable[tuple[int, int | None]], *, post: int) -> list[TreePosition]:
    """Bring (message, parent) pairs, oldest first, into reading order."""
    parents = {pk: parent for pk, parent in edges if pk != post}
    children: dict[int | None, list[int]] = {}
    for pk, parent in parents.items():
        parents[pk] = known = parent if parent in parents and parent != pk else None
        children.setdefault(known, []).append(pk)

    laid: dict[int, TreePosition] = {}
    _walk(children.get(None, []), children, laid)
    age = {pk: i for i, pk in enumerate(parents)}
    for pk in parents:  # what is left hangs on rings
        if pk not in laid:
            _walk([min(_ring(pk, parents), key=age.__getitem__)], children, laid)
    return list(laid.values())


def _walk(
    tops: Sequence[int], children: Mapping[int | None, Sequence[int]], laid: dict[int, TreePosition]
) -> None:
    waiting = [TreePosition(pk, None, 0) for pk in reversed(tops)]
    while waiting:
        place = waiting.pop()
        if place.pk in laid:
            continue
        laid[place.pk] = place
        answers = children.get(place.pk, ())
        waiting += [TreePosition(pk, place.pk, place.depth + 1) for pk in reversed(answers)]


def _ring(pk: int, parents: Mapping[int, int | None]) -> list[int]:
    """Walk up from `pk` until the walk repeats itself; return what repeats."""
    walked: dict[int, None] = {}
    while pk not in walked:
        walked[pk] = None
        pk = parents[pk] or pk
    steps = list(walked)
    return steps[steps.index(pk) :]


def cut(
    places: Sequence[TreePosition], *, around: int | None = None, most: int = MOST
) -> TreeSlice:
    """The page that holds `around`, else the first. Pages end where an answer to the post ends."""
    starts, last_top = [0], 0
    for i, place in enumerate(places):
        if place.depth == 0:
            last_top = i
        if i - starts[-1] >= most:
            starts.append(last_top if last_top > starts[-1] else i)
    at = next((i for i, place in enumerate(places) if place.pk == around), 0)
    number = max(i for i, start in enumerate(starts) if start <= at)
    start = starts[number]
    end = starts[number + 1] if number + 1 < len(starts) else len(places)
    return TreeSlice(
        places=places[start:end],
        earlier=places[starts[number - 1]].pk if number else None,
        later=places[end].pk if end < len(places) else None,
        before=start,
        after=len(places) - end,
    )


def lines(places: Sequence[TreePosition], *, deepest: int = DEEPEST) -> list[TreeLine]:
    """Say for each place which lists begin before and end after it."""
    base = places[0].depth if places else 0
    levels = [min(max(place.depth - base, 0), deepest) for place in places]
    result = []
    above: list[int] = []  # whom the open lists belong to
    for i, (place, level) in enumerate(zip(places, levels, strict=True)):
        upcoming = levels[i + 1] if i + 1 < len(levels) else 0
        del above[level:]
        parent = above[-1] if above else None
        above.append(place.pk)
        result.append(
            TreeLine(
                place=place,
                opens=i > 0 and level > levels[i - 1],
                is_leaf=upcoming <= level,
                shuts=range(max(level - upcoming, 0)),
                is_under_parent=place.parent == parent,
            )
        )
    return result
