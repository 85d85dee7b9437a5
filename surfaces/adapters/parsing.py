"""Validate JSON of other services, field by field."""

import re
from datetime import UTC, datetime
from typing import Any

from surfaces.adapters.types import Malformed, Skipped
from surfaces.text.reasons import reason_of

LONGEST_TEXT = 100_000  # characters kept of one text
DEEPEST_JSON = 12
LONGEST_ID = 500  # characters
LARGEST_COUNT = 2**31 - 1  # what an integer column holds
UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
EARLIEST = datetime(1990, 1, 1, tzinfo=UTC)
LATEST = datetime(2100, 1, 1, tzinfo=UTC)


def skipped_item(raw: object, error: Malformed) -> Skipped:
    return Skipped(clean_id(raw.get("id")) if isinstance(raw, dict) else "", reason_of(error))


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
    depth += 1
    if isinstance(value, dict):
        return {clean_text(str(k), most=200): clean_json(v, depth=depth) for k, v in value.items()}
    if isinstance(value, list):
        return [clean_json(inner, depth=depth) for inner in value[:1000]]
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
    ISO 8601 with Z, offsets of two or four digits, a blank for the T, microseconds or none, and
    seconds or milliseconds since 1970.
    """
    try:
        if isinstance(value, str) and len(value) <= 64:
            moment = datetime.fromisoformat(value.strip())
            moment = (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(UTC)
        elif isinstance(value, int | float) and value is not True and 0 < value < 1e14:
            # Compared before it is divided: not every int fits a float.
            moment = datetime.fromtimestamp(value / 1000 if value > 1e11 else value, UTC)
        else:
            return None
    except (ValueError, OverflowError):
        return None
    return moment if EARLIEST <= moment <= LATEST else None
