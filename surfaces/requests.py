"""A request as our views see it: somebody signed in, and htmx looked at."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.http import HttpRequest

if TYPE_CHECKING:
    from django_htmx.middleware import HtmxDetails

    from surfaces.models import Operator


class OperatorRequest(HttpRequest):
    """For annotations only; `LoginRequiredMiddleware` and `HtmxMiddleware` make it true."""

    user: Operator
    htmx: HtmxDetails
