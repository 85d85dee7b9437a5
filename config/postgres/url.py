"""Turn DATABASE_URL into Django's settings; without one, into those of the embedded server.

DATABASE_OWNER_URL names the owner of the tables, who migrates them. The entry "OWNER" holds what is
different for that role; it is empty where one role does everything.
"""

import os
from pathlib import Path
from typing import Any

import psycopg
from psycopg.conninfo import conninfo_to_dict

from config.postgres import cluster, roles

ENGINE = "config.postgres"
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


def database(
    url: str | None, data: Path, *, owner_url: str | None = None, is_safe: bool = True
) -> dict[str, Any]:
    """Return one entry of `settings.DATABASES`, or raise ValueError with one sentence.

    Nothing is started here: the embedded server starts with the first connection.
    `is_safe` off lets it lose data in a power cut, for speed in tests.
    """
    options = {**OPTIONS, "application_name": os.environ.get("PGAPPNAME", "colloquy")}
    if not url:
        if owner_url:
            raise ValueError("DATABASE_OWNER_URL is set and DATABASE_URL is not: set both or none.")
        server = {"DATA": data, "IS_SAFE": is_safe}
        named = {"NAME": cluster.NAME, "USER": roles.PROGRAM, "OWNER": {"USER": cluster.NAME}}
        return {**ALWAYS, "ENGINE": ENGINE, **named, "EMBEDDED": server, "OPTIONS": options}
    program = _read("DATABASE_URL", url, options)
    owner = _read("DATABASE_OWNER_URL", owner_url, options) if owner_url else {}
    if owner and owner["NAME"] != program["NAME"]:
        raise ValueError("DATABASE_OWNER_URL and DATABASE_URL must name the same database.")
    if owner and not program["USER"]:
        raise ValueError("DATABASE_URL must name the program's role: postgresql://role@host/name.")
    return {**ALWAYS, "ENGINE": ENGINE, **program, "OWNER": owner}


def _read(variable: str, url: str, options: dict[str, Any]) -> dict[str, Any]:
    """Read a URL with PostgreSQL's own parser. No sentence repeats it: it holds a password."""
    if not url.startswith(SCHEMES):
        raise ValueError(f"{variable} must begin with postgresql:// or postgres://.")
    try:
        given: dict[str, Any] = conninfo_to_dict(url)
    except psycopg.Error:
        raise ValueError(
            f"{variable} cannot be read: it must look like "
            "postgresql://user:password@host:5432/name?sslmode=require, "
            "with odd characters written as %XX."
        ) from None
    if not given.get("dbname"):
        raise ValueError(f"{variable} names no database: end it with /name.")
    ports = filter(None, str(given.get("port", "")).split(","))
    if not all(port.isascii() and port.isdigit() and 1 <= int(port) <= 65535 for port in ports):
        raise ValueError(f"{variable} names a port that is not a number from 1 to 65535.")
    return {
        "NAME": given.pop("dbname"),
        "USER": given.pop("user", ""),
        "PASSWORD": given.pop("password", ""),
        "HOST": given.pop("host", ""),
        "PORT": given.pop("port", ""),
        "OPTIONS": {**options, **given},
    }
