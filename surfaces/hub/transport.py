"""Answer the hub's adapter inside this process, as if it had asked over the wire.

So the built-in hub is an ordinary HTTP surface to its adapter, and the adapter
stays free of Django. Any other host is refused: a key never travels by mistake.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import datetime
from typing import Any

import httpx
from django.db import DatabaseError
from django.utils import timezone

from surfaces.hub import service

HOST = "hub.internal"


class HubTransport(httpx.BaseTransport):
    def __init__(self, *, clock: Callable[[], datetime] = timezone.now) -> None:
        self._clock = clock

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        if request.url.host != HOST:
            raise httpx.ConnectError(f"only {HOST} is answered here", request=request)
        try:
            status, said = self._answer(request)
        except DatabaseError:
            # Whether the change was kept is not known: the adapter finds out by looking.
            status, said = 500, {"error": "The hub's database failed."}
        return httpx.Response(status, json=said, request=request)

    def _answer(self, request: httpx.Request) -> tuple[int, dict[str, Any]]:
        try:
            body = json.loads(request.read() or b"null")
        except ValueError:
            return 400, {"error": "The body is not JSON."}
        return service.answer(
            request.method,
            request.url.path,
            dict(request.url.params),
            body,
            request.headers,
            now=self._clock(),
        )
