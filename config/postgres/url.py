"""Turn DATABASE_URL into Django's settings; without one, into those of the embedded server."""

import os
from pathlib import Path
from typing import Any

import psycopg
from psycopg.conninfo import conninfo_to_dict

SCHEMES = ("postgres://", "postgresql://")
ALWAYS: dict[str, Any] = {"CONN_MAX_AGE": None, "CONN_HEALTH_CHECKS": True}
OPTIONS: dict[str, Any] = {
    "connect_timeout": 10,
    # A server that vanished is noticed within a minute, not after the system's two hours.
    "keepalives": 1,
    "keepalives_idle": 30,
    "keepalives_interval": 10,
    "keepalives_count": 3,
}


def database(url: str | None, data: Path, *, is_safe: bool = True) -> dict[str, Any]:
    """Return one entry of `settings.DATABASES`, or raise ValueError with one sentence.

    Nothing is started here: the embedded server starts with the first connection.
    `is_safe` off lets it lose data in a power cut, for speed in tests.
    """
    options = {**OPTIONS, "application_name": os.environ.get("PGAPPNAME", "colloquy")}
    if not url:
        server = {"DATA": data, "IS_SAFE": is_safe}
        named = {"ENGINE": "config.postgres", "NAME": "colloquy", "USER": "colloquy"}
        return {**ALWAYS, **named, "EMBEDDED": server, "OPTIONS": options}
    given = _read(url)
    return {
        **ALWAYS,
        "ENGINE": "config.postgres",
        "NAME": given.pop("dbname"),
        "USER": given.pop("user", ""),
        "PASSWORD": given.pop("password", ""),
        "HOST": given.pop("host", ""),
        "PORT": given.pop("port", ""),
        "OPTIONS": {**options, **given},
    }


def _read(url: str) -> dict[str, Any]:
    """Read a URL with PostgreSQL's own parser. No sentence repeats it: it holds a password."""
    if not url.startswith(SCHEMES):
        raise ValueError("DATABASE_URL must begin with postgresql:// or postgres://.")
    try:
        given: dict[str, Any] = conninfo_to_dict(url)
    except psycopg.Error:
        raise ValueError(
            "DATABASE_URL cannot be read: it must look like "
            "postgresql://user:password@host:5432/name?sslmode=require, "
            "with odd characters written as %XX."
        ) from None
    if not given.get("dbname"):
        raise ValueError("DATABASE_URL names no database: end it with /name.")
    ports = filter(None, str(given.get("port", "")).split(","))
    if not all(port.isascii() and port.isdigit() and 1 <= int(port) <= 65535 for port in ports):
        raise ValueError("DATABASE_URL names a port that is not a number from 1 to 65535.")
    return given
