"""Read where mails go from one variable: smtp://name:password@host:587/?tls=1."""

from dataclasses import dataclass, field
from email.utils import getaddresses
from urllib.parse import parse_qs, unquote, urlsplit

FORM = "it must look like smtp://name:password@mail.example.org:587/?tls=1"
PORTS = {"smtp": 25, "smtps": 465}
SWITCHES = {"1": True, "0": False}


@dataclass(frozen=True, kw_only=True, slots=True)
class Mail:
    """Where mails are handed in. No host: mail is not set up."""

    host: str = ""
    port: int = 25
    name: str = ""
    password: str = field(default="", repr=False)
    has_tls: bool = False  # begun in the clear, then STARTTLS
    has_ssl: bool = False  # from the first byte

    @property
    def is_set_up(self) -> bool:
        return bool(self.host)


def read(url: str) -> Mail:
    """Raise `ValueError` with a sentence that does not hold the address: a password is in it."""
    if not url:
        return Mail()
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        raise ValueError(FORM) from error
    if parts.scheme not in PORTS or not parts.hostname or parts.path not in {"", "/"}:
        raise ValueError(FORM)
    wishes = {name: values[-1] for name, values in parse_qs(parts.query).items()}
    if set(wishes) - {"tls"} or wishes.get("tls", "0") not in SWITCHES:
        raise ValueError(FORM)
    has_ssl, has_tls = parts.scheme == "smtps", SWITCHES[wishes.get("tls", "0")]
    if has_ssl and has_tls:
        raise ValueError("it asks for TLS twice: take smtps:// or ?tls=1")
    return Mail(
        host=parts.hostname,
        port=port or (587 if has_tls else PORTS[parts.scheme]),
        name=unquote(parts.username or ""),
        password=unquote(parts.password or ""),
        has_tls=has_tls,
        has_ssl=has_ssl,
    )


def check_sender(address: str) -> None:
    """One plain address, or a name and an address in <>; nothing that could begin a header."""
    found = getaddresses([address])
    is_one = len(found) == 1 and found[0][1].count("@") == 1 and " " not in found[0][1]
    if address and not (is_one and address.isprintable()):
        raise ValueError("enter one address, like Colloquy <colloquy@example.org>")
