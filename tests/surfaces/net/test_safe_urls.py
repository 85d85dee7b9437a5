"""Nobody sends us into our own network: what is refused, and what is allowed."""

from __future__ import annotations

import pytest

from surfaces.net.safe_urls import (
    ResolvedUrl,
    UnsafeUrl,
    check_url,
    origin_of,
    system_resolve,
    well_formed,
)
from tests.surfaces.net.resolvers import PUBLIC, PUBLIC_6, leading_to, unasked


def refused(url: str, *answers: str) -> str:
    """The sentence with which it is refused."""
    with pytest.raises(UnsafeUrl) as why:
        check_url(url, resolve=leading_to(*answers), allow_private=False)
    return str(why.value)


# ── what is refused, and the sentence ─────────────────────────────────────

SPELLED = {
    "https://127.0.0.1/": "127.0.0.1 is a loopback address",
    "https://127.8.8.8/": "127.8.8.8 is a loopback address",
    "https://2130706433/": "2130706433 leads to 127.0.0.1, a loopback address",
    "https://0x7f000001/": "leads to 127.0.0.1, a loopback address",
    "https://0x7f.1/": "0x7f.1 leads to 127.0.0.1, a loopback address",
    "https://0177.1/": "0177.1 leads to 127.0.0.1, a loopback address",
    "https://017700000001/": "leads to 127.0.0.1, a loopback address",
    "https://127.1/": "127.1 leads to 127.0.0.1, a loopback address",
    "https://127.0.0.1./": "a loopback address",
    "https://0/": "0 leads to 0.0.0.0, an unspecified address",
    "https://0.0.0.0/": "an unspecified address",
    "https://10.0.0.5:8443/x": "10.0.0.5 is a private address",
    "https://172.31.255.255/": "a private address",
    "https://192.168.1.1/": "a private address",
    "https://100.64.0.1/": "an address shared inside a provider's network",
    "https://100.127.255.255/": "an address shared inside a provider's network",
    "https://169.254.169.254/latest/": "169.254.169.254 is the metadata address of a cloud",
    "https://2852039166/latest/": "leads to 169.254.169.254, the metadata address of a cloud",
    "https://168.63.129.16/": "the metadata address of a cloud",
    "https://169.254.1.1/": "a link-local address",
    "https://192.0.0.192/": "a reserved address",
    "https://192.0.2.1/": "a reserved address",
    "https://198.18.0.1/": "a reserved address",
    "https://203.0.113.9/": "a reserved address",
    "https://224.0.0.1/": "a multicast address",
    "https://239.255.255.250/": "a multicast address",
    "https://240.0.0.1/": "a reserved address",
    "https://255.255.255.255/": "a reserved address",
    "https://[::]/": "an unspecified address",
    "https://[::1]/": "::1 is a loopback address",
    "https://[0:0:0:0:0:0:0:1]/": "a loopback address",
    "https://[fe80::1]/": "a link-local address",
    "https://[fd00:ec2::254]/": "the metadata address of a cloud",
    "https://[fd12:3456::1]/": "a private address",
    "https://[fec0::1]/": "a private address",
    "https://[ff02::1]/": "a multicast address",
    "https://[::ffff:127.0.0.1]/": "an IPv4 address in the clothes of IPv6",
    "https://[::ffff:7f00:1]/": "an IPv4 address in the clothes of IPv6",
    f"https://[::ffff:{PUBLIC}]/": "an IPv4 address in the clothes of IPv6",
    "https://[::127.0.0.1]/": "an IPv4 address in the clothes of IPv6",
    "https://[64:ff9b::7f00:1]/": "a NAT64 address, which hides an IPv4 address",
    "https://[64:ff9b:1::a00:1]/": "a NAT64 address",
    "https://[2002:7f00:1::]/": "a 6to4 address, which hides an IPv4 address",
    "https://[2001:0:1::1]/": "a reserved address",  # Teredo
    "https://[2001:db8::1]/": "a reserved address",
    "https://[3fff::1]/": "a reserved address",
    "https://[100::1]/": "a reserved address",
    "https://[5f00::1]/": "a reserved address",
    "https://[4000::1]/": "a reserved address",
}


@pytest.mark.parametrize(("url", "says"), SPELLED.items(), ids=SPELLED)
def test_an_address_of_our_own_is_refused_however_it_is_spelled(url: str, says: str):
    said = refused(url)
    assert says in said
    with pytest.raises(UnsafeUrl):
        well_formed(url, allow_private=False)  # known before anybody is asked


@pytest.mark.parametrize(
    ("url", "says"),
    [
        ("http://agent.example.org/", "Use https"),
        ("ftp://agent.example.org/", "Enter a full URL"),
        ("file:///etc/passwd", "Enter a full URL"),
        ("gopher://agent.example.org/", "Enter a full URL"),
        ("agent.example.org/wake", "Enter a full URL"),
        ("https://", "Enter a full URL"),
        ("", "Enter a full URL"),
        ("https://mira:geheim@agent.example.org/", "name or a password"),
        ("https://agent.example.org@127.0.0.1/", "name or a password"),
        ("https://agent.example.org:0/", "no port 0"),
        ("https://agent.example.org:65536/", "no port 65536"),
        ("https://agent.example.org:x/", "not a URL"),
        ("https://agent.example.org\\@127.0.0.1/", "backslash"),
        ("https://agent.example.org/a b", "blank"),
        ("https://agent.example.org/\r\nHost: x", "blank"),
        ("https://1.2.3.4.5/", "1.2.3.4.5 is no address"),
        ("https://256.1.1.1/", "not a URL"),
        ("https://xn--/", "not a URL"),
        ("https://xn--a.example/", "not a URL"),
        ("https://0177.0.0.1/", "not a URL"),
        ("https://0x100000000/", "is no address"),
        ("https://a_b.-c.org/", "is no name of a host"),
        ("https://%31%32%37.example/", "is no name of a host"),
        ("https://" + "a." * 127 + "org/", "is no name of a host"),
        ("https://agent.example.org/" + "a" * 500, "526 characters"),
        ("https://[fe80::1%25eth0]/", ""),
    ],
)
def test_what_is_no_address_for_us_is_said_in_one_sentence(url: str, says: str):
    said = refused(url, PUBLIC)
    assert says in said
    assert "geheim" not in said


@pytest.mark.parametrize(
    "name",
    ["localhost", "LOCALHOST", "localhost.", "a.localhost", "db", "printer.local",
     "metadata.google.internal", "nas.home.arpa"],
)  # fmt: skip
def test_a_name_of_our_own_network_is_refused_before_it_is_resolved(name: str):
    with pytest.raises(UnsafeUrl, match="a name of our own network"):
        check_url(f"https://{name}/", resolve=unasked, allow_private=False)


@pytest.mark.parametrize(
    "answers",
    [["10.1.2.3"], [PUBLIC, "10.1.2.3"], ["10.1.2.3", PUBLIC], [PUBLIC_6, PUBLIC, "10.1.2.3"]],
)
def test_one_private_answer_among_public_ones_is_enough(answers: list[str]):
    said = refused("https://agent.example.org/", *answers)
    assert said.startswith("agent.example.org leads to 10.1.2.3, a private address.")
    assert "WAKE_PRIVATE_ADDRESSES" in said


def test_a_name_that_leads_nowhere_or_to_nonsense_is_refused():
    assert "no address" in refused("https://agent.example.org/")
    assert "no address" in refused("https://agent.example.org/", "not an address")
    with pytest.raises(UnsafeUrl, match="could not be resolved"):
        system_resolve("a" * 64 + ".example", 443)  # too long a label: nobody is asked


def test_the_system_resolves_names_as_for_every_program():
    assert "127.0.0.1" in system_resolve("localhost", 443)


# ── what is allowed ───────────────────────────────────────────────────────


def test_every_address_of_a_public_name_is_pinned_once_and_in_order():
    pinned = check_url(
        "https://Agent.Example.org./wake?x=1#part",
        resolve=leading_to(PUBLIC_6, PUBLIC, PUBLIC),
        allow_private=False,
    )
    assert pinned == ResolvedUrl(
        "https://agent.example.org/wake?x=1", "agent.example.org", (PUBLIC_6, PUBLIC)
    )


def test_a_public_address_needs_no_resolver():
    assert check_url(f"https://{PUBLIC}:8443/", resolve=unasked, allow_private=False).addresses == (
        PUBLIC,
    )
    six = check_url(f"https://[{PUBLIC_6}]/", resolve=unasked, allow_private=False)
    assert six.addresses == (PUBLIC_6,)
    spelled = check_url("https://0x5db8d70e/", resolve=unasked, allow_private=False)
    assert spelled.addresses == (PUBLIC,), "a public address may be spelled oddly, too"


def test_a_name_of_another_script_is_resolved_in_ascii():
    asked: list[tuple[str, int]] = []

    def resolve(host: str, port: int) -> list[str]:
        asked.append((host, port))
        return [PUBLIC]

    check_url("https://bücher.example:444/", resolve=resolve, allow_private=False)
    assert asked == [("xn--bcher-kva.example", 444)]


@pytest.mark.parametrize("url", ["http://127.0.0.1:18789/", "http://[::1]/", "http://0x7f.1/"])
def test_where_it_is_allowed_a_private_address_is_pinned_too(url: str):
    assert check_url(url, resolve=unasked, allow_private=True).addresses[0] in {"127.0.0.1", "::1"}


def test_where_it_is_allowed_names_of_our_network_are_resolved():
    pinned = check_url("http://gateway/", resolve=leading_to("10.0.0.5"), allow_private=True)
    assert pinned.addresses == ("10.0.0.5",)


def test_only_scheme_host_and_port_are_shown_of_an_address():
    assert origin_of("https://a.example.org:8443/in/t0k3n?key=k") == "https://a.example.org:8443"
