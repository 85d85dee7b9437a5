"""Make one call to an agent that lives elsewhere, and hear whether it was taken.

Of an answer nothing is kept but its status: who is called may echo what we sent, the
token included. A redirect is not followed: the address was judged, the next one was not.
"""

from __future__ import annotations

import base64
import binascii
import json
import re
import secrets
import ssl
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import Any

import httpx
from standardwebhooks import Webhook

from surfaces.errors import BadInput

SECONDS = 10.0  # for one call in all
MOST_READ = 64 * 1024  # bytes of an answer, read out of politeness
LONGEST_WAIT = timedelta(hours=24)  # that an answer may ask of us
PREFIX = "whsec_"
SECRET_BYTES = (24, 64)  # as Standard Webhooks asks
LONGEST_TOKEN = 1_000  # characters
TOKEN = re.compile(r"[\x21-\x7e]+")  # what a header can carry, without blanks
GONE = 410
ASKS_TO_WAIT = {429, 503}
WHAT_TO_DO = {
    401: "the secret is not the one it knows",
    403: "the secret is not the one it knows, or may not do this",
    404: "nothing is at this address",
    405: "this address takes no POST",
    GONE: "it wants no more events",
    429: "too many requests",
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Call:
    """One POST. Its headers may hold a token: never show them."""

    url: str
    headers: Mapping[str, str]
    content: bytes


@dataclass(frozen=True, kw_only=True, slots=True)
class Heard:
    """What came of a call. `status` None: nobody answered."""

    status: int | None = None
    why: str = ""
    wait: timedelta | None = None  # what the answer asks for

    @property
    def is_taken(self) -> bool:
        return self.status is not None and 200 <= self.status < 300

    @property
    def is_overwhelmed(self) -> bool:
        """It may take nothing at all just now, this event or another."""
        return self.status is None or self.status == 429 or self.status >= 500


# ── secrets ───────────────────────────────────────────────────────────────


def new_secret() -> str:
    """A fresh one for signing, without its prefix."""
    return base64.b64encode(secrets.token_bytes(32)).decode("ascii")


def checked_secret(given: str) -> str:
    """The base64 of a signing secret, or say what it must look like."""
    given = given.strip().removeprefix(PREFIX)
    try:
        raw = base64.b64decode(given + "=" * (-len(given) % 4), validate=True)
    except (binascii.Error, ValueError) as error:
        raise BadInput("A secret is whsec_ and base64 behind it. Empty: we make one.") from error
    least, most = SECRET_BYTES
    if not least <= len(raw) <= most:
        raise BadInput(f"The secret holds {len(raw)} bytes; it must hold {least} to {most}.")
    return base64.b64encode(raw).decode("ascii")


def checked_token(given: str) -> str:
    """A token that a header can carry, or say which cannot."""
    given = given.strip()
    if len(given) > LONGEST_TOKEN:
        raise BadInput(f"The token has more than {LONGEST_TOKEN:,} characters.")
    if not TOKEN.fullmatch(given):
        raise BadInput("The token must be plain letters, digits and signs, without blanks.")
    return given


# ── what is sent ──────────────────────────────────────────────────────────


def signed(url: str, body: Mapping[str, Any], *, key: str, secret: str, at: datetime) -> Call:
    """As Standard Webhooks says: https://www.standardwebhooks.com."""
    content, moment = _json(body), at.astimezone(UTC)
    headers = {
        "webhook-id": key,
        "webhook-timestamp": str(int(moment.timestamp())),
        "webhook-signature": Webhook(secret).sign(key, moment, content),
    }
    return Call(url=url, headers=headers, content=content.encode())


def bearing(url: str, text: str, *, key: str, token: str) -> Call:
    """As OpenClaw's gateway wants to be woken. It ignores the id; who stands before it may not."""
    headers = {"Authorization": f"Bearer {token}", "webhook-id": key}
    return Call(url=url, headers=headers, content=_json({"text": text, "mode": "now"}).encode())


def openclaw_url(url: httpx.URL) -> httpx.URL:
    """Where a gateway is woken, from its base, its hooks or the whole address."""
    path = url.path.rstrip("/")
    if path.endswith("/wake"):
        return url.copy_with(path=path)
    return url.copy_with(path=f"{path}/wake" if path.endswith("/hooks") else f"{path}/hooks/wake")


def _json(body: Mapping[str, Any]) -> str:
    return json.dumps(body, ensure_ascii=False, separators=(",", ":"))


# ── what is heard ─────────────────────────────────────────────────────────


def make(call: Call, *, transport: httpx.BaseTransport, now: datetime) -> Heard:
    """Make the call. Whatever happens is an answer of some kind; nothing is raised for it."""
    headers = {"Content-Type": "application/json", "User-Agent": "Colloquy", **call.headers}
    client = httpx.Client(
        transport=transport, timeout=SECONDS, follow_redirects=False, trust_env=False
    )
    try:
        with client, client.stream("POST", call.url, headers=headers, content=call.content) as got:
            _drain(got)
            return judged(got.status_code, got.headers.get("retry-after", ""), now=now)
    except httpx.TimeoutException:
        return Heard(why=f"It did not answer within {SECONDS:.0f} s.")
    except httpx.ConnectError as error:
        return Heard(why=_unreached(error))
    except httpx.HTTPError:
        return Heard(why="The connection broke before it answered.")


def judged(status: int, retry_after: str, *, now: datetime) -> Heard:
    """What a status says, in words."""
    if 200 <= status < 300:
        return Heard(status=status)
    if 300 <= status < 400:
        return Heard(status=status, why=f"It answered {status}: a redirect is not followed.")
    what = WHAT_TO_DO.get(status, "")
    why = f"It answered {status}{': ' if what else ''}{what}."
    wait = asked_wait(retry_after, now=now) if status in ASKS_TO_WAIT else None
    return Heard(status=status, why=why, wait=wait)


def asked_wait(header: str, *, now: datetime) -> timedelta | None:
    """What Retry-After asks for, in seconds or as a date; a day at most."""
    header = header.strip()
    if header.isascii() and header.isdigit():
        return min(timedelta(seconds=int(header[:9])), LONGEST_WAIT)
    try:
        moment = parsedate_to_datetime(header)
    except (ValueError, TypeError, OverflowError):
        return None
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return min(max(moment - now, timedelta()), LONGEST_WAIT)


def _drain(response: httpx.Response) -> None:
    """Let it finish its sentence, within bounds; the status is what counts."""
    size = 0
    try:
        for chunk in () if response.is_stream_consumed else response.iter_raw():
            size += len(chunk)
            if size >= MOST_READ:
                return
    except httpx.HTTPError:
        return


def _unreached(error: httpx.ConnectError) -> str:
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, ssl.SSLCertVerificationError):
            return f"Its certificate is not trusted: {cause.verify_message}."
        if isinstance(cause, ssl.SSLError):
            return "No secure connection came about."
        cause = cause.__cause__ or cause.__context__
    return "It could not be reached."
