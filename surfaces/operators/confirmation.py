"""Ask a signed-in operator for the password again before what could lock them out.

The page that asks carries what was posted in hidden fields and posts to the same address, so
nothing typed is lost and the act goes on at once. A right password counts for five minutes.
"""

from collections.abc import Callable, MutableMapping
from datetime import datetime, timedelta
from functools import wraps
from typing import Any, Concatenate, ParamSpec

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.debug import sensitive_post_parameters

from surfaces.errors import NotAllowed, RuleBroken
from surfaces.operators import sign_in
from surfaces.web.requests import OperatorRequest, client_ip
from surfaces.web.responses import is_local_path, page_before

P = ParamSpec("P")
View = Callable[Concatenate[OperatorRequest, P], HttpResponse]

GRACE = timedelta(minutes=5)
CONFIRMED = "password_confirmed_at"
FIELD, TO_READ = "confirm_password", "confirm_to_read"
OURS = {"csrfmiddlewaretoken", FIELD, TO_READ}
Session = MutableMapping[str, Any]


def remember(session: Session, now: datetime) -> None:
    """The password was given just now. Ends with the session."""
    session[CONFIRMED] = now.timestamp()


def is_confirmed(session: Session, now: datetime) -> bool:
    age = now.timestamp() - float(session.get(CONFIRMED, 0))
    return 0 <= age <= GRACE.total_seconds()


def password_confirmed(view: View[P]) -> View[P]:
    """Ask before a POST."""
    return _guarded(view, lambda request: request.method == "POST")


def password_confirmed_to_read(view: View[P]) -> View[P]:
    """Ask before the page is shown, too."""
    return _guarded(view, lambda request: True)


def _guarded(view: View[P], asks: Callable[[HttpRequest], bool]) -> View[P]:
    @wraps(view)
    @sensitive_post_parameters(FIELD)
    def guarded(request: OperatorRequest, /, *args: P.args, **kwargs: P.kwargs) -> HttpResponse:
        asked = ask(request) if asks(request) else None
        return asked or view(request, *args, **kwargs)

    return guarded


def ask(request: OperatorRequest) -> HttpResponse | None:
    """The page that asks for the password; None where it was given."""
    now, given = timezone.now(), request.POST.get(FIELD)
    if is_confirmed(request.session, now):
        return redirect(request.get_full_path()) if TO_READ in request.POST else None
    why, status = "", 200
    if given is not None:
        try:
            sign_in.check_password(
                request.user, given, address=client_ip(request), browser=known(request), now=now
            )
        except RuleBroken as error:
            why, status = str(error), 429 if isinstance(error, NotAllowed) else 422
        else:
            remember(request.session, now)
            return redirect(request.get_full_path()) if TO_READ in request.POST else None
    return _page(request, why, status)


def known(request: HttpRequest) -> str:
    """The cookie of a browser that somebody signed in with before."""
    return request.COOKIES.get(settings.KNOWN_BROWSER_COOKIE_NAME, "")


def _page(request: OperatorRequest, why: str, status: int) -> HttpResponse:
    posted = request.POST.lists() if request.method == "POST" else ()
    kept = [(name, one) for name, many in posted for one in many if name not in OURS]
    reads = request.method != "POST" or TO_READ in request.POST
    back = request.POST.get("confirm_back", "")
    shown = {
        "kept": kept,
        "why": why,
        "to_read": reads,
        "action": request.get_full_path(),
        "back": back if is_local_path(back) else page_before(request),
    }
    page = render(request, "surfaces/operators/confirm_password.html", shown, status=status)
    if request.htmx:  # htmx shows an answer of 200 only, and this one is a whole page
        page.status_code = 200
        page["HX-Retarget"], page["HX-Reswap"] = "body", "innerHTML"
    return page
