"""In-process HTTP transport for the built-in hub.

To its adapter the hub is an ordinary HTTP surface, and the adapter stays free of Django. Other
hosts are refused, so that a key is never sent elsewhere.
"""

import json
from collections.abc import Callable
from datetime import datetime

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
        url, now = request.url, self._clock()
        try:
            body = json.loads(request.read() or b"null")
        except ValueError:
            return httpx.Response(400, json={"error": "The body is not JSON."}, request=request)
        try:
            status, said = hub_api.answer(
                request.method, url.path, dict(url.params), body, request.headers, now=now
            )
        except DatabaseError:
            # Whether the change was kept is not known: the adapter finds out by looking.
            status, said = 500, {"error": "The hub's database failed."}
        return httpx.Response(status, json=said, request=request)
