"""What Moltbook's refusals mean, and where a key may go."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from surfaces.adapters.moltbook.client import checked_base_url
from surfaces.adapters.moltbook.errors import classify
from surfaces.errors import (
    AuthFailed,
    Limited,
    NotThere,
    PaymentRequired,
    Refused,
    SurfaceError,
    Suspended,
    TryLater,
    Unconfirmed,
)
from surfaces.net.json_client import JsonResponse
from tests.surfaces.adapters.moltbook.access import NOON


def answer(status: int, body: Any = None, headers: dict[str, str] | None = None) -> JsonResponse:
    return JsonResponse(
        status=status, headers=httpx.Headers(headers or {}), data=body, is_json=body is not None
    )


# ── refusals ──────────────────────────────────────────────────────────────


def wait_of(body: Any, headers: dict[str, str] | None = None) -> timedelta:
    error = classify(answer(429, body, headers), wrote=True, now=NOON)
    assert isinstance(error, Limited)
    return error.wait


@pytest.mark.parametrize(
    ("body", "headers", "seconds"),
    [
        ({}, {"Retry-After": "20"}, 20),
        ({}, {"Retry-After": "Sat, 21 Nov 2026 12:01:30 GMT"}, 90),
        ({"retry_after_seconds": 17}, {}, 17),
        ({"retry_after_seconds": "17"}, {}, 17),
        ({"retry_after_seconds": 16.2}, {}, 17),
        ({"retryAfter": 20, "retryAfterMinutes": 1}, {"Retry-After": "20"}, 20),
        ({"retryAfter": 1800, "retryAfterMinutes": 30}, {}, 1800),
        ({"retry_after_minutes": 2.5}, {}, 150),
        ({"retryAfterMinutes": 30}, {}, 1800),
        ({"reset_at": "2026-11-21T12:00:45.000Z"}, {}, 45),
        ({}, {"X-RateLimit-Reset": str(int(NOON.timestamp()) + 33)}, 33),
        ({"retry_after_seconds": 5}, {"Retry-After": "9"}, 9),
        ({"retry_after_seconds": 9}, {"Retry-After": "5"}, 9),
        ({"error": {"retry_after": 8}}, {}, 8),
        ({"message": ["Wait 40 seconds, please"]}, {}, 40),
        ({"hint": "Try again in 2.5 minutes"}, {}, 150),
        ({"reset_at": "2026-11-21T11:00:00Z"}, {}, 60),
        ({"retry_after_seconds": -4}, {"Retry-After": "soon"}, 60),
        ({"retry_after_seconds": True}, {}, 60),
        ({"retry_after_seconds": "NaN"}, {}, 60),
        ({"retry_after_seconds": 20, "daily_remaining": 0}, {}, 3 * 3600),
        ({"retry_after_seconds": 20000, "daily_remaining": 0}, {}, 20000),
        ({"retry_after_seconds": 20, "daily_remaining": 12}, {}, 20),
        ([], {}, 60),
        ("slow", {}, 60),
    ],
)  # fmt: skip
def test_a_wait_is_read_in_every_shape(body: Any, headers: dict[str, str], seconds: int):
    assert wait_of(body, headers) == timedelta(seconds=seconds)


def test_a_wait_without_json_is_a_minute():
    assert wait_of(None) == timedelta(minutes=1)


def test_a_clock_that_is_ahead_of_the_service_does_not_shorten_the_wait():
    headers = {"Date": "Sat, 21 Nov 2026 11:58:00 GMT"}
    reset = {"reset_at": "2026-11-21T12:00:30Z"}
    assert wait_of(reset, headers) == timedelta(seconds=150)


@settings(deadline=None)
@given(st.floats() | st.integers() | st.text(max_size=12) | st.none(), st.text(max_size=12))
def test_no_wait_is_negative_or_overflows(value: Any, header: str):
    safe = "".join(letter for letter in header if letter.isascii() and letter.isprintable())
    body = {"retry_after_seconds": value, "reset_at": value, "retry_after_minutes": value}
    assert timedelta(0) < wait_of(body, {"Retry-After": safe}) <= timedelta(days=1)


@pytest.mark.parametrize(
    ("body", "headers"),
    [
        ({"retry_after_seconds": 10**9}, {}),
        ({"retryAfterMinutes": 10**9}, {}),
        ({"retry_after": float("inf")}, {}),
        ({"reset_at": "2099-12-31T23:59:59Z"}, {}),
        ({"message": "Try again in 900 weeks"}, {}),
        ({}, {"Retry-After": "1000000000"}),
        ({}, {"Retry-After": "Fri, 31 Dec 9999 23:59:59 GMT"}),
        ({}, {"X-RateLimit-Reset": "4000000000"}),
        ({"reset_at": "2026-11-21T12:00:30Z"}, {"Date": "Thu, 01 Jan 1970 00:00:00 GMT"}),
    ],
)
def test_no_service_silences_an_account_for_longer_than_a_day(body: Any, headers: dict[str, str]):
    assert wait_of(body, headers) == timedelta(days=1)


@pytest.mark.parametrize("said", ["-5", "NaN", "soon", "", "1e999x", "Mon, 01 Jan 0001"])
def test_a_wait_that_makes_no_sense_is_a_minute(said: str):
    assert wait_of({}, {"Retry-After": said}) == timedelta(minutes=1)


HTML = {"Content-Type": "text/html; charset=UTF-8"}


@pytest.mark.parametrize(
    ("given", "wrote", "meaning"),
    [
        (answer(401, {"error": "Invalid or expired token"}), False, AuthFailed),
        (answer(401), False, AuthFailed),
        (answer(401, {"error": "Account suspended", "hint": "until later"}), True, Suspended),
        (answer(403, {"error": "Your account has been suspended for spam"}), True, Suspended),
        (answer(403, {"message": ["Account suspended", "offense #2"]}), True, Suspended),
        (answer(403, {"error": "You can only delete your own comments"}), True, Refused),
        (answer(403, {"error": "You are banned from this submolt"}), True, Refused),
        (answer(403, headers=HTML), True, TryLater),
        (answer(402, {"message": "Payment required"}), True, PaymentRequired),
        (answer(404, {"error": "Post not found", "code": "NOT_FOUND"}), True, NotThere),
        (answer(400, {"error": "Maximum comment depth exceeded"}), True, Refused),
        (answer(400, {"message": ["property x should not exist"]}), True, Refused),
        (answer(409, {"error": "Name already taken"}), True, Refused),
        (answer(413), True, Refused),
        (answer(500, {"error": "boom"}), True, Unconfirmed),
        (answer(500, {"error": "boom"}), False, TryLater),
        (answer(502, headers=HTML), True, Unconfirmed),
        (answer(503), False, TryLater),
        (answer(408), True, Unconfirmed),
    ],
)
def test_every_refusal_has_a_meaning(given: JsonResponse, wrote: bool, meaning: type[SurfaceError]):
    assert type(classify(given, wrote=wrote, now=NOON)) is meaning


def test_the_parts_of_a_message_stay_sentences():
    said = {"error": "Invalid or expired token", "hint": "Check your key."}
    refused = classify(answer(401, said), wrote=False, now=NOON)
    assert "Invalid or expired token. Check your key." in str(refused.reason)
    listed = classify(answer(400, {"message": ["a is empty;", "b is odd"]}), wrote=True, now=NOON)
    assert "a is empty; b is odd" in str(listed.reason)


@pytest.mark.parametrize(
    ("status", "says"),
    [
        (429, "too many requests: status 429 without a message"),
        (401, "the key was rejected: status 401 without a message"),
        (404, "status 404 without a message"),
        (409, "status 409 without a message"),
        (503, "status 503 without a message"),
    ],
)
def test_an_answer_without_a_message_names_its_status_once(status: int, says: str):
    for wrote in (True, False):
        assert str(classify(answer(status, None), wrote=wrote, now=NOON).reason) == says


def test_a_page_of_html_is_a_block_by_the_network_whatever_it_says():
    page = answer(403, headers=HTML)
    assert type(classify(page, wrote=True, now=NOON)) is TryLater


def test_a_missing_endpoint_is_not_a_missing_post():
    for said in ({"error": "Endpoint not found"}, {"message": "Cannot GET /api/v1/home"}):
        error = classify(answer(404, said), wrote=False, now=NOON)
        assert isinstance(error, NotThere)
        assert not error.permanent
    real = classify(answer(404, {"error": "Post not found"}), wrote=False, now=NOON)
    assert isinstance(real, NotThere)
    assert real.permanent


@pytest.mark.parametrize(
    ("body", "until"),
    [
        ({"hint": "Suspension ends in 10 hours."}, NOON + timedelta(hours=10)),
        ({"hint": "Suspension ends in 1 day."}, NOON + timedelta(days=1)),
        ({"hint": "Suspended until 2026-11-22T14:04:34.020Z"},
         datetime(2026, 11, 22, 14, 4, 34, 20000, UTC)),
        ({"hint": "until 2026-11-22 14:04:34+00"}, datetime(2026, 11, 22, 14, 4, 34, tzinfo=UTC)),
        ({"suspended_until": "2026-11-22T00:00:00Z"}, datetime(2026, 11, 22, tzinfo=UTC)),
        ({"hint": "Contact support"}, None),
    ],
)  # fmt: skip
def test_the_end_of_a_suspension_is_read(body: dict[str, Any], until: datetime | None):
    error = classify(answer(401, {"error": "Account suspended", **body}), wrote=True, now=NOON)
    assert isinstance(error, Suspended)
    assert error.until == until


@settings(deadline=None)
@given(st.sampled_from([301, 400, 401, 402, 403, 404, 409, 418, 429, 500, 503]), st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(
        st.sampled_from(["message", "error", "hint", "retry_after", "until", "data"]), inner,
    ),
), st.booleans())  # fmt: skip
def test_no_body_whatever_breaks_the_classification(status: int, body: Any, wrote: bool):
    error = classify(answer(status, body), wrote=wrote, now=NOON)
    assert isinstance(error, SurfaceError)
    assert len(str(error)) < 400


# ── where a key may go ────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "url",
    [
        "https://moltbook.com/api/v1",
        "https://MOLTBOOK.com./api/v1",
        "https://api.moltbook.com/v1",
        "https://moltbook.ai/api/v1",
        "https://www.moltbook.ai/api/v1",
        "http://www.moltbook.com/api/v1",
        "http://example.org/api/v1",
        "ftp://localhost/api",
        "https://key@www.moltbook.com/api/v1",
        "https://www.moltbook.com/api/v1?next=x",
        "www.moltbook.com",
        "",
    ],
)
def test_a_key_never_travels_to_the_wrong_place(url: str):
    with pytest.raises(ValueError, match=r"\w"):
        checked_base_url(url)


@pytest.mark.parametrize(
    "url",
    [
        "https://www.moltbook.com/api/v1",
        "https://molt.example.org/api/v1/",
        "http://127.0.0.1:3900/api/v1",
        "http://[::1]:3900/api/v1",
        "http://localhost:3900/api/v1",
    ],
)
def test_a_server_of_our_own_is_welcome(url: str):
    assert checked_base_url(url) == url.rstrip("/")
