"""Pages of the queue, its menu, and saved views."""

from datetime import datetime
from typing import Any
from urllib.parse import parse_qsl, urlencode

from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from surfaces.desk import kinds, queue, saved_views
from surfaces.desk.decisions import LATER
from surfaces.desk.filters import AGES, ORDERS, RISKS, DeskFilters
from surfaces.home import frame
from surfaces.web import toasts
from surfaces.web.requests import OperatorRequest
from surfaces.web.responses import rule_errors_as_toasts


@require_safe
def desk(request: OperatorRequest) -> HttpResponse:
    asked, now = DeskFilters.of(request.GET.dict()), timezone.now()
    return render(request, "surfaces/desk/queue.html", _queue(request, asked, now))


@require_safe
def rows(request: OperatorRequest) -> HttpResponse:
    asked, now = DeskFilters.of(request.GET.dict()), timezone.now()
    part = "_more" if request.GET.get("after") else "_queue"
    return render(request, f"surfaces/desk/{part}.html", _queue(request, asked, now))


@require_safe
def views(request: OperatorRequest) -> HttpResponse:
    """The saved views with how much each holds: asked for when their menu is opened."""
    asked = DeskFilters.of(request.GET.dict())
    return render(request, "surfaces/desk/_views.html", _menu(request, asked, timezone.now()))


def _menu(request: OperatorRequest, asked: DeskFilters, now: datetime) -> dict[str, Any]:
    """Views and kinds with their numbers, in one query that counts for the frame, too."""
    kept = saved_views.views_of(request.user)
    wanted = [asked, *(view.asked for view in kept)]
    found = _counted(request, wanted, now)
    numbers = [queue.capped(found[f"view {n}"].count) for n in range(len(wanted))]
    shown = [(kind, found[kind.name]) for kind in kinds.kinds().values()]
    return {
        "total": numbers[0], "views": list(zip(kept, numbers[1:], strict=True)), "kinds": shown,
        "asked": asked, "query": urlencode(asked.query()), "shell": frame.PageFrame(request, found),
    }  # fmt: skip


def _counted(
    request: OperatorRequest, wanted: list[DeskFilters], now: datetime
) -> dict[str, queue.WaitingCounts]:
    return queue.counts(request.user.reach, now, views=wanted, also=frame.also(request.user))


def _queue(request: OperatorRequest, asked: DeskFilters, now: datetime) -> dict[str, Any]:
    """A page of the queue; its menu only where it stands open."""
    is_open = "menu" in request.GET
    if is_open:
        shown = _menu(request, asked, now)
    else:
        found = _counted(request, [asked], now)
        shown = {
            "total": found["view 0"].words, "asked": asked, "query": urlencode(asked.query()),
            "shell": frame.PageFrame(request, found),
        }  # fmt: skip
    may_expire = any(waiting.expiring for waiting in shown["shell"].waiting.values())
    reach = request.user.reach
    page = queue.page(asked, reach, now, request.GET, reader=request.user, may_expire=may_expire)
    return shown | {
        "page": page, "now": now, "is_open": is_open, "all_kinds": kinds.kinds().values(),
        "orders": ORDERS, "risks": RISKS, "ages": AGES, "later": LATER,
        "current": request.GET.get("current", ""),
    }  # fmt: skip


@require_POST
def save_view(request: OperatorRequest) -> HttpResponse:
    asked = DeskFilters.of(dict(parse_qsl(request.POST.get("query", ""))))
    with rule_errors_as_toasts(request):
        name, is_shared = request.POST.get("name", ""), request.POST.get("shared") == "1"
        row = saved_views.save(request.user, name, asked, is_shared=is_shared)
        toasts.show_toast(request, _("Saved as %(name)s.") % {"name": row.name})
    return redirect(f"{reverse('surfaces:desk')}?{urlencode(asked.query())}")


@require_POST
def remove_view(request: OperatorRequest, pk: int) -> HttpResponse:
    with rule_errors_as_toasts(request):
        again = saved_views.remove(request.user, pk)
        toasts.show_toast(request, _("Deleted the view %(again)s.") % {"again": again["name"]},
                   undo=reverse("surfaces:save_view"), **again)  # fmt: skip
    return redirect("surfaces:desk")
