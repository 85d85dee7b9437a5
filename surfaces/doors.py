"""Who may pass where. Reading is for every role; deciding and managing are not."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse

P = ParamSpec("P")
R = TypeVar("R", bound=HttpRequest)
View = Callable[Concatenate[R, P], HttpResponse]

DECIDES = "Your role is viewer: it reads everything and decides nothing. Ask a moderator."
MANAGES = "Only administrators connect accounts and change settings. Ask one of them."


def may_decide(view: View[R, P]) -> View[R, P]:
    """Let moderators and administrators pass."""
    return _guarded(view, lambda user: bool(user.may_decide), DECIDES)


def may_manage(view: View[R, P]) -> View[R, P]:
    """Let administrators pass."""
    return _guarded(view, lambda user: bool(user.may_manage), MANAGES)


def _guarded(view: View[R, P], allows: Callable[[Any], bool], why: str) -> View[R, P]:
    @wraps(view)
    def guarded(request: R, /, *args: P.args, **kwargs: P.kwargs) -> HttpResponse:
        if not allows(request.user):
            raise PermissionDenied(why)
        return view(request, *args, **kwargs)

    return guarded
