"""The demo's two voices: they speak in the built-in hub, and a person looks first."""

from __future__ import annotations

import pytest
from django.core.management import CommandError

from dialogue import demo
from dialogue.agents import connect
from dialogue.agents import services as agent_services
from dialogue.models import Agent, ModelEndpoint, Presence, WakeHook
from dialogue.voice.base import Reply, built
from dialogue.voice.output_checks import OutputContext, find_problems
from surfaces import demo as hub
from surfaces.hub import services as hub_services
from surfaces.models import Account, Draft, Surface
from tests.dialogue.demo_runs import answer_now, contents, run_demo
from tests.factories import NOON, make_agent

pytestmark = pytest.mark.django_db(transaction=True)


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
