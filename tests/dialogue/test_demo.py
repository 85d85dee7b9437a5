"""The demo's two voices: they speak in the built-in hub, and a person looks first."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from importlib import import_module
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.db import IntegrityError, connection, transaction
from django.utils import timezone

from config.postgres.base import as_owner
from dialogue import demo
from dialogue.agents import connect, presences
from dialogue.agents import services as agent_services
from dialogue.agents.settings.values import agent_values
from dialogue.inbox import collect
from dialogue.models import (
    Agent,
    AgentSettings,
    Kernel,
    ModelEndpoint,
    Notification,
    Presence,
    WakeHook,
)
from dialogue.replies.loop import answer_due
from dialogue.voice.base import Reply, built
from dialogue.voice.output_checks import OutputContext, find_problems
from surfaces import demo as hub
from surfaces.delivery.preflight import start_sending
from surfaces.errors import NotAllowed
from surfaces.hub import services as hub_services
from surfaces.models import Account, AuditEvent, Draft, Message, Surface
from surfaces.settings.services import change
from tests.factories import (
    NOON,
    make_account,
    make_agent,
    make_approved,
    make_draft,
    make_message,
)

pytestmark = pytest.mark.django_db(transaction=True)

TABLES = (Agent, AgentSettings, Presence, Kernel, Notification, Draft, Account, Surface, Message)


def run_demo(*words: str) -> str:
    out = StringIO()
    call_command("demo", *words, stdout=out)
    return out.getvalue().strip()


def answer_now(minutes: int = 0) -> None:
    """What the replier does, so many minutes from now."""
    now = timezone.now() + timedelta(minutes=minutes)
    collect.collect(now=now)
    answer_due("desk:1", clock=lambda: now)


def contents() -> dict[str, int]:
    return {table.__name__: table.objects.count() for table in TABLES}


# ── making it ─────────────────────────────────────────────────────────────


def test_two_agents_speak_each_through_an_account_of_the_hub():
    said = run_demo()
    found = Presence.objects.live().select_related("agent__settings", "account__surface")
    assert {(one.agent.slug, one.account.name) for one in found} == {
        ("gabriel", "gabriel@hub-demo"),
        ("iris", "iris@hub-demo"),
    }
    for presence in found:
        agent = presence.agent
        assert agent.settings.is_autonomous
        assert (agent.settings.voice, presence.effective_mode) == ("scripted", "review")
        assert len(agent.persona) > 300
        assert agent.kernels.count() >= 3
        assert presence.explore_share == 0.25
    assert [agent.slug for agent in Agent.objects.filter(settings__lays_stones=True)] == ["gabriel"]
    assert "read as gabriel@hub-demo and iris@hub-demo, 3 drafts await approval" in said


def test_nothing_of_it_goes_out_to_the_world():
    run_demo()
    assert {(place.kind, place.base_url) for place in Surface.objects.all()} == {("hub", "")}
    assert {account.mode for account in Account.objects.all()} == {"review"}
    assert not ModelEndpoint.objects.exists()
    assert not WakeHook.objects.exists()


def test_its_drafts_speak_as_gabriel_and_say_what_was_meant():
    run_demo()
    drafts = Draft.objects.waiting()
    assert len(drafts) == 3
    for draft in drafts:
        assert (draft.agent, draft.made_by, draft.origin) == (
            "gabriel", "agent:gabriel", "scripted",
        )  # fmt: skip
        assert draft.terms
        assert draft.pointer
        assert draft.exit
        assert draft.text == built(draft.terms, draft.pointer, draft.exit)


def test_its_answers_pass_the_checks_that_a_voice_passes():
    run_demo()
    for draft in Draft.objects.waiting().select_related("account__surface"):
        written = Reply(terms=draft.terms, pointer=draft.pointer, exit=draft.exit, text=draft.text)
        context = OutputContext(traits=draft.account.surface.traits, longest=1_200)
        assert find_problems(written, context) == []


def test_a_newcomer_sees_a_draft_of_each_appear_within_two_minutes():
    run_demo()
    seeded = set(Draft.objects.values_list("pk", flat=True))
    answer_now(0)
    answer_now(2)
    fresh = Draft.objects.exclude(pk__in=seeded)
    assert {draft.agent for draft in fresh} == {"gabriel", "iris"}
    assert {draft.state for draft in fresh} == {"waiting"}
    assert all(draft.target.author not in hub.OURS for draft in fresh)


def test_what_waits_already_is_not_answered_a_second_time():
    run_demo()
    answer_now()
    for draft in Draft.objects.filter(made_by="agent:gabriel", agent="gabriel"):
        assert Draft.objects.answering(draft.target).count() == 1


def test_twice_is_once():
    run_demo()
    before = contents()
    assert run_demo() == "The demo exists already."
    assert contents() == before


def test_connecting_a_voice_of_the_demo_again_is_said_once():
    run_demo()
    before = contents()
    joined = connect.connect("hub", agent="gabriel", mode="shadow", by="operator:mira", now=NOON)
    assert joined.account.mode == "shadow"
    assert contents() == before


def test_beside_an_agent_no_demo_is_made():
    make_agent(slug="vera")
    before = contents()
    assert run_demo("--if-empty") == "An agent exists already; no demo was created."
    with pytest.raises(CommandError, match=r"in use \(the agent vera\)") as refused:
        run_demo()
    assert refused.value.returncode == 2
    assert contents() == before


# ── taking it away ────────────────────────────────────────────────────────


def test_clearing_takes_its_agents_with_all_they_did():
    before = contents()
    run_demo()
    answer_now()
    assert run_demo("--clear") == "Removed the demo. Its entries in the audit log are kept."
    assert contents() == before


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


@contextmanager
def without_guards() -> Iterator[None]:
    """What the owner of the tables does meanwhile meets no trigger."""
    with as_owner(), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SET LOCAL session_replication_role = replica")
        yield


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


def test_clearing_leaves_an_agent_that_an_operator_made():
    run_demo()
    vera = agent_services.make_agent("vera", by="operator:demo")
    run_demo("--clear")
    assert list(Agent.objects.all()) == [vera]


def test_a_refused_clearing_leaves_its_agents():
    run_demo()
    author, _ = hub_services.join(name="real", now=NOON)
    post = hub.HubPost.objects.filter(author__name="iris").get()
    hub_services.comment(author=author, post=post, content="Hello.", now=NOON)
    before = contents()
    with pytest.raises(CommandError, match="real, who is not of the demo"):
        run_demo("--clear")
    assert contents() == before


# ── what it tells ─────────────────────────────────────────────────────────


def test_everybody_it_lets_speak_is_of_the_hub():
    assert [person["slug"] for person in demo.told()["agent"]] == list(hub.OURS)
    assert {answer["agent"] for answer in demo.told()["draft"]} <= set(hub.OURS)


def test_every_answer_finds_its_question():
    asked = [said["text"] for post in hub.talk()["post"] for said in post["comment"]]
    for answer in demo.told()["draft"]:
        assert sum(text.startswith(answer["answers"]) for text in asked) == 1


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
