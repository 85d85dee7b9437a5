"""Refuse what cannot be read or stored before any view sees it."""

from collections.abc import Callable
from urllib.parse import unquote_to_bytes

from django.core.exceptions import BadRequest
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.template.loader import render_to_string
from django.utils.translation import gettext as _
from django_htmx.middleware import HtmxDetails

Respond = Callable[[HttpRequest], HttpResponse]


def drop_unreadable_cookies(respond: Respond) -> Respond:
    """Ignore a cookie with NUL, which is none of ours; sessions are looked up by their cookie."""

    def middleware(request: HttpRequest) -> HttpResponse:
        request.COOKIES = {n: value for n, value in request.COOKIES.items() if "\0" not in value}
        return respond(request)

    return middleware


def refuse_charset(respond: Respond) -> Respond:
    """Answer 400 to a charset that is not UTF-8."""

    def middleware(request: HttpRequest) -> HttpResponse:
        named = (request.content_params or {}).get("charset", "utf-8")
        if named.strip("\"' ").lower() not in {"utf-8", "utf8"}:
            raise BadRequest(_("The charset of the request is not UTF-8. Send it as UTF-8."))
        return respond(request)

    return middleware


def explain_wrong_method(respond: Respond) -> Respond:
    """Say what an address accepts, where Django answers 405 without a word."""

    def middleware(request: HttpRequest) -> HttpResponse:
        response = respond(request)
        if response.status_code == 405 and not response.content:
            return _wrong_method(request, response["Allow"])
        return response

    return middleware


def _wrong_method(request: HttpRequest, allowed: str) -> HttpResponse:
    headers = {"Allow": allowed}
    if request.path.startswith("/api/"):
        error = _("The method %(method)s is not allowed here.") % {"method": request.method}
        return JsonResponse({"error": error}, status=405, headers=headers)
    words = _("This address accepts no form. Go back to the previous page.")
    if request.method in {"GET", "HEAD"}:
        words = _("This address only accepts form submissions. Go back to the previous page.")
    shown = {"title": _("Method not allowed"), "words": words, "status": 405}
    page = render_to_string("surfaces/web/error.html", shown)
    return HttpResponse(page, status=405, headers=headers)


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
