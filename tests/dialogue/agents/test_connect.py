"""Connecting an agent: all four or none; said twice it is said once; a switch stays off."""

from __future__ import annotations

import json
import threading
import time
from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import connection, transaction
from django.test import Client
from django.urls import reverse

from dialogue.agents import connect, presences
from dialogue.agents import services as agent_services
from dialogue.agents.connect import ConnectResult
from dialogue.models import Agent, AgentSettings, Presence
from surfaces.errors import BadInput, NotAllowed
from surfaces.models import Account, AuditEvent, HubAuthor, Surface
from tests.factories import NOON, make_account, make_agent

pytestmark = [pytest.mark.django_db, pytest.mark.engine]
TOKEN = "moltbook_sk_0123456789"


def join(kind: str = "moltbook", **given: Any) -> ConnectResult:
    ordinary = {"agent": "iris", "token": TOKEN, "by": "operator:mira", "now": NOON}
    return connect.connect(kind, **(ordinary | given))


def rows() -> dict[str, int]:
    tables = (Agent, AgentSettings, Presence, Account, Surface, HubAuthor, AuditEvent)
    return {table.__name__: table.objects.count() for table in tables}


def account_mode() -> str:
    return Account.objects.get().mode


# ── what it makes ─────────────────────────────────────────────────────────


def test_an_unknown_agent_is_made_and_answers_with_a_person_in_between():
    joined = join(agent="iris-murdoch")
    assert joined.agent_is_new
    assert (joined.agent.name, joined.agent.settings.is_autonomous) == ("Iris Murdoch", True)
    assert (joined.presence.mode, joined.presence.effective_mode) == ("", "review")
    assert joined.presence.since == NOON
    assert (joined.account.name, joined.account.mode) == ("iris-murdoch@moltbook", "review")


def test_said_twice_it_is_said_once():
    first = join()
    before = rows()
    second = join(token="")
    assert not second.agent_is_new
    assert (second.presence.pk, second.account.pk) == (first.presence.pk, first.account.pk)
    assert rows() == before | {"AuditEvent": before["AuditEvent"] + 1}
    assert AuditEvent.objects.first().action == "account.changed"


def test_one_agent_speaks_on_two_surfaces():
    join()
    join("hub", token="")
    assert Agent.objects.count() == 1
    assert Presence.objects.live().count() == 2


def test_an_existing_agent_whose_switch_is_off_stays_silent():
    agent = make_agent(slug="iris", settings={"is_autonomous": False})
    joined = join()
    assert not joined.agent_is_new
    assert joined.agent == agent
    assert not AgentSettings.objects.get().is_autonomous


def test_an_account_of_the_ground_floor_gets_its_agent_by_connecting_again():
    account = make_account(name="gabriel@place", surface=Surface.objects.create(
        slug="place", name="Place", kind="moltbook", base_url="http://127.0.0.1:9/p"
    ))  # fmt: skip
    joined = join(agent="gabriel", base_url="http://127.0.0.1:9/p", token="")
    assert joined.account == account
    assert Presence.objects.live().get().account == account


def test_a_presence_that_ended_begins_anew_from_now():
    first = join()
    presences.leave(first.presence, by="operator:mira", now=NOON)
    again = join(token="")
    assert again.presence.pk != first.presence.pk
    assert list(Presence.objects.live()) == [again.presence]


# ── the mode ──────────────────────────────────────────────────────────────


@pytest.mark.parametrize("mode", ["auto", "review", "shadow", "off"])
def test_a_mode_given_is_the_presences_own_and_the_account_obeys(mode: str):
    joined = join(mode=mode)
    assert (joined.presence.mode, joined.account.mode, account_mode()) == (mode, mode, mode)
    assert joined.agent.settings.is_autonomous, "the mode says off; the switch is another thing"


def test_no_mode_given_is_the_agents_own():
    make_agent(slug="iris", settings={"mode": "shadow"})
    joined = join()
    assert (joined.presence.mode, account_mode()) == ("", "shadow")


def test_no_mode_given_keeps_what_the_presence_has():
    join(mode="auto")
    assert join(token="").presence.mode == "auto"
    assert account_mode() == "auto"


@pytest.mark.parametrize("mode", ["auto", "shadow", "off"])
def test_no_mode_given_keeps_the_mode_of_an_account_that_had_no_agent(mode: str):
    surface = Surface.objects.create(slug="moltbook", name="Moltbook", kind="moltbook")
    make_account(name="iris@moltbook", surface=surface, mode=mode)
    assert join(token="").presence.mode == mode
    assert account_mode() == mode


def test_no_mode_given_keeps_what_was_set_on_the_account():
    join()
    Account.objects.update(mode="off")
    join(token="")
    assert account_mode() == "off"


# ── nothing half-done ─────────────────────────────────────────────────────


def test_an_account_in_which_another_agent_speaks_is_refused_and_nothing_moves():
    account = join().account
    Presence.objects.update(agent=make_agent(slug="gabriel", name="Gabriel"))
    Agent.objects.filter(slug="iris").delete()
    before = rows()
    with pytest.raises(NotAllowed, match="iris@moltbook is already assigned to Gabriel"):
        join(every=60)
    assert rows() == before
    account.refresh_from_db()
    assert account.every == 5


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"agent": "Iris Murdoch"}, "not a valid short name"),
        ({"kind": "teletext"}, "There is no kind of surface"),
        ({"mode": "loud"}, "There is no mode"),
        ({"token": ""}, "needs a credential"),
    ],
)
def test_what_cannot_work_leaves_no_agent_behind(given: dict[str, Any], says: str):
    with pytest.raises(BadInput, match=says):
        join(**given)
    assert set(rows().values()) == {0}


def somebody_waits_to(query: str) -> bool:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_stat_clear_snapshot()")
        cursor.execute(
            "SELECT count(*) FROM pg_stat_activity"
            " WHERE wait_event_type = 'Lock' AND query LIKE %s",
            [f"{query}%"],
        )
        return bool(cursor.fetchone()[0])


@pytest.mark.django_db(transaction=True)
def test_an_agent_made_by_somebody_else_at_the_same_moment_is_taken_as_it_is():
    joined: list[ConnectResult] = []

    def work() -> None:
        try:
            joined.append(join())
        finally:
            connection.close()

    other = threading.Thread(target=work)
    with transaction.atomic():
        agent_services.make_agent("iris", by="operator:tom")
        other.start()
        until = time.monotonic() + 20
        while not somebody_waits_to('INSERT INTO "dialogue_agent"'):
            assert time.monotonic() < until
    other.join()
    assert (joined[0].agent_is_new, Agent.objects.count()) == (False, 1)
    assert not AgentSettings.objects.get().is_autonomous


# ── the command ───────────────────────────────────────────────────────────


def test_the_command_says_all_that_it_made(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("IRIS_TOKEN", TOKEN)
    out = StringIO()
    call_command("connect", "moltbook", "--agent", "iris", "--token-env", "IRIS_TOKEN",
                 "--every", "15", "--mode", "shadow", stdout=out)  # fmt: skip
    line = json.loads(out.getvalue())
    presence = Presence.objects.get()
    assert line == {
        "surface": "moltbook",
        "account": "iris@moltbook",
        "agent": "iris",
        "handle": "",
        "base_url": "https://www.moltbook.com/api/v1",
        "every_minutes": 15,
        "mode": "shadow",
        "state": "ok",
        "agent_name": "Iris",
        "agent_is_new": True,
        "says": "",
        "lays_stones": False,
        "stones_per_day": 1,
        "kernels": 0,
        "is_autonomous": True,
        "voice": "scripted",
        "presence": presence.pk,
        "presence_mode": "shadow",
        "presence_since": presence.since.isoformat(),
    }


def test_an_address_with_a_line_end_behind_it_is_the_same_address(monkeypatch: Any):
    monkeypatch.setenv("IRIS_TOKEN", TOKEN)
    for end in ("", "\n", "\r\n"):
        call_command("connect", "moltbook", "--agent", "iris", "--token-env", "IRIS_TOKEN",
                     "--base-url", f"https://molt.example{end}", stdout=StringIO())  # fmt: skip
    assert Account.objects.get().surface.base_url == "https://molt.example/api/v1"


def test_the_command_refuses_anothers_account_with_one_sentence_and_status_2():
    join("hub", token="")
    Presence.objects.update(agent=make_agent(slug="gabriel", name="Gabriel"))
    with pytest.raises(CommandError, match="iris@hub is already assigned to Gabriel") as refused:
        call_command("connect", "hub", "--agent", "iris", stdout=StringIO())
    assert refused.value.returncode == 2
    assert "\n" not in str(refused.value)


# ── the page ──────────────────────────────────────────────────────────────


def fill_in(client: Client, **given: Any) -> Any:
    ordinary = {"kind": "moltbook", "agent": "iris", "token": "tok-77", "every": 5}
    return client.post(reverse("dialogue:connect"), {**ordinary, "mode": "review", **given})


def test_the_page_is_where_it_always_was(admin: Client):
    assert reverse("dialogue:connect") == "/surfaces/connect"
    page = admin.get("/surfaces/connect").content.decode()
    assert "Connect an account" in page
    assert 'href="/surfaces/" data-go="s" aria-current="page"' in page


def test_the_page_makes_account_agent_and_presence(admin: Client):
    response = fill_in(admin)
    presence = Presence.objects.get()
    assert response.url == reverse("surfaces:account", args=[presence.account_id])
    assert (presence.agent.slug, presence.account.name) == ("iris", "iris@moltbook")
    assert (presence.mode, presence.account.credential) == ("review", "tok-77")
    assert AuditEvent.objects.called("presence.began").get().actor == "operator:ada"
    page = admin.get(response.url).content.decode()
    assert "Connected iris@moltbook to Iris." in page
    assert "tok-77" not in page


def test_the_page_says_when_the_agent_will_not_answer_by_itself(admin: Client):
    make_agent(slug="iris", settings={"is_autonomous": False})
    page = admin.get(fill_in(admin).url).content.decode()
    assert "To let the agent reply, switch on “Automatic replies”" in page


def test_the_page_never_gives_the_token_back(admin: Client):
    response = fill_in(admin, agent="Not A Slug!")
    assert response.status_code == 422
    assert "Not saved" in response.content.decode()
    assert "tok-77" not in response.content.decode()
    assert set(rows().values()) == {0}


def test_the_page_tells_who_speaks_there_already(admin: Client):
    join()
    Presence.objects.update(agent=make_agent(slug="gabriel", name="Gabriel"))
    response = fill_in(admin)
    assert response.status_code == 422
    assert "iris@moltbook is already assigned to Gabriel" in response.content.decode()


def test_only_administrators_connect(desk: Client):
    response = fill_in(desk)
    assert response.status_code == 403
    assert "Only administrators" in response.content.decode()
    assert set(rows().values()) == {0}


def test_a_new_credential_on_the_page_keeps_mode_and_poll_interval(admin: Client):
    account = join(mode="auto", every=60).account
    page = admin.get(fill_in(admin, token="tok-88", mode="", every="").url).content.decode()
    assert "New credential stored. Mode and poll interval are unchanged." in page
    account.refresh_from_db()
    assert (account.credential, account.mode, account.every) == ("tok-88", "auto", 60)


def test_the_page_connects_a_new_account_without_mode_and_interval(admin: Client):
    fill_in(admin, mode="", every="")
    account = Account.objects.get()
    assert (account.mode, account.every) == ("review", 5)


def test_what_is_given_for_an_account_that_exists_is_changed_and_said(admin: Client):
    join(mode="auto", every=60)
    page = admin.get(fill_in(admin, token="", mode="shadow", every="").url).content.decode()
    assert "Account iris@moltbook saved." in page
    assert "are unchanged" not in page
    assert account_mode() == "shadow"
