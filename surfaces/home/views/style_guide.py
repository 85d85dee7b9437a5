"""The living page of the design language, for people who build these pages."""

from django.conf import settings
from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from surfaces.home import style_guide as parts
from surfaces.operators.permissions import admin_required
from surfaces.web.requests import OperatorRequest


@require_safe
@admin_required
def components(request: OperatorRequest) -> HttpResponse:
    if not settings.STYLE_GUIDE:
        raise Http404
    return render(request, "surfaces/home/style_guide.html", parts.shown(request.user))
