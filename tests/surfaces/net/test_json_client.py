"""The wire: what never left is no doubt, and nothing it meets is beyond our words for failures."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from surfaces.adapters.parsing import (
    LONGEST_TEXT,
    clean_count,
    clean_id,
    clean_json,
    clean_text,
    parse_time,
)
from surfaces.errors import Refused, TryLater, Unconfirmed
from surfaces.net.json_client import JsonClient


def wire(
    base_url: str = "http://127.0.0.1:9/api", answer: Any = None, **headers: str
) -> JsonClient:
    transport = httpx.MockTransport(answer) if answer else None
    return JsonClient(base_url, headers=headers, transport=transport)


@pytest.mark.parametrize(
    ("base_url", "headers"),
    [
        ("http://127.0.0.1:65537/api", {}),
        ("127.0.0.1/api", {}),
        ("http://127.0.0.1:9/api", {"Authorization": "Bearer a\nb"}),
    ],
)
def test_a_request_that_could_not_be_made_did_not_happen(base_url: str, headers: dict[str, str]):
    with pytest.raises(TryLater) as raised:
        wire(base_url, **headers).call("POST", "/comments", body={"content": "x"})
    assert not raised.value.asked


@pytest.mark.parametrize(("method", "meaning"), [("GET", TryLater), ("POST", Unconfirmed)])
@pytest.mark.parametrize("error", [httpx.ReadTimeout, httpx.ReadError, httpx.RemoteProtocolError])
def test_silence_after_asking_is_a_doubt_for_writes_only(
    method: str, meaning: type[Exception], error: type[Exception]
):
    def silence(request: httpx.Request) -> httpx.Response:
        raise error("silence")

    with pytest.raises(meaning):
        wire(answer=silence).call(method, "/comments")


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_is_refused_and_the_key_stays_here(status: int):
    asked: list[str] = []

    def elsewhere(request: httpx.Request) -> httpx.Response:
        asked.append(request.url.host)
        return httpx.Response(status, headers={"Location": "https://elsewhere.example/"})

    with pytest.raises(Refused, match="redirect"):
        wire(answer=elsewhere, Authorization="Bearer k").call("GET", "/posts")
    with pytest.raises(Unconfirmed, match="redirect"):  # it may have been done before
        wire(answer=elsewhere, Authorization="Bearer k").call("POST", "/posts")
    assert asked == ["127.0.0.1"] * 2


@pytest.mark.parametrize("path", ["https://elsewhere.example/x", "//elsewhere.example/x", "x"])
def test_a_path_cannot_leave_the_host(path: str):
    with pytest.raises(Refused):
        wire(answer=lambda request: httpx.Response(200)).call("GET", path)


def test_an_answer_larger_than_eight_megabytes_is_dropped():
    huge = b'"' + b"a" * (8 * 1024 * 1024) + b'"'
    with pytest.raises(TryLater, match="8 MB"):
        wire(answer=lambda request: httpx.Response(200, content=huge)).call("GET", "/posts")


def test_no_number_is_too_large_to_be_read():
    assert parse_time(10**400) is None
    assert parse_time(-(10**400)) is None
    assert clean_count(10**11) == 2**31 - 1
    assert clean_count("99999999999") == 2**31 - 1


def test_an_id_too_long_to_be_kept_is_none():
    """Cut short, two of them would be one."""
    assert clean_id("x" * 500) == "x" * 500
    assert clean_id("x" * 501) == ""


def test_every_text_of_a_stranger_has_a_longest_length():
    endless = "x" * 2_000_000
    assert len(clean_text(endless)) == LONGEST_TEXT
    kept = clean_json({endless: {"deep": [endless] * 3}, "list": [1] * 5_000})
    [name] = [key for key in kept if key != "list"]
    assert len(name) == 200
    assert [len(text) for text in kept[name]["deep"]] == [LONGEST_TEXT] * 3
    assert len(kept["list"]) == 1_000
