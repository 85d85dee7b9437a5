"""Answers that would fill the memory or hold the caller: bounded in bytes, values and time."""

from __future__ import annotations

import socket
import threading
import time
import tracemalloc

import pytest

from surfaces.errors import SurfaceError, TryLater, Unconfirmed
from surfaces.net import json_client
from surfaces.net.json_client import JsonClient
from tests.fakes.hostile import COSTLY, ENDLESS, PACKED, SLOW, Hostile

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
