"""Helpers of views with actions: errors as toasts, safe redirects."""

from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import urlsplit

from django.forms import BaseForm
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import redirect
from django.utils.http import url_has_allowed_host_and_scheme

from surfaces.errors import RuleBroken
from surfaces.web import toasts


@contextmanager
def rule_errors_as_toasts(request: HttpRequest) -> Iterator[None]:
    """Turn a broken rule into its sentence on the next page."""
    try:
        yield
    except RuleBroken as error:
        toasts.show_error(request, error)


@contextmanager
def rule_errors_in_form(form: BaseForm, field: str | None = None) -> Iterator[None]:
    """Put the sentence of a broken rule where the form shows it."""
    try:
        yield
    except RuleBroken as error:
        form.add_error(field, str(error))


def redirect_back(request: HttpRequest, to: str, *args: object) -> HttpResponse:
    """Go where the form says, if that is a path of ours, else to `to`."""
    asked = request.POST.get("next", "")
    return HttpResponseRedirect(asked) if is_local_path(asked) else redirect(to, *args)


def is_local_path(page: str) -> bool:
    """Whether `page` is a path of ours: it comes from a form or an address, so from anybody."""
    return page.startswith("/") and url_has_allowed_host_and_scheme(page, allowed_hosts=None)


def page_before(request: HttpRequest) -> str:
    """The page of ours that a form was sent from."""
    page, here = request.headers.get("Referer", ""), {request.get_host()}
    if not url_has_allowed_host_and_scheme(page, here, require_https=request.is_secure()):
        return "/"
    parts = urlsplit(page)
    return f"{parts.path or '/'}?{parts.query}" if parts.query else parts.path or "/"
