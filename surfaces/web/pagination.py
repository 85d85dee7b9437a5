"""Pages of rows by key: the last page is found as fast as the first, and nothing is counted.

A `Keyset` is an order by columns that together are unique. The columns of one row are its key;
a page begins behind a key, or ends before one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Generic, TypeVar
from urllib.parse import urlencode

from django.db.models import BooleanField, F, Func, Model, Q, QuerySet, Value
from django.utils import timezone

from surfaces.web.requests import bad_value, parse_id

SIZE = 50
Row = TypeVar("Row", bound=Model)
Item = TypeVar("Item")
Shown = TypeVar("Shown")
Rows = TypeVar("Rows", bound=QuerySet[Any])
Key = tuple[Any, ...]
Query = Mapping[str, str]
NOTHING: Query = {}
MAX_KEY = 300  # characters of a key in an address


class Keyset:
    """Columns in order, "-" for descending, each with the type of its values.

    >>> Keyset(("-created_at", datetime), ("-id", int))
    """

    def __init__(self, *columns: tuple[str, type]) -> None:
        self._names = [name.removeprefix("-") for name, _ in columns]
        self._is_descending = [name.startswith("-") for name, _ in columns]
        self._types = [each for _, each in columns]

    def slice(self, rows: Rows, key: Key | None = None, *, backwards: bool = False) -> Rows:
        """The rows in this order, those that follow `key`; an index answers that."""
        falls = [is_descending != backwards for is_descending in self._is_descending]
        names = zip(self._names, falls, strict=True)
        found: Rows = rows.order_by(*(f"-{name}" if fall else name for name, fall in names))
        signs = ["lt" if fall else "gt" for fall in falls]
        return found if key is None else found.filter(_beyond(self._names, signs, key))

    def key_of(self, row: Any) -> Key:
        return tuple(getattr(row, name) for name in self._names)

    def dump(self, key: Key) -> str:
        """For an address: `3~2026-11-21T12:00:00+00:00~17`."""
        return "~".join(v.isoformat() if isinstance(v, datetime) else str(v) for v in key)

    def links(
        self, keep: Query, *, newer: Key | None = None, older: Key | None = None
    ) -> dict[str, str]:
        """Query strings of the pages that end before `newer` and begin behind `older`."""
        return {
            "newer": _link(keep, after=self.dump(newer)) if newer else "",
            "older": _link(keep, before=self.dump(older)) if older else "",
        }

    def load(self, values: Query, name: str) -> Key | None:
        """The key that an address names; None where it names none."""
        text = values.get(name, "")
        if not text:
            return None
        parts = text.split("~", len(self._types) - 1)
        key = tuple(_parse(part, each) for part, each in zip(parts, self._types, strict=False))
        if len(text) > MAX_KEY or len(key) < len(self._types) or None in key:
            raise bad_value(name, text)
        return key


NEWEST_FIRST = Keyset(("-pk", int))


@dataclass(frozen=True, slots=True)
class KeysetPage(Generic[Item]):
    """`newer` and `older` are query strings of the pages around this one, "" for none."""

    rows: list[Item]
    newer: str = ""
    older: str = ""

    def map(self, make: Callable[[Item], Shown]) -> KeysetPage[Shown]:
        return KeysetPage([make(row) for row in self.rows], self.newer, self.older)


def paginate(
    rows: QuerySet[Row], query: Query, *, size: int = SIZE, keep: Query = NOTHING
) -> KeysetPage[Row]:
    """The newest rows, or the page before or after the key that `query` names. One query.
    `keep` are the parameters that the links to other pages carry on. Beyond the last row, and
    before the first, stands the first page again.
    """
    before, after = NEWEST_FIRST.load(query, "before"), NEWEST_FIRST.load(query, "after")
    key, backwards = after or before, after is not None
    found = list(NEWEST_FIRST.slice(rows, key, backwards=backwards)[: size + 1])
    is_full, found = len(found) > size, found[:size]
    if not found:
        return paginate(rows, {}, size=size, keep=keep) if key else KeysetPage([])
    if backwards:
        found.reverse()
    has_newer, has_older = (is_full, True) if backwards else (key is not None, is_full)
    newer = NEWEST_FIRST.key_of(found[0]) if has_newer else None
    older = NEWEST_FIRST.key_of(found[-1]) if has_older else None
    return KeysetPage(found, **NEWEST_FIRST.links(keep, newer=newer, older=older))


def paginate_forward(
    rows: QuerySet[Row], query: Query, *, keyset: Keyset, size: int = SIZE, keep: Query = NOTHING
) -> KeysetPage[Row]:
    """For lists that only go on: `after` names the key behind which the page begins."""
    found = list(keyset.slice(rows, keyset.load(query, "after"))[: size + 1])
    shown = found[:size]
    last = keyset.dump(keyset.key_of(shown[-1])) if len(found) > size else ""
    return KeysetPage(shown, older=_link(keep, after=last) if last else "")


def _link(keep: Query, **key: str) -> str:
    return urlencode({name: value for name, value in {**keep, **key}.items() if value})


def _beyond(names: list[str], signs: list[str], key: Key) -> Q:
    if len(names) == 1:
        return Q(**{f"{names[0]}__{signs[0]}": key[0]})
    if len(set(signs)) == 1:
        # (created_at, id) < (…) as one comparison, so that an index of both columns answers it.
        columns = Func(*map(F, names), template="(%(expressions)s)")
        values = Func(*map(Value, key), template="(%(expressions)s)")
        joined = " < " if signs[0] == "lt" else " > "
        facts = {"template": "%(expressions)s", "output_field": BooleanField()}
        return Q(Func(columns, values, arg_joiner=joined, **facts))
    first = names[0]
    rest = Q(**{first: key[0]}) & _beyond(names[1:], signs[1:], key[1:])
    return Q(**{f"{first}__{signs[0]}e": key[0]}) & (Q(**{f"{first}__{signs[0]}": key[0]}) | rest)


def _parse(text: str, wanted: type) -> Any:
    if wanted is int:
        return parse_id(text)
    if wanted is not datetime:
        return text
    try:
        moment = datetime.fromisoformat(text)
        return None if timezone.is_naive(moment) else moment.astimezone(UTC)
    except (OverflowError, ValueError):  # PostgreSQL refuses an offset that leaves its years, too
        return None
