"""One page of rows by key, newest first: as fast at the far end as at the near one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar
from urllib.parse import urlencode

from django.db.models import Model, QuerySet

SIZE = 50
Kind = TypeVar("Kind", bound=Model)


@dataclass(frozen=True, slots=True)
class Sheet(Generic[Kind]):
    """`newer` and `older` are query strings, "" where there is nothing."""

    rows: list[Kind]
    newer: str = ""
    older: str = ""


def sheet(
    found: QuerySet[Kind], asked: Mapping[str, str], given: Mapping[str, str], *, size: int = SIZE
) -> Sheet[Kind]:
    """The newest, or what lies before or after the key that `given` names. One query."""
    before, after = number(given.get("before", "")), number(given.get("after", ""))
    if after is not None:
        rows = list(found.filter(pk__gt=after).order_by("pk")[: size + 1])
    else:
        older = found if before is None else found.filter(pk__lt=before)
        rows = list(older.order_by("-pk")[: size + 1])
    is_full, rows = len(rows) > size, rows[:size]
    if after is not None:
        rows.reverse()
    if not rows:
        return Sheet(rows)
    has_newer = is_full if after is not None else before is not None
    has_older = True if after is not None else is_full
    wishes = {name: value for name, value in asked.items() if value}
    return Sheet(
        rows,
        newer=urlencode({**wishes, "after": rows[0].pk}) if has_newer else "",
        older=urlencode({**wishes, "before": rows[-1].pk}) if has_older else "",
    )


def number(given: str) -> int | None:
    """A key; garbage is none."""
    return int(given) if given.isascii() and given.isdigit() and len(given) < 19 else None
