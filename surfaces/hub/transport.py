"""In-process HTTP transport for the built-in hub.

To its adapter the hub is an ordinary HTTP surface, and the adapter stays free of Django. Other
hosts are refused, so that a key is never sent elsewhere.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import datetime
from typing import Any

import httpx
from django.db import DatabaseError
from django.utils import timezone

from surfaces.hub import api as hub_api

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
        return hub_api.answer(
            request.method,
            request.url.path,
            dict(request.url.params),
            body,
            request.headers,
            now=self._clock(),
        )
