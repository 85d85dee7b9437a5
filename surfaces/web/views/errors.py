"""Error pages."""

from django.contrib.auth.decorators import login_not_required
from django.core.exceptions import BadRequest
from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string
from django.utils.html import format_html
from django.utils.translation import gettext as _
from django_htmx.http import reswap, retarget


@login_not_required
def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    words = _(
        "Its security token is no longer valid, so nothing was saved. Go back, reload the page and"
        " try again."
    )
    return _stop(403, _("The form has expired"), words)


@login_not_required
def not_allowed(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    why = str(exception or "") or _("Your role does not allow this.")
    return _stop(403, _("Permission denied"), _("%(why)s Nothing was changed.") % {"why": why})


@login_not_required
def not_found(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    return _stop(
        404,
        _("Page not found"),
        _("The address is wrong, the item was deleted, or you have no access to it."),
    )


@login_not_required
def broken(request: HttpRequest) -> HttpResponse:
    words = _(
        "The error was logged. Your action may not have been completed; check before you repeat it."
    )
    return _stop(500, _("Internal error"), words)


def _stop(status: int, title: str, words: str) -> HttpResponse:
    """Say why it stopped, without asking the database: it may be the reason."""
    shown = {"title": title, "words": words, "status": status}
    return HttpResponse(render_to_string("surfaces/web/error.html", shown), status=status)


@login_not_required
def bad_request(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    usual = _("The request cannot be read. Open the page from the menu and try again.")
    words = str(exception) if isinstance(exception, BadRequest) else usual
    if "HX-Request" not in request.headers:
        return _stop(400, _("Bad request"), words)
    # What was typed stays where it is.
    toast = format_html('<div class="toast bad" role="alert">{}</div>', words)
    return reswap(retarget(HttpResponse(toast, status=400), "#toasts"), "innerHTML")
