from __future__ import annotations

from datetime import time, timedelta
from decimal import Decimal
from threading import Barrier, Thread
from typing import Any

import pytest
from django.db import connection

from dialogue import tuning
from dialogue.models import Agent, AgentSettings, Brain, HouseBudget, Kernel
from dialogue.tuning import ChangedMeanwhile, mark_of
from surfaces.errors import BadInput, NotAllowed, StaleState
from surfaces.models import Account, AuditEvent
from tests.factories import NOON, make_agent, make_presence

pytestmark = pytest.mark.django_db
ADA = "operator:ada"


def change(agent: Agent, **values: Any) -> dict[str, list[str]]:
    return tuning.change_agent(agent, values, by=ADA, now=NOON)


def last_line(agent: Agent) -> AuditEvent:
    return AuditEvent.objects.about(agent).called("agent.changed").latest("pk")


# ── changing ──────────────────────────────────────────────────────────────


def test_a_change_is_one_line_that_says_from_what_to_what():
    agent = make_agent(settings={"is_autonomous": False})
    values = {"tries": 4, "is_autonomous": True, "money_per_day": "2.50", "persona": "慢慢说。"}
    tuning.change_agent(agent, values, by=ADA, now=NOON, why="Calmer.")
    line = AuditEvent.objects.about(agent).get()
    assert (line.action, line.actor, line.why) == ("agent.changed", ADA, "Calmer.")
    assert line.facts == {
        "tries": ["10", "4"],
        "is_autonomous": ["no", "yes"],
        "money_per_day": ["1", "2.5"],
        "persona": ["", "慢慢说。"],
    }
    assert (agent.settings.tries, agent.persona) == (4, "慢慢说。")


def test_what_stays_as_it_is_writes_no_line():
    agent = make_agent()
    assert change(agent, tries=10, money_per_day="1.0000", topics=[], active_from=None) == {}
    assert not AuditEvent.objects.about(agent).exists()


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"tries": 11}, "less than or equal to 10"),
        ({"tries": "many"}, "must be an integer"),
        ({"mode": "loud"}, "not a valid choice"),
        ({"timezone": "Mars/Olympus"}, "is no time zone"),
        ({"money_per_day": "11"}, "larger than the month's"),
        ({"tokens_per_month": 5}, "larger than the month's"),
        ({"active_from": time(8)}, "both ends"),
        ({"name": " "}, "cannot be blank"),
        ({"persona": "x" * 20_001}, "at most 20,000"),
        ({"kernels": ["x" * 1_001]}, "more than 1,000 characters"),
        ({"topics": ["x" * 121]}, "at most 120"),
        ({"slug": "other"}, "no setting slug"),
        ({"claims": 7}, "no setting claims"),
    ],
)
def test_what_is_out_of_bounds_is_refused_and_nothing_of_it_kept(values: Any, words: str):
    agent = make_agent()
    before = tuning.values_of(agent)
    with pytest.raises(BadInput, match=words):
        tuning.change_agent(agent, {"replies_per_day": 7} | values, by=ADA, now=NOON)
    assert tuning.values_of(Agent.objects.get(pk=agent.pk)) == before
    assert not AuditEvent.objects.about(agent).exists()


def test_settings_alone_cannot_change_who_an_agent_is():
    with pytest.raises(BadInput, match="no setting name"):
        tuning.change_settings(make_agent(), {"name": "Other"}, by=ADA, now=NOON)


def test_another_mode_reaches_the_accounts_that_follow_it_and_no_other():
    presence = make_presence()
    own = make_presence(agent=presence.agent, mode="shadow")
    change(presence.agent, mode="auto")
    assert Account.objects.get(pk=presence.account_id).mode == "auto"
    assert Account.objects.get(pk=own.account_id).mode == "shadow"


def test_kernels_that_stay_keep_their_last_use():
    agent = make_agent()
    change(agent, kernels=["On slack water", "谁决定潮水什么时候算满？"])
    Kernel.objects.filter(words="On slack water").update(last_used_at=NOON, used=3)
    change(agent, kernels=["On slack water", "  On   drift ", "On drift", ""])
    assert tuning.values_of(agent)["kernels"] == ["On slack water", "On drift"]
    assert Kernel.objects.get(words="On slack water").used == 3
    assert not Kernel.objects.get(words__startswith="谁").is_on


# ── two people at once ────────────────────────────────────────────────────


def test_who_saw_an_older_value_overwrites_nothing_and_hears_which_moved():
    agent = make_agent()
    seen = {name: mark_of(value) for name, value in tuning.values_of(agent).items()}
    change(agent, longest_reply=900)
    with pytest.raises(ChangedMeanwhile) as refused:
        tuning.change_agent(agent, {"longest_reply": 500}, by=ADA, now=NOON, seen=seen)
    assert refused.value.fields == ("longest_reply",)
    assert AgentSettings.objects.get(agent=agent).longest_reply == 900


@pytest.mark.django_db(transaction=True)
def test_of_two_who_saw_the_same_only_one_changes_it():
    agent = make_agent()
    seen = {name: mark_of(value) for name, value in tuning.values_of(agent).items()}
    refused: list[str] = []
    start = Barrier(2)

    def save(tries: int) -> None:
        start.wait()
        try:
            tuning.change_agent(Agent.objects.get(pk=agent.pk), {"tries": tries},
                                by=ADA, now=NOON, seen=seen)  # fmt: skip
        except ChangedMeanwhile:
            refused.append(str(tries))
        finally:
            connection.close()

    threads = [Thread(target=save, args=[tries]) for tries in (2, 3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(refused) == 1
    kept = str(AgentSettings.objects.get(agent=agent).tries)
    assert {kept, *refused} == {"2", "3"}
    assert AuditEvent.objects.called("agent.changed").count() == 1


# ── taking back ───────────────────────────────────────────────────────────


def test_undo_sets_every_value_back_to_what_it_was():
    agent = make_agent(active_from=time(8, 30), active_to=time(22), persona="一\nTwo")
    change(agent, kernels=["A", "B"], topics=["tides, and reefs"])
    before = tuning.values_of(agent)
    change(
        agent, tries=3, is_autonomous=False, money_per_day="0.25", temperature=1.3, mode="shadow",
        active_from=None, active_to=None, persona="", kernels=["B"], topics=[],
        timezone="Asia/Shanghai",
    )  # fmt: skip
    tuning.undo(last_line(agent), by=ADA, now=NOON)
    assert tuning.values_of(Agent.objects.get(pk=agent.pk)) == before
    assert last_line(agent).why.startswith("Takes back line")


def test_undoing_the_mode_brings_the_accounts_along():
    presence = make_presence()
    change(presence.agent, mode="auto")
    tuning.undo(last_line(presence.agent), by=ADA, now=NOON)
    assert Account.objects.get(pk=presence.account_id).mode == "review"


def test_an_undo_does_not_undo_what_came_after():
    agent = make_agent()
    change(agent, longest_reply=900)
    line = last_line(agent)
    change(agent, longest_reply=700)
    with pytest.raises(StaleState, match="Changed again since: longest reply"):
        tuning.undo(line, by=ADA, now=NOON)
    assert agent.settings.longest_reply == 700


def test_a_change_of_models_is_not_undone_by_a_button():
    agent = make_agent()
    tuning.add_brain(agent, model="openai:small", key="sk-1", by=ADA)
    assert not tuning.can_undo(last_line(agent))
    with pytest.raises(NotAllowed, match="by hand"):
        tuning.undo(last_line(agent), by=ADA, now=NOON)


# ── back-off, and the house ───────────────────────────────────────────────


def test_clearing_a_back_off_forgets_the_failures_once():
    agent = make_agent(failures=6, backs_off_until=NOON + timedelta(hours=1))
    tuning.clear_back_off(agent, by=ADA)
    agent.refresh_from_db()
    assert (agent.failures, agent.backs_off_until) == (0, None)
    assert AuditEvent.objects.called("agent.cleared").get().facts == {"failures": 6}
    with pytest.raises(NotAllowed, match="does not back off"):
        tuning.clear_back_off(agent, by=ADA)


def test_the_budget_of_all_is_changed_within_its_bounds():
    tuning.set_house_budget({"money_per_day": Decimal("3")}, by=ADA)
    assert HouseBudget.current().money_per_day == 3
    assert AuditEvent.objects.called("house.changed").get().facts == {"money_per_day": ["5", "3"]}
    for values in ({"money_per_day": Decimal("51")}, {"money_per_month": Decimal("-1")}):
        with pytest.raises(BadInput):
            tuning.set_house_budget(values, by=ADA)
    assert HouseBudget.current().money_per_month == 50


# ── models ────────────────────────────────────────────────────────────────


def models_of(agent: Agent) -> list[str]:
    return [brain.model for brain in agent.brains.all()]


def brains_of(agent: Agent, *names: str) -> list[Brain]:
    return [tuning.add_brain(agent, model=f"openai:{name}", by=ADA) for name in names]


def test_models_are_asked_in_the_order_people_give():
    agent = make_agent()
    _, second, third = brains_of(agent, "a", "b", "c")
    tuning.move_brain(third, up=True, by=ADA)
    assert models_of(agent) == ["openai:a", "openai:c", "openai:b"]
    assert last_line(agent).facts["models"][1] == "openai:a, openai:c, openai:b"
    tuning.remove_brain(second, by=ADA)
    tuning.move_brain(third, up=False, by=ADA)
    assert models_of(agent) == ["openai:a", "openai:c"]


def test_a_key_is_sealed_and_the_ledger_only_says_that_it_is_set():
    agent = make_agent()
    brain = tuning.add_brain(agent, model="openai:small", key=" sk-very-secret ", by=ADA)
    tuning.change_brain(brain, {"key": "sk-another"}, by=ADA)
    assert brain.key == "sk-another"
    facts = [line.facts for line in AuditEvent.objects.about(agent)]
    assert {"key of openai:small": ["set", "changed"]} in facts
    assert "secret" not in str(facts)
    assert "sk-" not in str(facts)
    assert b"sk-another" not in bytes(brain.sealed_key)


@pytest.mark.parametrize(
    "moved", [{"base_url": "https://elsewhere.example/v1"}, {"model": "anthropic:small"}]
)
def test_a_key_never_follows_its_model_to_another_address(moved: dict[str, str]):
    agent = make_agent()
    brain = tuning.add_brain(agent, model="openai:small", key="sk-1", by=ADA)
    with pytest.raises(BadInput, match="belongs to its address"):
        tuning.change_brain(brain, moved, by=ADA)
    assert Brain.objects.get().model == "openai:small"
    tuning.change_brain(brain, moved | {"key": "sk-2"}, by=ADA)
    assert brain.key == "sk-2"


def test_a_whole_list_keeps_the_keys_of_what_is_asked_as_before():
    agent = make_agent()
    tuning.add_brain(agent, model="openai:small", key="sk-1", by=ADA)
    tuning.add_brain(agent, model="openai:large", base_url="http://gpu:8000/v1", key="sk-2", by=ADA)
    wanted = [{"model": "openai:huge", "base_url": "http://gpu:8000/v1"}, {"model": "anthropic:x"}]
    tuning.set_brains(agent, wanted, by=ADA)
    first, second = agent.brains.all()
    assert (first.model, first.key) == ("openai:huge", "sk-2")
    assert (second.model, second.key) == ("anthropic:x", "")


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"model": "gpt"}, "provider:name"),
        ({"base_url": "ftp://x.example"}, "no address"),
        ({"base_url": "https://ada:pass@x.example"}, "no address"),
        ({"base_url": "https://["}, "no address"),
        ({"key": "sk-1\nX: y"}, "no key"),
        ({"output_style": "loud"}, "not a valid choice"),
    ],
)
def test_a_model_that_could_not_be_asked_is_refused(given: dict[str, str], words: str):
    with pytest.raises(BadInput, match=words):
        tuning.add_brain(make_agent(), **({"model": "openai:small"} | given), by=ADA)
    assert not Brain.objects.exists()
