"""The demo and everything else are kept apart, by services, by the database and before sending."""

from __future__ import annotations

from datetime import timedelta
from importlib import import_module
from pathlib import Path

import pytest
from django.db import IntegrityError, connection, transaction

from dialogue.agents import connect, presences
from dialogue.agents.settings.values import agent_values
from dialogue.models import Agent, Presence
from surfaces import demo as hub
from surfaces.delivery.preflight import start_sending
from surfaces.errors import NotAllowed
from surfaces.models import Account, AuditEvent, Draft
from surfaces.settings.services import change
from tests.dialogue.demo_runs import contents, run_demo, without_guards
from tests.factories import NOON, make_account, make_agent, make_approved, make_draft, make_message

pytestmark = pytest.mark.django_db(transaction=True)


# ── it stays in the demo ──────────────────────────────────────────────────


def test_an_agent_of_the_demo_is_connected_to_no_account_outside_it():
    run_demo()
    before = contents()
    with pytest.raises(NotAllowed, match="gabriel is an agent of the demo"):
        connect.connect(
            "moltbook", agent="gabriel", token="moltbook_x", by="operator:mira", now=NOON
        )
    assert contents() == before
    gabriel = Agent.objects.get(slug="gabriel")
    with pytest.raises(NotAllowed, match=r"manage\.py demo --clear"):
        presences.join(gabriel, make_account(), by="operator:mira", now=NOON)


def test_an_account_of_the_demo_is_used_by_no_other_agent():
    run_demo()
    presence = Presence.objects.get(agent__slug="gabriel")
    presences.leave(presence, by="operator:mira", now=NOON)
    with pytest.raises(NotAllowed, match="gabriel@hub-demo belongs to the demo"):
        presences.join(make_agent(), presence.account, by="operator:mira", now=NOON)


def outside(what: str) -> None:
    gabriel, account = Agent.objects.get(slug="gabriel"), make_account()
    of_demo = Account.objects.filter(is_demo=True)
    if what == "presence":
        Presence.objects.create(agent=gabriel, account=account, since=NOON)
    elif what == "moved presence":
        Presence.objects.filter(agent=gabriel).update(account=account)
    elif what == "draft":
        make_draft(target=make_message(account=account), agent="gabriel")
    elif what == "draft of another":
        make_draft(target=make_message(account=of_demo[0]), agent=make_agent().slug)
    elif what == "moved draft":
        Draft.objects.filter(agent="gabriel").update(account=account)
    elif what == "agent":
        Agent.objects.filter(pk=gabriel.pk).update(is_demo=False)
    else:
        of_demo.update(is_demo=False)


@pytest.mark.parametrize(
    "what",
    ["presence", "moved presence", "draft", "draft of another", "moved draft", "agent", "account"],
)
def test_the_database_keeps_the_demo_and_other_accounts_apart(what):
    run_demo()
    with pytest.raises(IntegrityError, match="kept apart"), transaction.atomic():
        outside(what)


def test_a_draft_of_the_demo_that_got_outside_is_not_sent():
    run_demo()
    account = make_account(mode="auto")
    with without_guards():
        draft = make_approved(target=make_message(account=account), agent="gabriel")
    draft.advance("sending", lease_until=NOON + timedelta(hours=1))
    assert not start_sending(draft, now=NOON)
    assert draft.state == "failed"
    assert "of the demo only" in str(draft.why)


def test_the_path_of_the_readme_uses_a_name_of_its_own():
    words = Path("README.md").read_text().split()
    named = words[words.index("--agent") + 1]
    assert named not in hub.OURS
    run_demo()
    joined = connect.connect(
        "moltbook", agent=named, token="moltbook_x", by="operator:mira", now=NOON
    )
    assert joined.agent_is_new
    assert (joined.kernels, joined.agent.settings.lays_stones, joined.agent.persona) == (
        0, False, "",
    )  # fmt: skip
    assert joined.says == ""


def test_connecting_an_agent_that_exists_says_what_it_will_do_there():
    given = {"by": "operator:mira", "now": NOON}
    first = connect.connect("hub", agent="vera", **given)
    assert (first.agent_is_new, first.says) == (True, "")
    change(first.agent, {"lays_stones": True, "kernels": ["Tides.", "Tools."]}, **given)
    second = connect.connect("moltbook", agent="vera", token="moltbook_x", mode="auto", **given)
    assert second.says == (
        "The agent vera existed already; its settings apply here. Mode: auto. It writes up to 1"
        " posts a day here, from 2 topic seeds."
    )


# ── what was there before the two were kept apart ─────────────────────────


def migrate_old_demo() -> None:
    """Run what the migration does with rows, as if nothing were marked or guarded yet."""
    mark = import_module("dialogue.migrations.0003_agent_is_demo").MARK
    with without_guards(), connection.cursor() as cursor:
        Agent.objects.update(is_demo=False)
        if gabriel := Agent.objects.filter(slug="gabriel", persona__contains="tides").first():
            Presence.objects.create(agent=gabriel, account=make_account(name="g@m"), since=NOON)
        cursor.execute(mark)


def test_an_agent_of_the_demo_that_spoke_outside_stays_there_without_the_demo():
    run_demo()
    gabriel = Agent.objects.get(slug="gabriel")
    change(
        gabriel,
        {"kernels": ["My own seed.", *agent_values(gabriel)["kernels"]], "replies_per_day": 7},
        by="operator:mira",
        now=NOON,
    )
    migrate_old_demo()
    gabriel = Agent.objects.select_related("settings").get(slug="gabriel")
    assert (gabriel.is_demo, gabriel.persona) == (False, "")
    assert (gabriel.settings.lays_stones, gabriel.settings.replies_per_day) == (False, 7)
    assert agent_values(gabriel)["kernels"] == ["My own seed."]
    live = Presence.objects.live().filter(agent=gabriel)
    assert [presence.account.name for presence in live] == ["g@m"]
    assert Agent.objects.get(slug="iris").is_demo
    assert Presence.objects.live().get(agent__slug="iris").account.is_demo
    event = AuditEvent.objects.about(gabriel).latest("pk")
    assert "was made by the demo" in str(event.why)
