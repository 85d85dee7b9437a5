"""Answers that would fill the memory or hold the caller: bounded in bytes, values and time."""

from __future__ import annotations

import socket
import threading
import time
import tracemalloc

import httpx
import pytest

from surfaces.adapters.base import Access
from surfaces.adapters.moltbook import Moltbook
from surfaces.errors import SurfaceError, TryLater, Unconfirmed
from surfaces.net import json_client, webhooks
from surfaces.net.json_client import JsonClient
from surfaces.net.safe_urls import PinnedTransport, check_url
from tests.factories import NOON
from tests.fakes.hostile import ATTACKS, COSTLY, ENDLESS, PACKED, SLOW, Hostile
from tests.surfaces.net.resolvers import unasked

MEGABYTE = 1024 * 1024


def ask(fake: Hostile, method: str = "GET") -> SurfaceError:
    client = JsonClient(fake.root, headers={})
    with pytest.raises(SurfaceError) as raised:
        client.call(method, "/posts")
    client.close()
    return raised.value


@pytest.mark.parametrize("attack", PACKED)
def test_a_packed_answer_is_never_unpacked(attack: str):
    with Hostile(attack) as fake:
        tracemalloc.start()
        error = ask(fake)
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    assert error.reason.code == "service.packed"
    assert most < 8 * MEGABYTE


def test_a_packed_answer_to_a_write_is_a_doubt():
    with Hostile("gzip") as fake:
        assert isinstance(ask(fake, "POST"), Unconfirmed)


def test_an_error_counts_even_when_its_body_is_packed():
    """A proxy before the service may pack its own pages, whatever it was asked for."""

    def busy(request: httpx.Request) -> httpx.Response:
        headers = {"Content-Encoding": "gzip", "Retry-After": "7"}
        return httpx.Response(429, headers=headers, stream=httpx.ByteStream(b"not read"))

    client = JsonClient("http://a.example", headers={}, transport=httpx.MockTransport(busy))
    answer = client.call("GET", "/posts")
    assert (answer.status, answer.headers["retry-after"], answer.is_json) == (429, "7", False)


def test_we_ask_for_answers_that_are_not_packed():
    with Hostile("lists") as fake:
        client = JsonClient(fake.root, headers={})
        request = client._client.build_request("GET", "/posts")
    assert request.headers["accept-encoding"] == "identity"


@pytest.mark.parametrize("attack", ENDLESS)
def test_an_endless_answer_is_left_after_a_bounded_number_of_bytes(attack: str):
    with Hostile(attack) as fake:
        tracemalloc.start()
        ask(fake)
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    assert most < 24 * MEGABYTE


def test_an_answer_in_very_many_pieces_is_left_long_before_its_end():
    with Hostile("endless chunks") as fake:
        assert ask(fake).reason.code == "service.too_many_pieces"


@pytest.mark.parametrize("attack", COSTLY)
def test_an_answer_that_takes_too_much_memory_is_not_parsed(attack: str):
    with Hostile(attack) as fake:
        assert ask(fake).reason.code == "service.too_costly"


def test_commas_in_a_text_are_no_values():
    text = "," * 2_000_000 + '\\"' + "[{," * 100_000
    assert json_client.parsed(f'["{text}", 1]'.encode()) == (
        ["," * 2_000_000 + '"' + "[{," * 100_000, 1], True,
    )  # fmt: skip


def test_a_text_without_an_end_is_counted_in_one_pass():
    began = time.monotonic()
    assert json_client.parsed(b'"' + b'\\"' * MEGABYTE + b"," * 200_000) == (None, False)
    assert time.monotonic() - began < 60


@pytest.mark.parametrize("attack", SLOW)
@pytest.mark.parametrize(("method", "meaning"), [("GET", TryLater), ("POST", Unconfirmed)])
def test_a_call_has_one_deadline_whatever_trickles(
    attack: str, method: str, meaning: type[SurfaceError], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(json_client, "LONGEST_CALL", 0.3)
    with Hostile(attack) as fake:
        began = time.monotonic()
        error = ask(fake, method)
        took = time.monotonic() - began
    assert isinstance(error, meaning)
    assert error.reason.code == "service.answer_too_slow"
    assert took < 5  # without the deadline: for ever, or 15 s of silence


def test_the_deadline_begins_anew_with_each_call(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(json_client, "LONGEST_CALL", 0.3)
    with Hostile("slow body") as fake:
        client = JsonClient(fake.root, headers={})
        for _ in range(2):
            with pytest.raises(TryLater):
                client.call("GET", "/posts")
        client.close()
        assert fake.requests == 2


def test_a_name_that_nobody_resolves_does_not_hold_the_call(monkeypatch: pytest.MonkeyPatch):
    ends = threading.Event()
    monkeypatch.setattr(socket, "getaddrinfo", lambda *given, **more: ends.wait(60))
    monkeypatch.setattr(json_client, "LONGEST_CALL", 0.3)
    began = time.monotonic()
    client = JsonClient("http://slow.example/api", headers={})
    with pytest.raises(TryLater) as raised:
        client.call("POST", "/posts")
    ends.set()
    assert not raised.value.asked
    assert time.monotonic() - began < 5


def test_a_handshake_that_trickles_does_not_hold_the_call(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(json_client, "LONGEST_CALL", 0.3)
    ends = threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as server:

        def trickle() -> None:
            connection, _ = server.accept()
            with connection:
                # A handshake record of 16 kB, one byte at a time.
                for byte in b"\x16\x03\x03\x40\x00\x02\x00\x3f\xfc" + b"\x00" * 4000:
                    try:
                        connection.sendall(bytes([byte]))
                    except OSError:
                        return
                    if ends.wait(0.02):
                        return

        thread = threading.Thread(target=trickle)
        thread.start()
        began = time.monotonic()
        client = JsonClient(f"https://127.0.0.1:{server.getsockname()[1]}", headers={})
        with pytest.raises(TryLater) as raised:
            client.call("POST", "/posts")
        ends.set()
        thread.join()
    assert not raised.value.asked
    assert time.monotonic() - began < 5


def test_a_reader_that_takes_a_byte_at_a_time_does_not_hold_the_call(
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setattr(json_client, "LONGEST_CALL", 0.5)
    ends = threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)

        def sip() -> None:
            connection, _ = server.accept()
            with connection:
                while not ends.wait(0.02) and connection.recv(16_000):
                    pass

        thread = threading.Thread(target=sip)
        thread.start()
        began = time.monotonic()
        client = JsonClient(f"http://127.0.0.1:{server.getsockname()[1]}", headers={})
        with pytest.raises(Unconfirmed):
            client.call("POST", "/posts", body={"content": "a" * 64 * MEGABYTE})
        took = time.monotonic() - began
        ends.set()
        client.close()
        thread.join()
    assert took < 5


@pytest.mark.parametrize("attack", [*PACKED, *ENDLESS, *COSTLY])
def test_a_feed_of_a_hostile_service_is_left_in_time(attack: str):
    """Looking costs no more than polling, however the service answers."""
    with Hostile(attack) as fake:
        access = Access(token="k", base_url=f"{fake.root}/api/v1", handle="iris", dialect="open")
        reader = Moltbook(access)
        tracemalloc.start()
        with pytest.raises(SurfaceError):
            reader.feed(["a", "b"], 10)
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        reader.close()
    assert most < 128 * MEGABYTE  # of one that is costly, most is what the fake makes


@pytest.mark.parametrize("attack", ATTACKS)
def test_a_hostile_webhook_receiver_costs_little(attack: str):
    """Its status is all that is wanted; a packed or endless body behind it is not read."""
    with Hostile(attack) as fake:
        pinned = check_url(fake.root, resolve=unasked, allow_private=True)
        call = webhooks.WebhookCall(url=pinned.url, headers={}, content=b"{}")
        tracemalloc.start()
        result = webhooks.post(call, transport=PinnedTransport(pinned, seconds=1), now=NOON)
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    heads = ("endless head", "endless hints", "slow head", "slow hints", "silence")
    has_head = not attack.startswith(heads)
    assert result.is_taken is has_head
    assert most < 40 * MEGABYTE  # most of it is what the fake sends, in this process
