"""Threads: the posts we watch, and one of them as a tree."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_safe

from surfaces import listing, reading, timeline
from surfaces.filters import Filters
from surfaces.models import Message
from surfaces.models.message import Direction, Kind
from surfaces.requests import OperatorRequest
from surfaces.views.drafts import WHY

WHOSE = [("All", ""), ("Ours", Direction.OUTGOING), ("By others", Direction.INCOMING)]


@require_safe
def threads(request: OperatorRequest) -> HttpResponse:
    given = {name: str(value) for name, value in request.GET.items()}
    filters = replace(Filters.of(given, within=request.user.reach.accounts), kind=Kind.POST)
    page = listing.page(filters, before=given.get("before", ""), after=given.get("after", ""))
    shown = {
        "page": page,
        "filters": filters,
        "news": listing.news_of(page.rows, request.user.reach),
        "whose": [
            (name, replace(filters, direction=value).query(), value == filters.direction)
            for name, value in WHOSE
        ],
    }
    return render(request, "surfaces/threads.html", shown)


@require_safe
def thread(request: OperatorRequest, pk: int) -> HttpResponse:
    return thread_page(request, pk, around=_number(request.GET.get("from", "")))


def thread_page(
    request: OperatorRequest,
    pk: int,
    *,
    around: int | None = None,
    typed: dict[str, Any] | None = None,
    status: int = 200,
) -> HttpResponse:
    reach, now = request.user.reach, timezone.now()
    post = get_object_or_404(reading.heads(reach=reach, now=now), pk=pk)
    if not post.is_post:
        place = reverse("surfaces:thread", args=[post.post_id])
        return redirect(f"{place}?message={pk}#m{pk}")
    asked = _number(request.GET.get("message", ""))
    found = reading.read(post, around=around or asked, reach=reach)
    current = found.find(asked) or found.pressing
    told = current or found.newest or found.root
    shown = {
        "thread": found,
        "post": post,
        "current": current,
        "told": told,
        "steps": _life(found, told.message),
        "held": {reader.item: reader for reader in found.readers if reader.is_draft},
        "printed": now,
        "reasons": WHY,
        "typed": typed,
    }
    return render(request, "surfaces/thread.html", shown, status=status)


def _life(found: reading.Thread, message: Message) -> list[timeline.Step]:
    return timeline.of_message(
        message,
        found.drafts.get(message.pk, []),
        maker=found.makers.get(message.pk),
        also=found.told.steps.get(message.pk, []),
        thresholds=found.thresholds,
    )


def _number(given: str) -> int | None:
    return int(given) if given.isascii() and given.isdigit() and len(given) < 19 else None
