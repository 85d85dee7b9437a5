"""Threads: the posts we watch, and one of them as a tree."""

from dataclasses import replace

from django.http import HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext_lazy as _lazy
from django.views.decorators.http import require_safe

from surfaces.messages import listing as message_listing
from surfaces.messages.filters import Filters
from surfaces.messages.models import Direction, MessageKind
from surfaces.threads import listing as thread_listing
from surfaces.threads.render import thread_page
from surfaces.web.requests import OperatorRequest, int_param

WHOSE = [
    (_lazy("All"), ""),
    (_lazy("Ours"), Direction.OUTGOING),
    (_lazy("By others"), Direction.INCOMING),
]


@require_safe
def threads(request: OperatorRequest) -> HttpResponse:
    asked = Filters.of(request.GET, within=request.user.reach.accounts)
    filters = replace(asked, kind=MessageKind.POST)
    page = message_listing.list_messages(filters, request.GET)
    shown = {
        "page": page,
        "filters": filters,
        "news": thread_listing.news_of(page.rows, request.user.reach),
        "whose": [
            (name, replace(filters, direction=value).query(), value == filters.direction)
            for name, value in WHOSE
        ],
    }
    return render(request, "surfaces/threads/list.html", shown)


@require_safe
def thread(request: OperatorRequest, pk: int) -> HttpResponse:
    return thread_page(request, pk, around=int_param(request.GET, "from"))
