"""The world of a test: noon, no network beyond this machine, a ledger that can be emptied."""

from __future__ import annotations

import gc
import hashlib
import ipaddress
import os
import socket
from collections.abc import Iterator
from datetime import datetime
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from hypothesis import HealthCheck, settings

from tests import truncate
from tests.factories import NOON, make_operator
from tests.markup import with_markup

# How long an example takes says nothing on a machine that tests with all its cores.
settings.register_profile("suite", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("suite")
# pytest-playwright runs an event loop in this thread; our own calls stay synchronous.
os.environ.setdefault("DJANGO_ALLOW_ASYNC_UNSAFE", "true")


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> Iterator[None]:
    """Browser tests come last.

    Playwright leaves its event loop marked as running in its worker, and code that starts an event
    loop of its own refuses to do so beside it.
    """
    yield
    items.sort(key=lambda item: "playwright" in getattr(item, "fixturenames", ()))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """What starts and kills servers runs one after the other; all else as workers are free.

    The marks of pytest-xdist 3.8 for groups have no effect with pytest 9.2.
    """
    from xdist.scheduler import LoadScopeScheduling

    class Scheduling(LoadScopeScheduling):  # type: ignore[misc]
        def _split_scope(self, nodeid: str) -> str:
            starts_servers = nodeid.startswith(("tests/config/", "tests/stories/"))
            return "servers" if starts_servers else nodeid

    return Scheduling(config, log)


def pytest_collection_finish() -> None:
    """What is loaded by now stays; the collector need not walk through it a thousand times."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 100)  # of a heap that holds every template and test


@pytest.fixture
def noon() -> datetime:
    return NOON


@pytest.fixture(scope="session")
def django_db_modify_db_settings(django_db_modify_db_settings: None) -> None:
    """Run as the program's role, on a server of which only a superuser is named, too."""
    given = connection.settings_dict
    if not given.get("OWNER"):
        owner = {name: given[name] for name in ("USER", "PASSWORD")}
        secret = hashlib.sha256(f"colloquy {given['PASSWORD']}".encode()).hexdigest()[:24]
        given.update(OWNER=owner, USER="colloquy_test_app", PASSWORD=secret)


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup: None, django_db_blocker: Any) -> Iterator[None]:
    # Tests with real transactions empty their tables afterwards; the audit log refuses that.
    with django_db_blocker.unblock():
        with truncate.owner().cursor() as cursor:
            cursor.execute(
                "ALTER TABLE surfaces_auditevent DISABLE TRIGGER audit_is_never_truncated"
            )
        truncate.quickly()
    yield
    truncate.owner().close()  # or the test database cannot be dropped


@pytest.fixture(scope="session", autouse=True)
def _quick_and_quiet() -> Iterator[None]:
    """Hashing a password is slow on purpose; a test signs in a hundred times.

    Each client would list all static files before its first request.
    """
    from django.conf import settings

    settings.STATIC_ROOT.mkdir(parents=True, exist_ok=True)
    slow, settings.PASSWORD_HASHERS = (
        settings.PASSWORD_HASHERS,
        ["django.contrib.auth.hashers.MD5PasswordHasher"],
    )
    settings.WHITENOISE_AUTOREFRESH = True
    settings.STYLE_GUIDE = True
    yield
    settings.PASSWORD_HASHERS = slow


@pytest.fixture(scope="session", autouse=True)
def _pages_are_markup() -> Iterator[None]:
    """Templates stand one element a line; tests compare what a page shows."""
    request = Client.request
    Client.request = lambda self, **facts: with_markup(request(self, **facts))
    yield
    Client.request = request


@pytest.fixture(scope="session", autouse=True)
def _signed_in_with_the_password() -> Iterator[None]:
    """Who is signed in by a test has given the password just now, as at the sign-in page."""
    from django.utils import timezone

    from surfaces.operators import confirmation

    force_login = Client.force_login

    def sign_in(self: Client, user: Any, backend: str | None = None) -> None:
        force_login(self, user, backend)
        session = self.session
        confirmation.remember(session, timezone.now())
        session.save()

    Client.force_login = sign_in  # type: ignore[method-assign]
    yield
    Client.force_login = force_login  # type: ignore[method-assign]


@pytest.fixture(autouse=True)
def threads_are_read_lately(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No thread is read again before a reply, except in tests that ask for `reads_again`."""
    from surfaces.watcher import reread

    if "reads_again" not in request.fixturenames:
        monkeypatch.setattr(reread, "is_outdated", lambda post, *, now: False)


@pytest.fixture
def reads_again() -> None:
    """Threads are read again before a reply, as in the program."""


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
