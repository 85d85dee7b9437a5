"""Where we may knock: a URL whose addresses were judged, and are then the only ones spoken to.

Whoever enters a URL must not send us into our own network. A name is resolved once; every
address it leads to is judged, and the connection goes to those very addresses. A name that
leads elsewhere a moment later changes nothing.
"""

from __future__ import annotations

import re
import socket
import ssl
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from typing import Any

import httpcore
import httpx

from surfaces.errors import BadInput

Resolve = Callable[[str, int], Sequence[str]]
Address = IPv4Address | IPv6Address

LONGEST = 500  # characters of a URL
ALLOW = "If that is meant, set WAKE_PRIVATE_ADDRESSES=on."
NAME = re.compile(r"[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?)*")
NUMBER = re.compile(r"[0-9]+|0x[0-9a-f]*")  # a last label like this makes an address of a name
OURS = re.compile(r"[^.]+|(.+\.)?(localhost|local|internal|home\.arpa)")
UNWRITTEN = re.compile(r"[\s\\\x00-\x1f\x7f]")  # read differently by different programs
DEFAULT_PORTS = {"http": 80, "https": 443}

# What no stranger may send us to, the narrowest first.
REFUSED = [
    (ip_network(block), what)
    for block, what in [
        ("169.254.169.254/32", "the metadata address of a cloud"),
        ("168.63.129.16/32", "the metadata address of a cloud"),
        ("fd00:ec2::254/128", "the metadata address of a cloud"),
        ("0.0.0.0/8", "an unspecified address"),
        ("::/128", "an unspecified address"),
        ("127.0.0.0/8", "a loopback address"),
        ("::1/128", "a loopback address"),
        ("169.254.0.0/16", "a link-local address"),
        ("fe80::/10", "a link-local address"),
        ("10.0.0.0/8", "a private address"),
        ("172.16.0.0/12", "a private address"),
        ("192.168.0.0/16", "a private address"),
        ("fc00::/7", "a private address"),
        ("fec0::/10", "a private address"),
        ("100.64.0.0/10", "an address shared inside a provider's network"),
        ("224.0.0.0/4", "a multicast address"),
        ("ff00::/8", "a multicast address"),
        ("::ffff:0:0/96", "an IPv4 address in the clothes of IPv6"),
        ("::/96", "an IPv4 address in the clothes of IPv6"),
        ("64:ff9b::/96", "a NAT64 address, which hides an IPv4 address"),
        ("64:ff9b:1::/48", "a NAT64 address, which hides an IPv4 address"),
        ("2002::/16", "a 6to4 address, which hides an IPv4 address"),
        ("2001::/23", "a reserved address"),
        ("2001:db8::/32", "a reserved address"),
        ("3fff::/20", "a reserved address"),
        ("192.0.0.0/24", "a reserved address"),
        ("192.88.99.0/24", "a reserved address"),
        ("198.18.0.0/15", "a reserved address"),
    ]
]
PUBLIC_V6 = ip_network("2000::/3")


class BadAddress(BadInput):
    """Nobody is called there. The message says which address and why."""


@dataclass(frozen=True, slots=True)
class Pinned:
    """A URL, the name it is called by, and the only addresses it may be reached at."""

    url: str
    host: str
    addresses: tuple[str, ...]


# ── judging ───────────────────────────────────────────────────────────────


def checked(url: str, *, resolve: Resolve, allow_private: bool) -> Pinned:
    """Resolve and judge, or raise `BadAddress`. One bad address among many is enough."""
    parts = well_formed(url, allow_private=allow_private)
    host = host_of(parts)
    literal = _literal(host)
    port = parts.port or DEFAULT_PORTS[parts.scheme]
    found = [literal] if literal else _resolved(host, resolve(host, port))
    if not allow_private:
        for address in found:
            _judge(host, address)
    unique = dict.fromkeys(str(address) for address in found)
    return Pinned(url=str(parts), host=host, addresses=tuple(unique))


def well_formed(url: str, *, allow_private: bool) -> httpx.URL:
    """Check what can be known without asking anybody."""
    parts = _parsed(url)
    host = host_of(parts)
    literal = _literal(host)
    if not allow_private:
        if parts.scheme != "https":
            raise BadAddress("Use https: anybody on the way could read and change the rest.")
        if literal:
            _judge(host, literal)
        elif OURS.fullmatch(host):
            raise BadAddress(f"{host} is a name of our own network. {ALLOW}")
    return parts


def _parsed(url: str) -> httpx.URL:
    check_length(url)
    if UNWRITTEN.search(url):
        raise BadAddress("The address has a blank, a backslash or a control character in it.")
    try:
        parts = httpx.URL(url).copy_with(fragment=None)
        is_whole = parts.scheme in DEFAULT_PORTS and bool(parts.host)  # decodes xn--
    except (httpx.InvalidURL, UnicodeError) as error:
        raise BadAddress("This is no web address.") from error
    if not is_whole:
        raise BadAddress("Enter a whole web address, like https://agent.example.org/wake.")
    if parts.userinfo:
        raise BadAddress("The address has a name or a password in it. Take it out.")
    if parts.port is not None and not 1 <= parts.port <= 65535:
        raise BadAddress(f"There is no port {parts.port}. Ports go from 1 to 65535.")
    # No certificate names a host with the dot that a whole name may end with.
    return parts.copy_with(host=host_of(parts).removesuffix("."))


def check_length(url: str) -> None:
    if len(url) > LONGEST:
        raise BadAddress(f"The address has {len(url):,} characters. Enter at most {LONGEST}.")


def host_of(parts: httpx.URL) -> str:
    return parts.raw_host.decode("ascii")


def origin_of(url: str) -> str:
    """Scheme, host and port: what may be shown of a URL, whose rest may be a secret."""
    parts = httpx.URL(url)
    return f"{parts.scheme}://{parts.netloc.decode('ascii')}"


def _literal(host: str) -> Address | None:
    """The address that `host` spells, in whatever way; None if it is a name."""
    if ":" in host:
        return _address(host)
    if NUMBER.fullmatch(host.rpartition(".")[2]):
        try:  # 2130706433, 0x7f.1 and 0177.0.0.1 are all 127.0.0.1 to whoever connects
            return IPv4Address(socket.inet_aton(host))
        except (OSError, ValueError) as error:
            raise BadAddress(f"{host} is no address. Write four numbers, or a name.") from error
    if len(host) > 253 or not NAME.fullmatch(host):
        raise BadAddress(f"{host[:80]} is no name of a host.")
    return None


def _resolved(host: str, answers: Iterable[str]) -> list[Address]:
    found = [_address(answer) for answer in answers]
    if not found:
        raise BadAddress(f"The name {host} leads to no address.")
    return found


def _address(text: str) -> Address:
    try:
        return ip_address(text)
    except ValueError as error:
        raise BadAddress(f"{text[:80]} is no address.") from error


def _judge(host: str, address: Address) -> None:
    what = why_refused(address)
    if not what:
        return
    if host == str(address):
        raise BadAddress(f"{address} is {what}. {ALLOW}")
    raise BadAddress(f"{host} leads to {address}, {what}. {ALLOW}")


def why_refused(address: Address) -> str:
    """Why nobody may send us to `address`; "" if it is a public one."""
    for network, what in REFUSED:
        if address.version == network.version and address in network:
            return what
    is_public = address.version == 4 or address in PUBLIC_V6
    return "" if is_public and address.is_global else "a reserved address"


def system_resolve(host: str, port: int) -> list[str]:
    """Ask the system, as any program on this machine would."""
    try:
        answers = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise BadAddress(f"The name {host} could not be resolved.") from error
    return [str(answer[4][0]) for answer in answers]


# ── going there and nowhere else ──────────────────────────────────────────


class PinnedTransport(httpx.HTTPTransport):
    """Connects to the pinned addresses only; certificate and Host header keep the name.

    Everything together, from connecting to the last byte, is over after `seconds`.
    """

    def __init__(
        self, pinned: Pinned, *, seconds: float, trust: ssl.SSLContext | None = None
    ) -> None:
        trust = trust or _trusted()
        super().__init__(verify=trust, trust_env=False)
        self._pool = httpcore.ConnectionPool(
            ssl_context=trust, network_backend=_Road(pinned.addresses, seconds)
        )


@cache
def _trusted() -> ssl.SSLContext:
    return httpx.create_ssl_context(trust_env=False)


class _Road(httpcore.NetworkBackend):
    """Whatever host is asked for, it leads to the pinned addresses, one after the other."""

    def __init__(self, addresses: Sequence[str], seconds: float) -> None:
        self._addresses = addresses
        self._clock = _Clock(seconds)
        self._system = httpcore.SyncBackend()

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Any = None,
    ) -> httpcore.NetworkStream:
        failure: Exception = httpcore.ConnectError("no address")
        for place, address in enumerate(self._addresses):
            share = self._clock.left(httpcore.ConnectTimeout) / (len(self._addresses) - place)
            try:
                stream = self._system.connect_tcp(address, port, share, socket_options=[])
            except (httpcore.ConnectError, httpcore.ConnectTimeout) as error:
                failure = error
            else:
                return _Timed(stream, self._clock)
        raise failure


class _Clock:
    """Counts down over a whole exchange, so that a trickle cannot stretch it."""

    def __init__(self, seconds: float) -> None:
        self._ends = time.monotonic() + seconds

    def left(self, late: type[Exception]) -> float:
        left = self._ends - time.monotonic()
        if left <= 0:
            raise late("the time is over")
        return left


class _Timed(httpcore.NetworkStream):
    """A connection on which every step gets what is left of the time."""

    def __init__(self, stream: httpcore.NetworkStream, clock: _Clock) -> None:
        self._stream = stream
        self._clock = clock

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return self._stream.read(max_bytes, self._clock.left(httpcore.ReadTimeout))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._stream.write(buffer, self._clock.left(httpcore.WriteTimeout))

    def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,
    ) -> httpcore.NetworkStream:
        left = self._clock.left(httpcore.ConnectTimeout)
        return _Timed(self._stream.start_tls(ssl_context, server_hostname, left), self._clock)

    def close(self) -> None:
        self._stream.close()

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)
