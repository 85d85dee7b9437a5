"""Connecting: said twice it is said once, and what cannot work is refused before it is kept."""

from __future__ import annotations

import threading
from typing import Any

import pytest
from django.db import connection

from surfaces.accounts.connect import connect
from surfaces.errors import BadInput
from surfaces.models import Account, AuditEvent, HubAuthor, Surface
from tests.factories import NOON

pytestmark = [pytest.mark.django_db, pytest.mark.engine]
TOKEN = "moltbook_sk_0123456789"


def join(kind: str = "moltbook", **given: Any) -> Account:
    ordinary = {"agent": "iris", "token": TOKEN, "by": "operator:mira", "now": NOON}
    return connect(kind, **(ordinary | given))


def test_a_first_connection_is_cautious_and_due_now():
    account = join()
    assert (account.name, account.mode, account.every) == ("iris@moltbook", "review", 5)
    assert (account.state, account.next_watch_at, account.is_on) == ("ok", NOON, True)
    assert account.credential == TOKEN


def test_the_token_is_nowhere_in_the_clear():
    account = join()
    row = Account.objects.values().get(pk=account.pk)
    lines = list(AuditEvent.objects.values())
    assert TOKEN not in f"{row} {bytes(row['sealed_credential'])!r} {lines} {account!r}"


def test_said_twice_it_is_one_account_on_one_surface():
    first, second = join(), join(every=30, mode="shadow", token="")
    assert first.pk == second.pk
    assert (Account.objects.count(), Surface.objects.count()) == (1, 1)
    assert (second.every, second.mode, second.credential) == (30, "shadow", TOKEN)


def test_a_new_token_ends_a_failed_sign_in_and_asks_who_we_are_again():
    account = join()
    account.becomes("auth_failed", now=NOON, why="the key is not taken")
    Account.objects.update(remote_id="7")
    again = join(token="moltbook_sk_another")
    assert (again.state, again.remote_id, again.credential) == ("ok", "", "moltbook_sk_another")


def test_the_service_named_by_its_own_address_is_the_same_service():
    """Two accounts with one credential would answer every comment twice."""
    join()
    join(base_url="https://www.moltbook.com/api/v1/")
    assert (Account.objects.count(), Surface.objects.count()) == (1, 1)


@pytest.mark.parametrize(
    "spelling",
    ["https://HUB.example/api/v1", "https://hub.example:443/api/v1/", "HTTPS://hub.example/api/v1"],
)
def test_one_service_spelled_otherwise_is_one_surface(spelling: str):
    """Also if it was connected when spellings still made a difference."""
    join(base_url="https://hub.example/api/v1")
    join(base_url=spelling)
    Surface.objects.update(base_url=spelling)
    join(base_url="https://hub.example/api/v1")
    assert (Account.objects.count(), Surface.objects.count()) == (1, 1)


def test_two_addresses_on_one_host_are_two_surfaces():
    first = join(base_url="http://127.0.0.1:8000/one/api/v1")
    second = join(base_url="http://127.0.0.1:8000/two/api/v1")
    assert first.surface_id != second.surface_id
    assert first.name != second.name


def test_the_built_in_hub_needs_no_token_and_keeps_its_name():
    account = join("hub", token="")
    assert account.credential
    assert HubAuthor.objects.filter(name="iris").exists()
    before = account.credential
    assert join("hub", token="").credential == before


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"kind": "teletext"}, "There is no kind of surface"),
        ({"agent": "Iris Murdoch"}, "not a valid short name"),
        ({"agent": "i" * 63, "base_url": f"https://{'h' * 60}.example/"}, "too long"),
        ({"handle": "h" * 121}, "too long"),
        ({"mode": "loud"}, "There is no mode"),
        ({"every": 0}, "1 to 1440"),
        ({"every": 1441}, "1 to 1440"),
        ({"token": "two words"}, "not allowed"),
        ({"token": "kéy"}, "not allowed"),
        ({"token": ""}, "needs a credential"),
        ({"base_url": "moltbook.com"}, "not a valid address"),
        ({"base_url": "http://moltbook.example"}, "can read the credential"),
        ({"base_url": "https://iris:pw@moltbook.example"}, "not a valid address"),
        ({"base_url": "https://moltbook.example:port/"}, "not a valid address"),
        ({"base_url": "https://moltbook.example:99999/"}, "not a valid address"),
        ({"base_url": "https://[::1/"}, "not a valid address"),
        ({"base_url": "https://xn--/"}, "not a valid address"),
        ({"base_url": "https://hub.exa\nmple/"}, "not a valid address"),
        ({"base_url": "https://moltbook.com/api/v1"}, "www"),
        ({"base_url": "https://moltbook.ai/api/v1"}, "not Moltbook"),
        ({"base_url": f"https://moltbook.example/{'x' * 300}"}, "too long"),
    ],
)
def test_what_cannot_work_is_refused_and_nothing_is_kept(given: dict[str, Any], says: str):
    with pytest.raises(BadInput, match=says) as refused:
        join(**given)
    assert "pw" not in str(refused.value)
    assert not Account.objects.exists()
    assert not Surface.objects.exists()
    assert not AuditEvent.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_two_at_once_make_one_account():
    start, made = threading.Barrier(4), []

    def work() -> None:
        start.wait()
        try:
            made.append(join().pk)
        finally:
            connection.close()

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(made) == 4
    assert (Account.objects.count(), Surface.objects.count()) == (1, 1)


@pytest.mark.parametrize("given", ["https://m.example", "https://m.example/"])
def test_an_address_without_a_path_is_completed(given: str):
    assert join(base_url=given).surface.base_url == "https://m.example/api/v1"
    join(base_url="https://m.example/api/v1")
    assert Surface.objects.count() == 1


@pytest.mark.parametrize("given", ["https://m.example/v1", "https://m.example/api/v1/posts"])
def test_an_address_with_another_path_is_refused(given: str):
    with pytest.raises(BadInput, match="must end with /api/v1"):
        join(base_url=given)
    assert not Account.objects.exists()
