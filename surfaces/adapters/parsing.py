"""Validate JSON of other services, field by field."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Any

LONGEST_TEXT = 100_000  # characters kept of one text
DEEPEST_JSON = 12
LONGEST_ID = 500  # characters
LARGEST_COUNT = 2**31 - 1  # what an integer column holds
UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
EARLIEST = datetime(1990, 1, 1, tzinfo=UTC)
LATEST = datetime(2100, 1, 1, tzinfo=UTC)


class Malformed(ValueError):
    """An item without a required field. The message names it."""


def clean_text(value: object, *, most: int = LONGEST_TEXT) -> str:
    """Return `value` as text that PostgreSQL can hold; anything but text becomes ''."""
    if not isinstance(value, str):
        return ""
    if len(value) > most:
        value = value[: most - 1] + "…"
    return UNSTORABLE.sub("\ufffd", value)


def clean_id(value: object) -> str:
    """Return an id as text, or '' if it cannot be one. Ids may arrive as numbers."""
    if isinstance(value, bool) or not isinstance(value, str | int):
        return ""
    text = str(value).strip()
    return clean_text(text) if len(text) <= LONGEST_ID else ""  # cut, two would be one


def clean_json(value: Any, *, depth: int = 0) -> Any:
    """Return a copy that fits jsonb: storable text, no NaN, bounded in depth."""
    if depth > DEEPEST_JSON:
        return "…"
    if isinstance(value, dict):
        return {
            clean_text(str(key), most=200): clean_json(inner, depth=depth + 1)
            for key, inner in value.items()
        }
    if isinstance(value, list):
        return [clean_json(inner, depth=depth + 1) for inner in value[:1000]]
    if isinstance(value, str):
        return clean_text(value)
    if isinstance(value, float) and (value != value or abs(value) == float("inf")):
        return None
    return value


def clean_count(value: object) -> int | None:
    """Return a non-negative count. Live services send "3" as often as 3."""
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 12:
        return min(int(value), LARGEST_COUNT)
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 10**12:
        return min(value, LARGEST_COUNT)
    return None


def parse_time(value: object) -> datetime | None:
    """Read a moment in any of the forms services send; None if it is none of them.

    ISO 8601 with Z, offsets of two or four digits, a blank for the T,
    microseconds or none, and seconds or milliseconds since 1970.
    """
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        return _from_epoch(value)
    if not isinstance(value, str) or len(value) > 64:
        return None
    try:
        moment = datetime.fromisoformat(value.strip())
    except ValueError:
        return None
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    try:
        moment = moment.astimezone(UTC)
    except OverflowError:
        return None
    return moment if EARLIEST <= moment <= LATEST else None


def _from_epoch(seconds: float) -> datetime | None:
    if not 0 < seconds < 1e14:  # compared first: not every int fits a float
        return None
    seconds = seconds / 1000 if seconds > 1e11 else seconds
    moment = datetime.fromtimestamp(seconds, UTC)
    return moment if EARLIEST <= moment <= LATEST else None
