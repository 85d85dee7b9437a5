"""View decorators for roles. Every role may read."""

from collections.abc import Callable
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _lazy

P = ParamSpec("P")
R = TypeVar("R", bound=HttpRequest)
View = Callable[Concatenate[R, P], HttpResponse]

DECIDES = _lazy("Viewers can read but not decide. Ask a moderator.")
MANAGES = _lazy("Only administrators can do this. Ask one of them.")
OPENS = _lazy("Only administrators can open this page.")


def moderator_required(view: View[R, P]) -> View[R, P]:
    return _guarded(view, lambda user: bool(user.may_decide), DECIDES)


def admin_required(view: View[R, P]) -> View[R, P]:
    return _guarded(view, lambda user: bool(user.may_manage), MANAGES, to_read=OPENS)


def _guarded(
    view: View[R, P],
    allows: Callable[[Any], bool],
    why: str | Promise,
    *,
    to_read: str | Promise = "",
) -> View[R, P]:
    @wraps(view)
    def guarded(request: R, /, *args: P.args, **kwargs: P.kwargs) -> HttpResponse:
        if not allows(request.user):
            reads = request.method in {"GET", "HEAD"}
            raise PermissionDenied(to_read if reads and to_read else why)
        return view(request, *args, **kwargs)

    return guarded
