"""Refuse what cannot be read or stored before any view sees it."""

from collections.abc import Callable
from urllib.parse import unquote_to_bytes

from django.core.exceptions import BadRequest
from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext as _
from django_htmx.middleware import HtmxDetails

Respond = Callable[[HttpRequest], HttpResponse]


def drop_unreadable_cookies(respond: Respond) -> Respond:
    """Ignore a cookie with NUL, which is none of ours; sessions are looked up by their cookie."""

    def middleware(request: HttpRequest) -> HttpResponse:
        request.COOKIES = {n: value for n, value in request.COOKIES.items() if "\0" not in value}
        return respond(request)

    return middleware


def refuse_unreadable(respond: Respond) -> Respond:
    """Answer 400 to NUL in the path, query or form, and to an address that is none.

    No column keeps NUL, and no browser sends it by itself.
    """

    def middleware(request: HttpRequest) -> HttpResponse:
        texts = [request.path_info, _query_of(request), _page_of(request)]
        for name, values in request.POST.lists():
            texts += [name, *map(str, values)]
        if any("\0" in text for text in texts):
            raise BadRequest(_("The request contains a NUL character. Remove it and try again."))
        return respond(request)

    return middleware


def _query_of(request: HttpRequest) -> str:
    raw = request.META.get("QUERY_STRING", "").encode("latin-1", "backslashreplace")
    try:
        return unquote_to_bytes(raw).decode()
    except UnicodeDecodeError as error:
        raise BadRequest(
            _("The address is not valid UTF-8. Open the page from the menu again.")
        ) from error


def _page_of(request: HttpRequest) -> str:
    """The page that htmx says the request comes from."""
    try:
        return HtmxDetails(request).current_url_abs_path or ""
    except ValueError as error:
        raise BadRequest(_("The header HX-Current-URL is not a valid URL.")) from error
