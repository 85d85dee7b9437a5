"""Which lines of the ledger somebody with limits may read: those about rows within reach.

The ledger names its subjects in words ("draft:12"), so no condition of the database can
narrow it. A page walks a window of lines by key and keeps what fits, in a fixed number of
queries; what the window did not reach is a link further.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from surfaces.models import AuditEvent, Draft, Message, Operator
from surfaces.models.audit import AuditQuerySet, name_of
from surfaces.reach import Reach
from surfaces.reaching import names_within

WINDOW = 1_000  # lines looked at for one page
PAGE = 50


@dataclass(frozen=True, kw_only=True, slots=True)
class Sheet:
    """Lines newest first. `newer` and `older` are keys to go on from, None where nothing is."""

    rows: list[AuditEvent]
    newer: int | None = None
    older: int | None = None
    looked_back_to: datetime | None = None  # the window ended here, before the page was full


def sheet(
    lines: AuditQuerySet, who: Operator, *, before: int | None = None, after: int | None = None
) -> Sheet:
    """One page by key: as fast at the far end as at the near one."""
    size = PAGE if who.reach.is_whole else WINDOW
    if after is not None:
        looked = list(lines.filter(pk__gt=after).order_by("pk")[: size + 1])
    else:
        rest = lines if before is None else lines.filter(pk__lt=before)
        looked = list(rest.order_by("-pk")[: size + 1])
    fits = within(looked[:size], who)
    rows, is_cut = fits[:PAGE], len(looked) > size
    end = rows[-1] if len(fits) > PAGE else looked[size - 1] if is_cut else None
    stopped = end.at if end and len(rows) < PAGE else None
    further = end.pk if end else None
    if after is not None:
        older = rows[0].pk if rows else after + 1
        return Sheet(rows=rows[::-1], newer=further, older=older, looked_back_to=stopped)
    back = rows[0].pk if rows else before
    newer = back if before is not None else None
    return Sheet(rows=rows, newer=newer, older=further, looked_back_to=stopped)


def within(lines: Sequence[AuditEvent], who: Operator) -> list[AuditEvent]:
    """Those about rows within reach, and by or about `who`. Four queries at most."""
    if who.reach.is_whole:
        return list(lines)
    seen = {*_seen(who.reach, {line.subject for line in lines}), name_of(who)}
    return [line for line in lines if line.subject in seen or line.actor == who.actor]


def _seen(reach: Reach, subjects: Iterable[str]) -> set[str]:
    ids: dict[str, list[int]] = defaultdict(list)
    for subject in subjects:
        kind, _, key = subject.partition(":")
        if key.isascii() and key.isdigit():
            ids[kind].append(int(key))
    drafts = reach.narrow(Draft.objects.filter(pk__in=ids["draft"]))
    messages = reach.narrow(Message.objects.filter(pk__in=ids["message"]), agent="")
    return {
        *(f"draft:{pk}" for pk in drafts.order_by().values_list("pk", flat=True)),
        *(f"message:{pk}" for pk in messages.order_by().values_list("pk", flat=True)),
        *names_within(reach),
    }
