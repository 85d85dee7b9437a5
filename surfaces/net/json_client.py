"""A JSON HTTP client pinned to the base URL of one account.

Absolute URLs and redirects are refused, so a credential cannot travel. Timeouts are always on,
and an answer larger than 8 MB is dropped while it arrives.
"""

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any
from urllib.parse import quote

import httpx

from surfaces.errors import Refused, SurfaceError, TryLater, Unconfirmed
from surfaces.net.safe_urls import trusted_context
from surfaces.text.reasons import reason, reason_of

LARGEST_ANSWER = 8 * 1024 * 1024  # bytes
LONGEST_CALL = 40.0  # seconds in all, whatever trickles in
# A header, a scheme or a port that no request can carry: nothing left.
UNMADE = (httpx.LocalProtocolError, httpx.UnsupportedProtocol, httpx.InvalidURL, OverflowError)
TIMEOUT = httpx.Timeout(15.0, connect=5.0, pool=5.0)  # seconds per phase


@dataclass(frozen=True, kw_only=True, slots=True)
class JsonResponse:
    """An answer of any status. `data` is the parsed JSON, None where there was none."""

    status: int
    headers: httpx.Headers
    data: Any
    is_json: bool

    @property
    def is_success(self) -> bool:
        return 200 <= self.status < 300


class JsonClient:
    """A pinned client with timeouts and size limits. The caller checks the status."""

    def __init__(
        self,
        base_url: str,
        *,
        headers: Mapping[str, str],
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        self._client = httpx.Client(
            base_url=base_url,
            headers={"Accept": "application/json", **headers},
            timeout=TIMEOUT,
            transport=transport,
            follow_redirects=False,
            verify=trusted_context(),
            trust_env=False,
        )

    def close(self) -> None:
        self._client.close()

    def call(
        self,
        method: str,
        path: str,
        *,
        params: Mapping[str, str | int] | None = None,
        body: Mapping[str, Any] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> JsonResponse:
        """Raises `TryLater` when it certainly did not happen, `Unconfirmed` when a write may have,
        and `Refused` for a redirected GET or a path that leaves the host.
        """
        if not path.startswith("/") or path.startswith("//"):
            raise Refused(reason("service.bad_path", path=repr(path[:80])))
        lost = TryLater if method == "GET" else Unconfirmed
        try:
            request = self._client.build_request(
                method, path, params=params or None, json=body, headers=dict(headers or {})
            )
            return self._read(request, lost)
        except (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout) as error:
            raise TryLater("service.not_reached", asked=False) from error
        except UNMADE as error:
            why = reason("service.not_made", error=reason_of(error))
            raise TryLater(why, asked=False) from error
        except httpx.TransportError as error:
            raise lost("service.connection_broke") from error
        except httpx.DecodingError as error:
            raise lost("service.not_unpacked") from error

    def _read(self, request: httpx.Request, lost: type[SurfaceError]) -> JsonResponse:
        started = time.monotonic()
        response = self._client.send(request, stream=True)
        try:
            if response.is_redirect:
                # What a write did before it was redirected is unknown.
                why = "service.redirect"
                raise Refused(why) if request.method == "GET" else Unconfirmed(why)
            chunks, size = [], 0
            for chunk in response.iter_bytes(65536):
                chunks.append(chunk)
                size += len(chunk)
                if size > LARGEST_ANSWER:
                    raise lost("service.answer_too_large")
                if time.monotonic() - started > LONGEST_CALL:
                    raise lost("service.answer_too_slow")
        finally:
            response.close()
        try:
            data, is_json = json.loads(b"".join(chunks)), True
        except (ValueError, RecursionError):
            data, is_json = None, False
        return JsonResponse(
            status=response.status_code, headers=response.headers, data=data, is_json=is_json
        )


def at(template: str, remote_id: str) -> str:
    """Quote an id for a path. Ids come from the service and may contain slashes."""
    return template.format(quote(remote_id, safe=""))


def http_date(value: str) -> datetime | None:
    try:
        moment = parsedate_to_datetime(value)
    except (ValueError, TypeError, OverflowError):
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
