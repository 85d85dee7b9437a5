"""Refuse what cannot be read or stored before any view sees it."""

from collections.abc import Callable
from urllib.parse import unquote_to_bytes

from django.core.exceptions import BadRequest
from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext as _

Respond = Callable[[HttpRequest], HttpResponse]


def refuse_unreadable(respond: Respond) -> Respond:
    """Answer 400 to NUL in the path, query or form, and to a query that is not UTF-8.
    No column keeps NUL, and no browser sends it by itself.
    """

    def middleware(request: HttpRequest) -> HttpResponse:
        query = request.META.get("QUERY_STRING", "").encode("latin-1", "backslashreplace")
        try:
            texts = [request.path_info, unquote_to_bytes(query).decode()]
        except UnicodeDecodeError as error:
            words = _("The address is not valid UTF-8. Open the page from the menu again.")
            raise BadRequest(words) from error
        for name, values in request.POST.lists():
            texts += [name, *map(str, values)]
        if any("\0" in text for text in texts):
            raise BadRequest(_("The request contains a NUL character. Remove it and try again."))
        return respond(request)

    return middleware
