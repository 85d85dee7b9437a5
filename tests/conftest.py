"""The world of a test: noon, no network beyond this machine, a ledger that can be emptied."""

from __future__ import annotations

import gc
import ipaddress
import os
import socket
from collections.abc import Iterator
from datetime import datetime
from typing import Any

import pytest
from django.db import connection

from tests import emptying
from tests.factories import NOON, make_operator

# pytest-playwright runs an event loop in this thread; our own calls stay synchronous.
os.environ.setdefault("DJANGO_ALLOW_ASYNC_UNSAFE", "true")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What starts and kills servers runs beside calm tests, not beside more of its kind."""
    for item in items:
        if "tests/config/" in item.path.as_posix():
            item.add_marker(pytest.mark.xdist_group("crash"))


def pytest_collection_finish() -> None:
    """What is loaded by now stays; the collector need not walk through it a thousand times."""
    gc.collect()
    gc.freeze()


@pytest.fixture
def noon() -> datetime:
    return NOON


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup: None, django_db_blocker: Any) -> None:
    # Tests with real transactions empty their tables afterwards; the ledger refuses that.
    with django_db_blocker.unblock(), connection.cursor() as cursor:
        cursor.execute("ALTER TABLE surfaces_auditevent DISABLE TRIGGER ledger_is_never_emptied")
        emptying.quickly()


@pytest.fixture(scope="session", autouse=True)
def _quick_and_quiet() -> Iterator[None]:
    """Hashing a password is slow on purpose; a test signs in a hundred times."""
    from django.conf import settings

    settings.STATIC_ROOT.mkdir(parents=True, exist_ok=True)
    slow, settings.PASSWORD_HASHERS = (
        settings.PASSWORD_HASHERS,
        ["django.contrib.auth.hashers.MD5PasswordHasher"],
    )
    yield
    settings.PASSWORD_HASHERS = slow


@pytest.fixture(autouse=True)
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    """A test that forgets its transport fails instead of calling the world."""
    connect = socket.socket.connect

    def only_here(self: socket.socket, address: Any) -> None:
        if isinstance(address, tuple) and not _is_local(str(address[0])):
            raise AssertionError(f"a test tried to reach {address}")
        connect(self, address)

    monkeypatch.setattr(socket.socket, "connect", only_here)


def _is_local(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


@pytest.fixture
def operator(db: None) -> Any:
    return make_operator(username="mira", role="moderator", first_name="Mira", last_name="Kovač")


@pytest.fixture
def desk(client: Any, operator: Any) -> Iterator[Any]:
    """A signed-in browser without scripts."""
    client.force_login(operator)
    return client
