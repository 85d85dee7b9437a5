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
    ours = asked.startswith("/") and url_has_allowed_host_and_scheme(asked, allowed_hosts=None)
    return HttpResponseRedirect(asked) if ours else redirect(to, *args)
