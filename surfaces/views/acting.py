"""What every acting view shares: try a verb, say what came of it, go back."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import redirect
from django.utils.http import url_has_allowed_host_and_scheme

from surfaces import toasts
from surfaces.errors import RuleBroken


@contextmanager
def sentences(request: HttpRequest) -> Iterator[None]:
    """Turn a broken rule into its sentence on the next page."""
    try:
        yield
    except RuleBroken as error:
        toasts.refuse(request, error)


def back(request: HttpRequest, to: str, *args: object) -> HttpResponse:
    """Go where the form says, if that is a path of ours, else to `to`."""
    asked = request.POST.get("next", "")
    return HttpResponseRedirect(asked) if is_ours(asked) else redirect(to, *args)


def is_ours(page: str) -> bool:
    """Whether `page` is a path of ours: it comes from a form or an address, so from anybody."""
    return page.startswith("/") and url_has_allowed_host_and_scheme(page, allowed_hosts=None)
