"""Read every environment variable in one place, typed.

A wrong value ends the program with one sentence that names the variable and
says what it may be. `NAME_FILE` is read in place of `NAME`, for secrets that
are mounted as files. A `.env` file beside `manage.py` fills what is not set.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from config import email as config_email

BASE = Path(__file__).resolve().parent.parent


class WrongValue(ValueError):
    """A variable cannot be used as it is. The message is one sentence."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Env:
    """What the environment says, or the default. Field names are the variables, lowered."""

    secret_key: str = ""  # "" = made once and kept in the data folder
    credential_keys: tuple[str, ...] = ()  # Fernet keys, newest first; () = likewise
    database_url: str = ""  # "" = the embedded PostgreSQL
    database_owner_url: str = ""  # who migrates; "" = the role of database_url
    redis_url: str = ""  # "" = the queue lives in the database
    colloquy_data: Path = BASE / ".data"
    colloquy_url: str = ""  # where operators reach us, e.g. https://desk.example.org
    allowed_hosts: tuple[str, ...] = ("localhost", "127.0.0.1", "[::1]")
    host: str = "127.0.0.1"
    port: int = 8000
    debug: bool = False
    log_level: str = "INFO"
    log_format: str = "json"
    q_cluster_name: str = "colloquy"
    q_workers: int = 2
    web_workers: int = 2
    web_threads: int = 8
    send_lease_seconds: int = 120
    look_after_seconds: int = 20
    wake_private_addresses: bool = False
    email_url: str = field(default="", repr=False)  # "" = no mails; with a password: not shown
    mail_from: str = ""  # "" = colloquy@ the host of colloquy_url
    colloquy_live_clients: int = 400  # open streams per web process; 0 = none, browsers ask
    colloquy_pg_fsync: bool = True


BOUNDS = {
    "port": (1, 65535),
    "q_workers": (1, 64),
    "web_workers": (1, 64),
    "web_threads": (1, 64),
    "send_lease_seconds": (2, 3600),
    "look_after_seconds": (1, 3600),
    "colloquy_live_clients": (0, 10_000),
}
CHOICES = {"log_level": ("DEBUG", "INFO", "WARNING", "ERROR"), "log_format": ("json", "text")}
MAIL_CHECKS = {"email_url": config_email.read, "mail_from": config_email.check_sender}
TRUE = {"1", "true", "yes", "on"}
FALSE = {"0", "false", "no", "off", ""}


def read(environ: Mapping[str, str]) -> Env:
    """Turn `environ` into an `Env`, or raise `WrongValue`."""
    given: dict[str, Any] = {}
    for each in fields(Env):
        raw = _raw(each.name.upper(), environ)
        if raw is not None:
            given[each.name] = _typed(each.name, str(each.type), raw.strip())
    return Env(**given)


def _raw(name: str, environ: Mapping[str, str]) -> str | None:
    path = environ.get(f"{name}_FILE")
    if path is None:
        return environ.get(name)
    try:
        return Path(path).read_text("utf-8")
    except OSError as error:
        raise WrongValue(f"{name}_FILE names {path}, which cannot be read.") from error


def _typed(name: str, kind: str, raw: str) -> Any:
    if kind == "Path":
        return Path(raw).expanduser().resolve() if raw else Env.__dataclass_fields__[name].default
    if kind.startswith("tuple"):
        return tuple(part.strip() for part in raw.split(",") if part.strip())
    if name in MAIL_CHECKS:
        try:
            MAIL_CHECKS[name](raw)
        except ValueError as error:  # said without the value: it is a secret
            raise WrongValue(f"{name.upper()} cannot be used: {error}.") from None
        return raw
    wanted = ""
    if kind == "bool":
        if raw.lower() in TRUE | FALSE:
            return raw.lower() in TRUE
        wanted = "be on or off"
    elif kind == "int":
        least, most = BOUNDS[name]
        with suppress(ValueError):
            if least <= int(raw) <= most:
                return int(raw)
        wanted = f"be a whole number, {least} to {most}"
    elif name in CHOICES:
        for word in CHOICES[name]:
            if raw.lower() == word.lower():
                return word
        wanted = f"be one of {', '.join(CHOICES[name])}"
    elif name == "colloquy_url" and raw:
        parts = urlsplit(raw)
        if parts.scheme in {"http", "https"} and parts.hostname and parts.path in {"", "/"}:
            return raw.rstrip("/")
        wanted = "look like https://desk.example.org"
    if wanted:
        raise WrongValue(f"{name.upper()} is {raw!r}; it must {wanted}.")
    return raw


def dotenv(path: Path) -> dict[str, str]:
    """Read KEY=VALUE lines; no expansion, `#` begins a comment line."""
    if not path.is_file():
        return {}
    found: dict[str, str] = {}
    for number, line in enumerate(path.read_text("utf-8").splitlines(), start=1):
        line = line.strip()
        if not line or line.startswith("#"):
            continue
        key, sign, value = line.partition("=")
        if not sign or not key.strip().isidentifier():
            raise WrongValue(f"{path.name}, line {number}: expected NAME=value.")
        found[key.strip()] = value.strip().strip("'\"")
    return found


def load() -> Env:
    """Read the process environment and `.env`, or end the program with one sentence."""
    try:
        return read({**dotenv(BASE / ".env"), **os.environ})
    except WrongValue as error:
        raise SystemExit(f"Colloquy cannot start: {error}") from error
