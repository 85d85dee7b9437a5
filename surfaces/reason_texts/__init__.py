"""The sentences behind the codes of reasons, and how their values are shown.

Importing this registers them; `surfaces.models` does, so they are there with the first row.
"""

from datetime import datetime, timedelta

from django.utils import timezone
from django.utils.dateformat import format as dated
from django.utils.translation import pgettext

from surfaces.reason_texts import audit, delivery, facts, network, services, spam
from surfaces.text.reasons import FORMATS
from surfaces.text.spans import span

__all__ = ["audit", "delivery", "facts", "network", "services", "spam"]


def show_moment(iso: str) -> str:
    """ "21 Nov, 08:00 UTC", in the reader's time zone."""
    local = timezone.localtime(datetime.fromisoformat(iso))
    words = dated(local, pgettext("date format", "j M, H:i"))
    return f"{words} {local.tzname()}"


def _stop() -> str:
    return pgettext("at the end of a sentence", ".")


def _join(parts: list[str], between: str) -> str:
    return between.join(filter(None, parts))


FORMATS |= {
    "at": show_moment,
    "span": lambda seconds: span(timedelta(seconds=seconds)),
    "list": lambda parts: _join(parts, pgettext("between items of a list", ", ")),
    "clauses": lambda parts: _join(parts, pgettext("between clauses", "; ")),
    "sentences": lambda parts: _join(parts, " " if _stop() == "." else ""),
}
