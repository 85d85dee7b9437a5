"""The queue of the desk: pages of it, its menu, and the views people save."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from urllib.parse import parse_qsl, urlencode

from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from surfaces import pages, toasts
from surfaces.desk import kinds, queue, saved
from surfaces.desk.asked import AGES, ORDERS, RISKS, Asked
from surfaces.desk.deciding import LATER
from surfaces.requests import OperatorRequest
from surfaces.views.acting import sentences


@require_safe
def desk(request: OperatorRequest) -> HttpResponse:
    """The queue; what stands beside it is fetched when it is needed."""
    asked, now = Asked.of(request.GET.dict()), timezone.now()
    return render(request, "surfaces/desk/desk.html", _queue(request, asked, now))


@require_safe
def rows(request: OperatorRequest) -> HttpResponse:
    """The queue alone, or what follows it."""
    asked, now = Asked.of(request.GET.dict()), timezone.now()
    part = "_more" if request.GET.get("after") else "_queue"
    return render(request, f"surfaces/desk/{part}.html", _queue(request, asked, now))


@require_safe
def views(request: OperatorRequest) -> HttpResponse:
    """The saved views with how much each holds: asked for when their menu is opened."""
    asked = Asked.of(request.GET.dict())
    return render(request, "surfaces/desk/_views.html", _menu(request, asked, timezone.now()))


def _menu(request: OperatorRequest, asked: Asked, now: datetime) -> dict[str, Any]:
    """Views and kinds with their numbers, in the query that counts for the frame, too."""
    kept = saved.views_of(request.user)
    wanted = [asked, *(view.asked for view in kept)]
    found = _counted(request, wanted, now)
    numbers = [queue.capped(found[f"view {n}"].count) for n in range(len(wanted))]
    shown = [(kind, found[kind.name]) for kind in kinds.kinds().values()]
    return {
        "total": numbers[0], "views": list(zip(kept, numbers[1:], strict=True)), "kinds": shown,
        "asked": asked, "query": urlencode(asked.query()),
    }  # fmt: skip


def _counted(
    request: OperatorRequest, wanted: list[Asked], now: datetime
) -> dict[str, queue.Waiting]:
    also = pages.also(request.user)
    found = queue.counts(request.user.reach, now, views=wanted, also=also)
    request.waiting = found  # type: ignore[attr-defined]  # for the frame: see pages.Shell
    return found


def _queue(request: OperatorRequest, asked: Asked, now: datetime) -> dict[str, Any]:
    """A page of the queue; its menu only where it stands open."""
    is_open = "menu" in request.GET
    if is_open:
        shown = _menu(request, asked, now)
    else:
        total = _counted(request, [asked], now)["view 0"].words
        shown = {"total": total, "asked": asked, "query": urlencode(asked.query())}
    may_expire = any(waiting.expiring for waiting in request.waiting.values())  # type: ignore[attr-defined]
    after = request.GET.get("after", "")
    reach = request.user.reach
    page = queue.page(asked, reach, now, after, reader=request.user, may_expire=may_expire)
    return shown | {
        "page": page, "now": now, "is_open": is_open, "all_kinds": kinds.kinds().values(),
        "orders": ORDERS, "risks": RISKS, "ages": AGES, "later": LATER,
        "current": request.GET.get("current", ""),
    }  # fmt: skip


@require_POST
def save_view(request: OperatorRequest) -> HttpResponse:
    asked = Asked.of(dict(parse_qsl(request.POST.get("query", ""))))
    with sentences(request):
        is_shared = request.POST.get("shared") == "1"
        row = saved.save(request.user, request.POST.get("name", ""), asked, is_shared=is_shared)
        toasts.say(request, f"Saved as {row.name}.")
    return redirect(f"{reverse('surfaces:desk')}?{urlencode(asked.query())}")


@require_POST
def remove_view(request: OperatorRequest, pk: int) -> HttpResponse:
    with sentences(request):
        again = saved.remove(request.user, pk)
        toasts.say(request, f"Removed the view {again['name']}.",
                   undo=reverse("surfaces:save_view"), **again)  # fmt: skip
    return redirect("surfaces:desk")
