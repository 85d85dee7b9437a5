"""The ledger, newest first: who did what to which row, when and why."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from django.http import HttpResponse, QueryDict
from django.shortcuts import render
from django.views.decorators.http import require_safe

from surfaces import seen_lines
from surfaces.models import AuditEvent
from surfaces.models.audit import AuditQuerySet
from surfaces.requests import OperatorRequest


@require_safe
def ledger(request: OperatorRequest) -> HttpResponse:
    asked = {name: _asked(request.GET, name) for name in ("actor", "action", "subject")}
    given = request.GET
    sheet = seen_lines.sheet(
        _narrowed(asked),
        request.user,
        before=_number(given, "before"),
        after=_number(given, "after"),
    )
    shown = {
        "lines": sheet.rows,
        "page": _page(sheet, given),
        "asked": asked,
        "is_filtered": any(asked.values()),
    }
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
    looked_back_to: datetime | None


def _page(sheet: seen_lines.Sheet, given: QueryDict) -> Page:
    return Page(
        newer=_query(given, after=sheet.newer) if sheet.newer is not None else "",
        older=_query(given, before=sheet.older) if sheet.older is not None else "",
        looked_back_to=sheet.looked_back_to,
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
