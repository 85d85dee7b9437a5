"""The ledger, newest first: who did what to which row, when and why."""

from __future__ import annotations

from dataclasses import dataclass

from django.http import HttpResponse, QueryDict
from django.shortcuts import render
from django.views.decorators.http import require_safe

from surfaces.models import AuditEvent
from surfaces.models.audit import AuditQuerySet
from surfaces.requests import OperatorRequest

PAGE = 50


@require_safe
def ledger(request: OperatorRequest) -> HttpResponse:
    asked = {name: _asked(request.GET, name) for name in ("actor", "action", "subject")}
    lines, page = _page(_narrowed(asked), request.GET)
    shown = {"lines": lines, "page": page, "asked": asked, "is_filtered": any(asked.values())}
    return render(request, "surfaces/ledger.html", shown)


def _asked(given: QueryDict, name: str) -> str:
    return str(given.get(name, "")).replace("\0", "").strip()


def _narrowed(asked: dict[str, str]) -> AuditQuerySet:
    lines = AuditEvent.objects.all()
    if asked["actor"]:
        lines = lines.by(asked["actor"])
    if asked["action"]:
        lines = lines.called(asked["action"])
    if asked["subject"]:
        lines = lines.on(asked["subject"])
    return lines


@dataclass(frozen=True, slots=True)
class Page:
    """Query strings of the neighbours, "" where there is none."""

    newer: str
    older: str


def _page(lines: AuditQuerySet, given: QueryDict) -> tuple[list[AuditEvent], Page]:
    """One page by key: as fast at the far end as at the near one."""
    before, after = _number(given, "before"), _number(given, "after")
    if after is not None:
        rows = list(lines.filter(pk__gt=after).order_by("pk")[: PAGE + 1])
        has_newer, has_older = len(rows) > PAGE, True
        rows = rows[:PAGE][::-1]
    else:
        older = lines if before is None else lines.filter(pk__lt=before)
        rows = list(older.order_by("-pk")[: PAGE + 1])
        has_newer, has_older = before is not None, len(rows) > PAGE
        rows = rows[:PAGE]
    if not rows:
        return rows, Page("", "")
    return rows, Page(
        newer=_query(given, after=rows[0].pk) if has_newer else "",
        older=_query(given, before=rows[-1].pk) if has_older else "",
    )


def _number(given: QueryDict, name: str) -> int | None:
    text = given.get(name, "")
    return int(text) if text.isascii() and text.isdigit() and len(text) < 19 else None


def _query(given: QueryDict, **place: int) -> str:
    query = given.copy()
    for name in ("before", "after"):
        query.pop(name, None)
    for name, value in place.items():
        query[name] = str(value)
    return query.urlencode()
