"""Map Moltbook's error responses to `surfaces.errors`.

No body is trusted: it may be JSON of either dialect, HTML from a proxy, or empty. A wait is
never shorter than what the service asked for, up to a day.
"""

import math
import re
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any

from surfaces import errors
from surfaces.adapters.parsing import clean_text, parse_time
from surfaces.errors import LONGEST_WAIT
from surfaces.net.json_client import JsonResponse, http_date
from surfaces.text.reasons import StoredReason, as_reason, note, reason

NO_WORDS = "moltbook.no_words"
ENDINGS = ".!?:;,。！？：；，"  # where a part of a message needs no full stop
NO_WAIT_GIVEN = timedelta(minutes=1)
DAY_IS_SPENT = timedelta(hours=3)  # with daily_remaining 0, the seconds beside it are too short
LONGEST_SUSPENSION = timedelta(days=365)  # beyond this a number is a mistake, and overflows dates
SECONDS = ("retry_after_seconds", "retryAfterSeconds", "retry_after", "retryAfter")
MINUTES = ("retry_after_minutes", "retryAfterMinutes")
RESETS = ("reset_at", "resetAt")
ENDS = ("suspended_until", "suspendedUntil", "suspension_ends_at", "suspensionEndsAt",
        "banned_until", "until", "ends_at")  # fmt: skip
UNITS = {"second": 1, "minute": 60, "hour": 3600, "day": 86400, "week": 604800}
RELATIVE = re.compile(r"\b(?:in|wait|after)\s+(\d+(?:\.\d+)?)\s*(second|minute|hour|day|week)s?\b")
DATED = re.compile(r"\d{4}-\d\d-\d\d[t ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?\s?(?:z|[+-]\d\d:?(?:\d\d)?)?")


def classify(answer: JsonResponse, *, wrote: bool, now: datetime) -> errors.SurfaceError:
    words, said = words_of(answer), said_by(answer)
    status = answer.status
    if status == 429:
        return errors.Limited(reason("moltbook.too_many", said=said), wait=wait_of(answer, now))
    if status in (401, 403) and is_suspension(words):
        return errors.Suspended(said, until=suspended_until(answer, words, now))
    if status == 401:
        return errors.AuthFailed(reason("moltbook.key_refused", said=said))
    if status == 402:
        return errors.PaymentRequired(reason("moltbook.wants_money", said=said))
    if status == 403 and is_page(answer):
        return errors.TryLater("moltbook.network_blocked")
    if status == 404:
        return errors.NotThere(said, permanent=answer.is_json and not is_missing_endpoint(answer))
    if said.code != NO_WORDS:  # which names the status already
        said = reason("service.status_said", status=str(status), said=said)
    if status != 408 and status < 500:
        return errors.Refused(said)
    if wrote:
        return errors.Unconfirmed(said)
    wait = timedelta(seconds=_largest(_said_seconds(answer, now)))
    return errors.TryLater(said, wait=min(wait, LONGEST_WAIT) or None)


def is_page(answer: JsonResponse) -> bool:
    return not answer.is_json and "text/html" in answer.headers.get("content-type", "").lower()


def is_missing_endpoint(answer: JsonResponse) -> bool:
    """Whether the path does not exist, which says nothing about a post.
    Open-source server, the router's last handler; live, "Cannot GET /path".
    """
    said = words_of(answer).lower()
    return answer.status == 404 and ("endpoint not found" in said or said.startswith("cannot "))


def said_by(answer: JsonResponse) -> StoredReason:
    """What the service said, or what came instead of words."""
    if said := words_of(answer):
        return note(said)
    if is_page(answer):
        return as_reason("moltbook.html_page")
    return reason(NO_WORDS, status=str(answer.status))


def words_of(answer: JsonResponse) -> str:
    """The error message of the service, as one line; "" if there is none.
    `message` is a string or an array on the live site; `error` and `hint` on both.
    """
    data = answer.data if isinstance(answer.data, dict) else {}
    parts: list[str] = []
    for key in ("message", "error", "hint"):
        parts += [part for part in _strings(data.get(key)) if part not in parts]
    ended = (part if part[-1] in ENDINGS else f"{part}." for part in parts[:-1])
    return clean_text(" ".join(" ".join([*ended, *parts[-1:]]).split()), most=300)


def _strings(value: object) -> Iterator[str]:
    if isinstance(value, str) and value.strip():
        yield value.strip()
    elif isinstance(value, list):
        for inner in value[:10]:
            yield from _strings(inner)
    elif isinstance(value, dict):
        yield from _strings(value.get("message"))


def is_suspension(said: str) -> bool:
    """Whether the message is about the account, not about one community."""
    said = said.lower()
    return "suspend" in said or "suspension" in said or ("banned" in said and "submolt" not in said)


def suspended_until(answer: JsonResponse, said: str, now: datetime) -> datetime | None:
    """Read the end from a field or from the sentence ("Suspension ends in 10 hours.")."""
    for layer in _layers(answer.data):
        for key in ENDS:
            if moment := parse_time(layer.get(key)):
                return moment
    if written := DATED.search(said.lower()):
        return parse_time(written.group().upper())
    if relative := RELATIVE.search(said.lower()):
        wait = float(relative.group(1)) * UNITS[relative.group(2)]
        return now + min(timedelta(seconds=min(wait, 1e9)), LONGEST_SUSPENSION)
    return None


def wait_of(answer: JsonResponse, now: datetime) -> timedelta:
    """Read the wait of a 429: seconds first, then minutes, then moments, then the sentence.
    Minutes are rounded up by the service and X-RateLimit-Reset down, so seconds are the most exact.
    Of several in one family the longest counts.
    """
    said = (
        _largest(_said_seconds(answer, now))
        or 60 * _largest(_fields(answer.data, MINUTES))
        or _largest(_until_reset(answer, now))
        or _in_words(answer)
    )
    wait = min(timedelta(seconds=math.ceil(said)), LONGEST_WAIT) if said else NO_WAIT_GIVEN
    return max(wait, DAY_IS_SPENT) if day_is_spent(answer) else wait


def reset_wait(answer: JsonResponse, now: datetime) -> timedelta | None:
    """How long until a limit that has nothing left is free again; None if it is not said.
    Open-source server, its limiter: the reset is rounded down to a second.
    """
    said = _largest(_until_reset(answer, now))
    return min(timedelta(seconds=math.ceil(said) + 1), LONGEST_WAIT) if said else None


def day_is_spent(answer: JsonResponse) -> bool:
    """Moltbook skill.md 1.12.0, rate limits: 429 on comments carries daily_remaining."""
    keys = ("daily_remaining", "dailyRemaining")
    return any(str(layer.get(key)) == "0" for layer in _layers(answer.data) for key in keys)


def _said_seconds(answer: JsonResponse, now: datetime) -> Iterator[float]:
    yield from _fields(answer.data, SECONDS)
    header = answer.headers.get("retry-after", "")
    if seconds := _number(header):
        yield seconds
    elif moment := http_date(header):
        yield (moment - _their_now(answer, now)).total_seconds()


def _until_reset(answer: JsonResponse, now: datetime) -> Iterator[float]:
    sent = [layer.get(key) for layer in _layers(answer.data) for key in RESETS]
    sent.append(_number(answer.headers.get("x-ratelimit-reset", "")))
    for value in sent:
        if moment := parse_time(value) or parse_time(_number(value)):
            yield (moment - _their_now(answer, now)).total_seconds()


def _their_now(answer: JsonResponse, now: datetime) -> datetime:
    """The earlier of both clocks, so that a computed wait is not too short."""
    theirs = http_date(answer.headers.get("date", ""))
    return min(theirs, now) if theirs else now


def _in_words(answer: JsonResponse) -> float:
    found = RELATIVE.search(words_of(answer).lower())
    return min(float(found.group(1)), 1e6) * UNITS[found.group(2)] if found else 0.0


def _fields(data: object, keys: tuple[str, ...]) -> Iterator[float]:
    for layer in _layers(data):
        for key in keys:
            yield _number(layer.get(key)) or 0.0


def _layers(data: object) -> Iterator[dict[str, Any]]:
    """The body and its nested objects with details."""
    if isinstance(data, dict):
        yield data
        for key in ("error", "data", "details", "agent"):
            if isinstance(data.get(key), dict):
                yield data[key]


def _number(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    return min(number, 1e12) if number > 0 else None


def _largest(numbers: Iterator[float]) -> float:
    # A reset in the past is ignored.
    return min(max((number for number in numbers if number > 0), default=0.0), 1e9)
