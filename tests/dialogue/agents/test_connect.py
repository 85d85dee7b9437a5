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

from dialogue.agents import presences
from dialogue.agents import services as agent_services
from dialogue.agents.connect import ConnectResult
from dialogue.models import Agent, AgentSettings, Presence
from surfaces.errors import BadInput, NotAllowed
from surfaces.models import Account, AuditEvent, Surface
from tests.dialogue.agents.connections import TOKEN, account_mode, join, rows
from tests.factories import NOON, make_account, make_agent

pytestmark = [pytest.mark.django_db, pytest.mark.engine]


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
