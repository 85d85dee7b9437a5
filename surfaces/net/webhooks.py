"""Send one webhook request and classify the response.

Only the status of a response is kept, because it may echo the token. Redirects are not
followed, because their address was not checked.
"""

import base64
import binascii
import json
import re
import secrets
import ssl
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
from standardwebhooks import Webhook

from surfaces.errors import LONGEST_WAIT, BadInput
from surfaces.net.json_client import http_date
from surfaces.text.reasons import StoredReason, reason

SECONDS = 10.0  # for one call in all
MOST_READ = 64 * 1024  # bytes of an answer, read out of politeness
PREFIX = "whsec_"
SECRET_BYTES = (24, 64)  # as Standard Webhooks asks
LONGEST_TOKEN = 1_000  # characters
TOKEN = re.compile(r"[\x21-\x7e]+")  # what a header can carry, without blanks
GONE = 410
WHAT_TO_DO = {
    401: "call.bad_secret",
    403: "call.bad_secret_or_right",
    404: "call.nothing_there",
    405: "call.no_post",
    GONE: "call.no_more",
    429: "call.too_many",
}


@dataclass(frozen=True, kw_only=True, slots=True)
class WebhookCall:
    """One POST. Its headers may hold a token: never show them."""

    url: str
    headers: Mapping[str, str]
    content: bytes


@dataclass(frozen=True, kw_only=True, slots=True)
class CallResult:
    """Result of a request. `status` None: no response."""

    status: int | None = None
    why: StoredReason = field(default_factory=StoredReason)
    wait: timedelta | None = None  # what the answer asks for

    @property
    def is_taken(self) -> bool:
        return self.status is not None and 200 <= self.status < 300

    @property
    def is_overwhelmed(self) -> bool:
        """Whether the receiver is overloaded, also for other events."""
        return self.status is None or self.status == 429 or self.status >= 500


def new_secret() -> str:
    return base64.b64encode(secrets.token_bytes(32)).decode("ascii")


def checked_secret(given: str) -> str:
    given = given.strip().removeprefix(PREFIX)
    try:
        raw = base64.b64decode(given + "=" * (-len(given) % 4), validate=True)
    except (binascii.Error, ValueError) as error:
        raise BadInput("secret.no_base64") from error
    least, most = SECRET_BYTES
    if not least <= len(raw) <= most:
        raise BadInput(reason("secret.wrong_size", raw=len(raw), least=least, most=most))
    return base64.b64encode(raw).decode("ascii")


def checked_token(given: str) -> str:
    given = given.strip()
    if len(given) > LONGEST_TOKEN:
        raise BadInput(reason("token.too_long", longest_token=LONGEST_TOKEN))
    if not TOKEN.fullmatch(given):
        raise BadInput("token.not_plain")
    return given


def signed_call(
    url: str, body: Mapping[str, Any], *, key: str, secret: str, at: datetime
) -> WebhookCall:
    """As Standard Webhooks says: https://www.standardwebhooks.com."""
    content, moment = _json(body), at.astimezone(UTC)
    headers = {
        "webhook-id": key,
        "webhook-timestamp": str(int(moment.timestamp())),
        "webhook-signature": Webhook(secret).sign(key, moment, content),
    }
    return WebhookCall(url=url, headers=headers, content=content.encode())


def openclaw_call(url: str, text: str, *, key: str, token: str) -> WebhookCall:
    """As OpenClaw's gateway wants to be woken. It ignores the id; who stands before it may not."""
    headers = {"Authorization": f"Bearer {token}", "webhook-id": key}
    content = _json({"text": text, "mode": "now"}).encode()
    return WebhookCall(url=url, headers=headers, content=content)


def openclaw_url(url: httpx.URL) -> httpx.URL:
    """Where a gateway is woken, from its base, its hooks or the whole address."""
    path = url.path.rstrip("/")
    if path.endswith("/wake"):
        return url.copy_with(path=path)
    return url.copy_with(path=f"{path}/wake" if path.endswith("/hooks") else f"{path}/hooks/wake")


def _json(body: Mapping[str, Any]) -> str:
    return json.dumps(body, ensure_ascii=False, separators=(",", ":"))


def post(call: WebhookCall, *, transport: httpx.BaseTransport, now: datetime) -> CallResult:
    headers = {"Content-Type": "application/json", "User-Agent": "Colloquy", **call.headers}
    client = httpx.Client(
        transport=transport, timeout=SECONDS, follow_redirects=False, trust_env=False
    )
    try:
        with client, client.stream("POST", call.url, headers=headers, content=call.content) as got:
            _drain(got)
            return classify_result(got.status_code, got.headers.get("retry-after", ""), now=now)
    except httpx.TimeoutException:
        return CallResult(why=reason("call.timeout", seconds=f"{SECONDS:.0f}"))
    except httpx.ConnectError as error:
        return CallResult(why=_unreached(error))
    except httpx.HTTPError:
        return CallResult(why=reason("call.broke"))


def classify_result(status: int, header: str, *, now: datetime) -> CallResult:
    if 200 <= status < 300:
        return CallResult(status=status)
    if 300 <= status < 400:
        return CallResult(status=status, why=reason("call.redirected", status=str(status)))
    why = reason("call.answered", status=str(status))
    if status in WHAT_TO_DO:
        why = reason("call.answered_because", status=str(status), what=reason(WHAT_TO_DO[status]))
    wait = retry_after(header, now=now) if status in {429, 503} else None
    return CallResult(status=status, why=why, wait=wait)


def retry_after(header: str, *, now: datetime) -> timedelta | None:
    """What Retry-After asks for, in seconds or as a date; a day at most."""
    header = header.strip()
    if header.isascii() and header.isdigit():
        return min(timedelta(seconds=int(header[:9])), LONGEST_WAIT)
    moment = http_date(header)
    return min(max(moment - now, timedelta()), LONGEST_WAIT) if moment else None


def _drain(response: httpx.Response) -> None:
    size = 0
    with suppress(httpx.HTTPError):
        for chunk in () if response.is_stream_consumed else response.iter_raw():
            size += len(chunk)
            if size >= MOST_READ:
                return


def _unreached(error: httpx.ConnectError) -> StoredReason:
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, ssl.SSLCertVerificationError):
            return reason("call.bad_certificate", verify_message=cause.verify_message)
        if isinstance(cause, ssl.SSLError):
            return reason("call.no_tls")
        cause = cause.__cause__ or cause.__context__
    return reason("call.not_reached")
