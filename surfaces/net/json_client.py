"""A JSON HTTP client pinned to the base URL of one account.

Absolute URLs and redirects are refused, so a credential cannot travel. A call has one deadline
for all of it. An answer is dropped while it arrives when it is larger than 8 MB, before it is
read when it is compressed, and before it is parsed when that would take too much memory.
"""

import json
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any
from urllib.parse import quote

import httpx

from surfaces.errors import Refused, SurfaceError, TryLater, Unconfirmed
from surfaces.net.transport import DeadlineTransport
from surfaces.text.reasons import reason, reason_of

LARGEST_ANSWER = 8 * 1024 * 1024  # bytes
MOST_PIECES = 50_000  # that an answer may be sent in: each takes time of the whole process
MOST_VALUES = 100_000  # in one answer: a small value takes up to 50 times its bytes in memory
LARGEST_TEXT = 16 * 1024 * 1024  # bytes in memory of an answer as text
LONGEST_CALL = 40.0  # seconds in all, whatever trickles in
QUOTE = ord('"')
# A text, as a whole; or what begins a further value. No pattern here ever goes back.
_VALUES = re.compile(rb'"(?:[^"\\]++|\\.)*+"?|[\[{,]', re.DOTALL)
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
            # A small answer may unpack to any size, so none is taken that is packed.
            headers={"Accept": "application/json", "Accept-Encoding": "identity", **headers},
            timeout=TIMEOUT,
            transport=transport
            or DeadlineTransport(seconds=LONGEST_CALL, most_bytes=LARGEST_ANSWER),
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
        except httpx.TimeoutException as error:
            raise lost("service.answer_too_slow") from error
        except httpx.TransportError as error:
            raise lost("service.connection_broke") from error

    def _read(self, request: httpx.Request, lost: type[SurfaceError]) -> JsonResponse:
        response = self._client.send(request, stream=True)
        try:
            if response.is_redirect:
                # What a write did before it was redirected is unknown.
                why = "service.redirect"
                raise Refused(why) if request.method == "GET" else Unconfirmed(why)
            if not is_packed(response):
                data, is_json = parsed(_body(response, lost))
            elif response.is_success:
                raise lost("service.packed")
            else:  # what its status and headers say counts
                data, is_json = None, False
        except TooCostly as error:
            raise lost("service.too_costly") from error
        finally:
            response.close()
        return JsonResponse(
            status=response.status_code, headers=response.headers, data=data, is_json=is_json
        )


class TooCostly(Exception):
    """The JSON would take more memory than its bytes let expect."""


def is_packed(response: httpx.Response) -> bool:
    named = response.headers.get_list("content-encoding", split_commas=True)
    return any(name.lower() not in {"", "identity"} for name in named)


def _body(response: httpx.Response, lost: type[SurfaceError]) -> bytearray:
    body = bytearray()
    for pieces, piece in enumerate(response.iter_bytes()):
        body += piece
        if pieces > MOST_PIECES:
            raise lost("service.too_many_pieces")
        if len(body) > LARGEST_ANSWER:
            raise lost("service.answer_too_large")
    return body


def parsed(body: bytes | bytearray) -> tuple[Any, bool]:
    """The JSON value and True, or None and False. Raises `TooCostly`, before parsing."""
    # The quick count includes what stands in texts; only a large one is counted with care.
    if body.count(b",") + body.count(b"[") + body.count(b"{") > MOST_VALUES:
        begun = 0
        for found in _VALUES.finditer(body):
            begun += body[found.start()] != QUOTE
            if begun > MOST_VALUES:
                raise TooCostly
    try:
        text = body.decode(json.detect_encoding(body), "surrogatepass")
        if sys.getsizeof(text) > LARGEST_TEXT:  # one wide character makes all of them wide
            raise TooCostly
        return json.loads(text), True
    except (ValueError, RecursionError):
        return None, False


def at(template: str, remote_id: str) -> str:
    """Quote an id for a path. Ids come from the service and may contain slashes."""
    return template.format(quote(remote_id, safe=""))


def http_date(value: str) -> datetime | None:
    try:
        moment = parsedate_to_datetime(value)
    except (ValueError, TypeError, OverflowError):
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
