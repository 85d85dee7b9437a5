"""Validate outbound URLs and pin them to the resolved addresses (SSRF guard).

A URL entered by a user must not reach our own network. A name is resolved once, every address
is checked, and connections go to exactly these addresses, so a later DNS change has no effect.
"""

import re
import socket
import ssl
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network

import httpx

from surfaces.errors import BadInput
from surfaces.net.transport import DeadlineTransport, look_up
from surfaces.text.reasons import reason

Resolve = Callable[[str, int], Sequence[str]]
Address = IPv4Address | IPv6Address

LONGEST = 500  # characters of a URL
LONGEST_LOOKUP = 10.0  # seconds
MOST_READ = 128 * 1024  # bytes of an answer
NAME = re.compile(r"[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?)*")
NUMBER = re.compile(r"[0-9]+|0x[0-9a-f]*")  # a last label like this makes an address of a name
OURS = re.compile(r"[^.]+|(.+\.)?(localhost|local|internal|home\.arpa)")
UNWRITTEN = re.compile(r"[\s\\\x00-\x1f\x7f]")  # read differently by different programs
DEFAULT_PORTS = {"http": 80, "https": 443}

# Networks that are refused, narrowest first.
REFUSED = [
    (ip_network(block), what)
    for block, what in [
        ("169.254.169.254/32", "network.metadata"),
        ("168.63.129.16/32", "network.metadata"),
        ("fd00:ec2::254/128", "network.metadata"),
        ("0.0.0.0/8", "network.unspecified"),
        ("::/128", "network.unspecified"),
        ("127.0.0.0/8", "network.loopback"),
        ("::1/128", "network.loopback"),
        ("169.254.0.0/16", "network.link_local"),
        ("fe80::/10", "network.link_local"),
        ("10.0.0.0/8", "network.private"),
        ("172.16.0.0/12", "network.private"),
        ("192.168.0.0/16", "network.private"),
        ("fc00::/7", "network.private"),
        ("fec0::/10", "network.private"),
        ("100.64.0.0/10", "network.shared"),
        ("224.0.0.0/4", "network.multicast"),
        ("ff00::/8", "network.multicast"),
        ("::ffff:0:0/96", "network.mapped"),
        ("::/96", "network.mapped"),
        ("64:ff9b::/96", "network.nat64"),
        ("64:ff9b:1::/48", "network.nat64"),
        ("2002::/16", "network.six_to_four"),
        ("2001::/23", "network.reserved"),
        ("2001:db8::/32", "network.reserved"),
        ("3fff::/20", "network.reserved"),
        ("192.0.0.0/24", "network.reserved"),
        ("192.88.99.0/24", "network.reserved"),
        ("198.18.0.0/15", "network.reserved"),
    ]
]
PUBLIC_V6 = ip_network("2000::/3")


class UnsafeUrl(BadInput):
    """The URL is refused. The message says which address and why."""


@dataclass(frozen=True, slots=True)
class ResolvedUrl:
    """A URL, the name it is called by, and the only addresses it may be reached at."""

    url: str
    host: str
    addresses: tuple[str, ...]


def check_url(url: str, *, resolve: Resolve, allow_private: bool) -> ResolvedUrl:
    """Resolve and check, or raise `UnsafeUrl` if any address is refused."""
    parts = well_formed(url, allow_private=allow_private)
    host = host_of(parts)
    literal = _literal(host)
    port = parts.port or DEFAULT_PORTS[parts.scheme]
    found = [literal] if literal else [_address(answer) for answer in resolve(host, port)]
    if not found:
        raise UnsafeUrl(reason("address.no_answer", host=host))
    if not allow_private:
        for address in found:
            _judge(host, address)
    unique = dict.fromkeys(str(address) for address in found)
    return ResolvedUrl(url=str(parts), host=host, addresses=tuple(unique))


def well_formed(url: str, *, allow_private: bool) -> httpx.URL:
    """Check the form, without DNS."""
    check_length(url)
    if UNWRITTEN.search(url):
        raise UnsafeUrl("address.bad_characters")
    try:
        parts = httpx.URL(url).copy_with(fragment=None)
        is_whole = parts.scheme in DEFAULT_PORTS and bool(parts.host)  # decodes xn--
    except (httpx.InvalidURL, UnicodeError) as error:
        raise UnsafeUrl("address.not_web") from error
    if not is_whole:
        raise UnsafeUrl("address.not_whole")
    if parts.userinfo:
        raise UnsafeUrl("address.credentials")
    if parts.port is not None and not 1 <= parts.port <= 65535:
        raise UnsafeUrl(reason("address.bad_port", port=str(parts.port)))
    # No certificate names a host with the dot that a whole name may end with.
    parts = parts.copy_with(host=host_of(parts).removesuffix("."))
    host = host_of(parts)
    literal = _literal(host)
    if not allow_private:
        if parts.scheme != "https":
            raise UnsafeUrl("address.no_https")
        if literal:
            _judge(host, literal)
        elif OURS.fullmatch(host):
            raise UnsafeUrl(reason("address.own_name", host=host))
    return parts


def check_length(url: str) -> None:
    if len(url) > LONGEST:
        raise UnsafeUrl(reason("address.too_long", url=len(url), longest=LONGEST))


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
            raise UnsafeUrl(reason("address.bad_number", host=host)) from error
    if len(host) > 253 or not NAME.fullmatch(host):
        raise UnsafeUrl(reason("address.bad_host", host=host[:80]))
    return None


def _address(text: str) -> Address:
    try:
        return ip_address(text)
    except ValueError as error:
        raise UnsafeUrl(reason("address.no_address", text=text[:80])) from error


def _judge(host: str, address: Address) -> None:
    what = why_refused(address)
    if not what:
        return
    if host == str(address):
        raise UnsafeUrl("address.refused", address=address, what=reason(what))
    raise UnsafeUrl("address.refused_name", host=host, address=address, what=reason(what))


def why_refused(address: Address) -> str:
    """The code of why `address` is refused; "" if it is public."""
    is_public = address.is_global and (address.version == 4 or address in PUBLIC_V6)
    found = (what for network, what in REFUSED if address in network)
    return next(found, "" if is_public else "network.reserved")


def system_resolve(host: str, port: int) -> list[str]:
    try:
        return look_up(host, port, LONGEST_LOOKUP)
    except (OSError, UnicodeError) as error:
        raise UnsafeUrl(reason("address.not_resolved", host=host)) from error


class PinnedTransport(DeadlineTransport):
    """Connects to the pinned addresses only; certificate and Host header keep the name."""

    def __init__(
        self, pinned: ResolvedUrl, *, seconds: float, trust: ssl.SSLContext | None = None
    ) -> None:
        # Whatever host is asked for, it leads to the pinned addresses.
        super().__init__(
            seconds=seconds,
            most_bytes=MOST_READ,
            find=lambda host, port, seconds: pinned.addresses,
            trust=trust,
        )
