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

DECIDES = _lazy("Your role is viewer: it reads everything and decides nothing. Ask a moderator.")
MANAGES = _lazy("Only administrators connect accounts and change settings. Ask one of them.")


def moderator_required(view: View[R, P]) -> View[R, P]:
    return _guarded(view, lambda user: bool(user.may_decide), DECIDES)


def admin_required(view: View[R, P]) -> View[R, P]:
    return _guarded(view, lambda user: bool(user.may_manage), MANAGES)


def _guarded(view: View[R, P], allows: Callable[[Any], bool], why: str | Promise) -> View[R, P]:
    @wraps(view)
    def guarded(request: R, /, *args: P.args, **kwargs: P.kwargs) -> HttpResponse:
        if not allows(request.user):
            raise PermissionDenied(why)
        return view(request, *args, **kwargs)

    return guarded
