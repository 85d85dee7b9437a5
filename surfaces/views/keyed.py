"""One page of rows by key, newest first: as fast at the far end as at the near one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Sheet:
    """`newer` and `older` are query strings, "" where there is nothing."""

    rows: list[Any]
    newer: str = ""
    older: str = ""


def sheet(found: Any, given: Mapping[str, str], *, size: int) -> Sheet:
    """The newest, or what lies before or after the key that `given` names. One query."""
    before, after = number(given.get("before", "")), number(given.get("after", ""))
    if after is not None:
        rows = list(found.filter(pk__gt=after).order_by("pk")[: size + 1])
        is_full, rows = len(rows) > size, rows[:size][::-1]
        has_newer, has_older = is_full, True
    else:
        rest = found if before is None else found.filter(pk__lt=before)
        rows = list(rest.order_by("-pk")[: size + 1])
        has_newer, has_older, rows = before is not None, len(rows) > size, rows[:size]
    if not rows:
        return Sheet([])
    newer = f"after={rows[0].pk}" if has_newer else ""
    return Sheet(rows, newer, f"before={rows[-1].pk}" if has_older else "")


def number(given: str) -> int | None:
    """A key; garbage is none."""
    return int(given) if given.isascii() and given.isdigit() and len(given) < 19 else None
