"""Speak JSON with one service, and never with anybody else.

A `Wire` is pinned to the base URL of its account: absolute URLs and redirects
are refused, so a credential cannot travel. Timeouts are always on, and an
answer larger than 8 MB is dropped while it arrives.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import httpx

from surfaces.errors import Refused, SurfaceError, TryLater, Unconfirmed

LARGEST_ANSWER = 8 * 1024 * 1024  # bytes
LONGEST_CALL = 40.0  # seconds in all, whatever trickles in
# A header, a scheme or a port that no request can carry: nothing left.
UNMADE = (httpx.LocalProtocolError, httpx.UnsupportedProtocol, httpx.InvalidURL, OverflowError)
TIMEOUT = httpx.Timeout(15.0, connect=5.0, pool=5.0)  # seconds per phase


@dataclass(frozen=True, kw_only=True, slots=True)
class Answer:
    """An answer of any status. `data` is the parsed JSON, None where there was none."""

    status: int
    headers: httpx.Headers
    data: Any
    is_json: bool
    text: str  # the beginning of the body, for sentences to operators only

    @property
    def is_success(self) -> bool:
        return 200 <= self.status < 300


class Wire:
    """One pinned, capped, patient connection. The caller judges the status."""

    def __init__(
        self,
        base_url: str,
        *,
        headers: Mapping[str, str],
        transport: httpx.BaseTransport | None = None,
        timeout: httpx.Timeout = TIMEOUT,
    ) -> None:
        self._client = httpx.Client(
            base_url=base_url,
            headers={"Accept": "application/json", **headers},
            timeout=timeout,
            transport=transport,
            follow_redirects=False,
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
    ) -> Answer:
        """Make one request.

        Raises `TryLater` when it certainly did not happen, `Unconfirmed` when a
        write may have, and `Refused` for a redirect or a path that leaves the host.
        """
        if not path.startswith("/") or path.startswith("//"):
            raise Refused(f"the path {path[:80]!r} would leave the service")
        lost = TryLater if method == "GET" else Unconfirmed
        try:
            return self._read(
                self._client.build_request(
                    method, path, params=dict(params or {}), json=body, headers=dict(headers or {})
                ),
                lost,
            )
        except (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout) as error:
            raise TryLater("the service could not be reached", asked=False) from error
        except UNMADE as error:
            raise TryLater(f"the request could not be made: {error}", asked=False) from error
        except httpx.TransportError as error:
            raise lost("the connection broke after we had asked") from error
        except httpx.DecodingError as error:
            raise lost("the answer could not be unpacked") from error

    def _read(self, request: httpx.Request, lost: type[SurfaceError]) -> Answer:
        started = time.monotonic()
        response = self._client.send(request, stream=True)
        try:
            if response.is_redirect:
                raise Refused("the service answered with a redirect; check the base URL")
            chunks, size = [], 0
            for chunk in response.iter_bytes(65536):
                chunks.append(chunk)
                size += len(chunk)
                if size > LARGEST_ANSWER:
                    raise lost("the answer is larger than 8 MB")
                if time.monotonic() - started > LONGEST_CALL:
                    raise lost("the answer took too long to arrive")
        finally:
            response.close()
        return _answer(response, b"".join(chunks))


def _answer(response: httpx.Response, raw: bytes) -> Answer:
    data, is_json = _parse(raw)
    return Answer(
        status=response.status_code,
        headers=response.headers,
        data=data,
        is_json=is_json,
        text=raw[:300].decode("utf-8", "replace"),
    )


def _parse(raw: bytes) -> tuple[Any, bool]:
    try:
        return json.loads(raw), True
    except (ValueError, RecursionError):
        return None, False
