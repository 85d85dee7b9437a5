"""The living page of the design language, for who builds these pages."""

from __future__ import annotations

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from surfaces import components as parts
from surfaces.doors import may_manage
from surfaces.requests import OperatorRequest


@require_safe
@may_manage
def components(request: OperatorRequest) -> HttpResponse:
    return render(request, "surfaces/components.html", parts.shown(request.user))
