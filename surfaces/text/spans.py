"""Lengths of time in the reader's language."""

from datetime import timedelta

from django.utils.translation import gettext as _


def span(length: timedelta, *, short: bool = False) -> str:
    """Say a length of time in its two largest units, or in one if `short`: "2 h 14 min"."""
    seconds = max(int(length.total_seconds()), 0)
    days, rest = divmod(seconds, 86400)
    hours, rest = divmod(rest, 3600)
    minutes, seconds = divmod(rest, 60)
    parts = [
        (days, _("day") if days == 1 else _("days")),
        (hours, _("h")),
        (minutes, _("min")),
        (seconds, _("s")),
    ]
    while len(parts) > 1 and not parts[0][0]:
        parts.pop(0)
    kept = [f"{value} {unit}" for value, unit in parts[: 1 if short else 2] if value]
    return " ".join(kept) or f"0 {_('s')}"
