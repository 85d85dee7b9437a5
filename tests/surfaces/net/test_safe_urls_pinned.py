"""A name cannot change its mind on the way: we call the address that was judged."""

from __future__ import annotations

import socket
import ssl
from datetime import timedelta
from pathlib import Path

import httpx
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from django.utils import timezone

from surfaces.net.safe_urls import PinnedTransport, ResolvedUrl, check_url
from tests.fakes.receiver import Receiver
from tests.surfaces.net.resolvers import leading_to, unasked


def post(url: str, transport: httpx.BaseTransport) -> httpx.Response:
    with httpx.Client(transport=transport, trust_env=False) as client:
        return client.post(url, json={})


def test_a_name_that_changes_its_answer_reaches_only_what_was_judged():
    with Receiver("127.0.0.1") as judged, Receiver("127.0.0.2", port=judged.port) as swapped:
        answers = iter([["127.0.0.1"], ["127.0.0.2"]])

        def rebinding(host: str, port: int) -> list[str]:
            return next(answers)

        url = f"http://agent.example.org:{judged.port}/wake"
        pinned = check_url(url, resolve=rebinding, allow_private=True)
        assert next(answers) == ["127.0.0.2"], "whoever asks again now is sent elsewhere"
        assert post(pinned.url, PinnedTransport(pinned, seconds=10)).status_code == 200

        assert [got.headers["host"] for got in judged.got] == [f"agent.example.org:{judged.port}"]
        assert swapped.got == []


def test_nothing_is_resolved_when_the_connection_is_made(monkeypatch: pytest.MonkeyPatch):
    asked: list[object] = []
    real = socket.getaddrinfo

    def noting(host: object, *rest: object, **more: object) -> object:
        asked.append(host)
        return real(host, *rest, **more)  # type: ignore[arg-type]

    with Receiver() as receiver:
        url = f"http://agent.example.org:{receiver.port}/"
        pinned = check_url(url, resolve=leading_to("127.0.0.1"), allow_private=True)
        monkeypatch.setattr(socket, "getaddrinfo", noting)
        post(pinned.url, PinnedTransport(pinned, seconds=10))
    assert set(asked) == {"127.0.0.1"}


def test_an_address_that_does_not_answer_is_passed_over_for_the_next():
    with Receiver("127.0.0.2") as receiver:
        pinned = ResolvedUrl(
            f"http://agent.example.org:{receiver.port}/",
            "agent.example.org",
            ("127.0.0.1", "127.0.0.2"),
        )
        assert post(pinned.url, PinnedTransport(pinned, seconds=10)).status_code == 200


def certificate(folder: Path, name: str) -> tuple[ssl.SSLContext, ssl.SSLContext]:
    """A server's side and a client's side of trust in a certificate for `name`."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    now = timezone.now()
    made = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    pem = made.public_bytes(serialization.Encoding.PEM)
    private = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    (folder / "both.pem").write_bytes(private + pem)
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.load_cert_chain(folder / "both.pem")
    return server, ssl.create_default_context(cadata=pem.decode())


def test_over_tls_the_certificate_is_checked_for_the_name_not_the_address(tmp_path: Path):
    server, trust = certificate(tmp_path, "agent.example.org")
    names: list[str | None] = []
    server.sni_callback = lambda sock, name, context: names.append(name)  # type: ignore[assignment]
    with Receiver(tls=server) as receiver:
        right = ResolvedUrl(
            f"https://agent.example.org:{receiver.port}/", "agent.example.org", ("127.0.0.1",)
        )
        assert post(right.url, PinnedTransport(right, seconds=10, trust=trust)).status_code == 200
        assert names == ["agent.example.org"]
        assert receiver.got[0].headers["host"] == f"agent.example.org:{receiver.port}"

        wrong = ResolvedUrl(
            f"https://other.example.org:{receiver.port}/", "other.example.org", ("127.0.0.1",)
        )
        with pytest.raises(httpx.ConnectError, match="CERTIFICATE_VERIFY_FAILED"):
            post(wrong.url, PinnedTransport(wrong, seconds=10, trust=trust))
        assert len(receiver.got) == 1


@pytest.mark.parametrize("answer", ["hang", "trickle"])
def test_the_whole_exchange_has_an_end(answer: str):
    with Receiver() as receiver:
        receiver.next = [answer]
        pinned = check_url(receiver.url, resolve=unasked, allow_private=True)
        with pytest.raises(httpx.ReadTimeout):
            post(pinned.url, PinnedTransport(pinned, seconds=0.5))
