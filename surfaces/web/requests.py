"""What our views read of a request, checked once: who asks, from where, and which ids are named."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from django.conf import settings
from django.core.exceptions import BadRequest
from django.http import HttpRequest
from django.utils.translation import gettext as _

if TYPE_CHECKING:
    from django_htmx.middleware import HtmxDetails

    from surfaces.operators.models.operator import Operator


class OperatorRequest(HttpRequest):
    """For annotations only; `SignInRequired` and `HtmxMiddleware` make it true."""

    user: Operator
    htmx: HtmxDetails


def client_ip(request: HttpRequest) -> str:
    """Behind a proxy (https) its last word in X-Forwarded-For, never an earlier one."""
    forwarded = request.headers.get("X-Forwarded-For", "")
    if settings.SECURE_PROXY_SSL_HEADER and forwarded:
        return forwarded.rsplit(",", 1)[-1].strip()
    return str(request.META.get("REMOTE_ADDR", ""))


def parse_id(text: str) -> int | None:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 19 else None


def int_param(values: Mapping[str, str], name: str) -> int | None:
    """The number `name` in a query or form; None where it is missing or empty."""
    text = values.get(name, "")
    number = parse_id(text)
    if text and number is None:
        raise bad_value(name, text)
    return number


def bad_value(name: str, text: str) -> BadRequest:
    """What to raise for a value that no page of ours sends. It is answered with status 400."""
    words = _("“%(value)s” is not a valid value for “%(name)s”. Open the page from the menu again.")
    return BadRequest(words % {"value": text[:40], "name": name})
