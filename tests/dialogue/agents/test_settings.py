from __future__ import annotations

from datetime import time, timedelta
from decimal import Decimal
from threading import Barrier, Thread
from typing import Any

import pytest
from django.db import connection

from dialogue.agents.settings.services import clear_back_off
from dialogue.budgets import shared
from dialogue.models import Agent, AgentSettings, Kernel, ModelEndpoint, SharedBudget
from dialogue.voice import endpoints
from surfaces.errors import BadInput, NotAllowed, StaleState
from surfaces.models import Account, AuditEvent
from surfaces.settings.changes import mark_of
from surfaces.settings.services import (
    ChangedMeanwhile,
    SavedChange,
    can_undo,
    change,
    events_of,
    undo,
    values_of,
)
from tests.factories import NOON, make_agent, make_presence

pytestmark = pytest.mark.django_db
ADA = "operator:ada"


def set_values(agent: Agent, **values: Any) -> SavedChange:
    return change(agent, values, by=ADA, now=NOON)


def last_line(agent: Agent) -> AuditEvent:
    return AuditEvent.objects.about(agent).called("agent.changed").latest("pk")


# ── changing ──────────────────────────────────────────────────────────────


def test_a_change_is_one_line_that_says_from_what_to_what():
    agent = make_agent(settings={"is_autonomous": False})
    values = {"tries": 4, "is_autonomous": True, "money_per_day": "2.50", "persona": "慢慢说。"}
    change(agent, values, by=ADA, now=NOON, why="Calmer.")
    line = AuditEvent.objects.about(agent).get()
    assert (line.action, line.actor, str(line.why)) == ("agent.changed", ADA, "Calmer.")
    assert line.facts == {
        "tries": [10, 4],
        "is_autonomous": [False, True],
        "money_per_day": ["1", "2.5"],
        "persona": ["", "慢慢说。"],
    }
    assert (agent.settings.tries, agent.persona) == (4, "慢慢说。")


def test_what_stays_as_it_is_writes_no_line():
    agent = make_agent()
    assert (
        set_values(agent, tries=10, money_per_day="1.0000", topics=[], active_from=None).pairs == {}
    )
    assert not AuditEvent.objects.about(agent).exists()


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"tries": 11}, "less than or equal to 10"),
        ({"tries": "many"}, "must be an integer"),
        ({"mode": "loud"}, "not a valid choice"),
        ({"timezone": "Mars/Olympus"}, "is no time zone"),
        ({"money_per_day": "11"}, "larger than the monthly"),
        ({"tokens_per_month": 5}, "larger than the monthly"),
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
    before = values_of(agent)
    with pytest.raises(BadInput, match=words):
        change(agent, {"replies_per_day": 7} | values, by=ADA, now=NOON)
    assert values_of(Agent.objects.get(pk=agent.pk)) == before
    assert not AuditEvent.objects.about(agent).exists()


def test_another_mode_reaches_the_accounts_that_follow_it_and_no_other():
    presence = make_presence()
    own = make_presence(agent=presence.agent, mode="shadow")
    set_values(presence.agent, mode="auto")
    assert Account.objects.get(pk=presence.account_id).mode == "auto"
    assert Account.objects.get(pk=own.account_id).mode == "shadow"


def test_kernels_that_stay_keep_their_last_use():
    agent = make_agent()
    set_values(agent, kernels=["On slack water", "谁决定潮水什么时候算满？"])
    Kernel.objects.filter(words="On slack water").update(last_used_at=NOON, used=3)
    set_values(agent, kernels=["On slack water", "  On   drift ", "On drift", ""])
    assert values_of(agent)["kernels"] == ["On slack water", "On drift"]
    assert Kernel.objects.get(words="On slack water").used == 3
    assert not Kernel.objects.get(words__startswith="谁").is_on


# ── two people at once ────────────────────────────────────────────────────


def test_who_saw_an_older_value_overwrites_nothing_and_hears_which_moved():
    agent = make_agent()
    seen = {name: mark_of(value) for name, value in values_of(agent).items()}
    set_values(agent, longest_reply=900)
    with pytest.raises(ChangedMeanwhile) as refused:
        change(agent, {"longest_reply": 500}, by=ADA, now=NOON, seen=seen)
    assert refused.value.fields == ("longest_reply",)
    assert AgentSettings.objects.get(agent=agent).longest_reply == 900


@pytest.mark.django_db(transaction=True)
def test_of_two_who_saw_the_same_only_one_changes_it():
    agent = make_agent()
    seen = {name: mark_of(value) for name, value in values_of(agent).items()}
    refused: list[str] = []
    start = Barrier(2)

    def save(tries: int) -> None:
        start.wait()
        try:
            change(Agent.objects.get(pk=agent.pk), {"tries": tries},
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
    set_values(agent, kernels=["A", "B"], topics=["tides, and reefs"])
    before = values_of(agent)
    set_values(
        agent, tries=3, is_autonomous=False, money_per_day="0.25", temperature=1.3, mode="shadow",
        active_from=None, active_to=None, persona="", kernels=["B"], topics=[],
        timezone="Asia/Shanghai",
    )  # fmt: skip
    undo(agent, last_line(agent), by=ADA, now=NOON)
    assert values_of(Agent.objects.get(pk=agent.pk)) == before
    *_before, first, second = events_of(agent)
    assert second.facts["undoes"] == first.pk


def test_undoing_the_mode_brings_the_accounts_along():
    presence = make_presence()
    set_values(presence.agent, mode="auto")
    undo(presence.agent, last_line(presence.agent), by=ADA, now=NOON)
    assert Account.objects.get(pk=presence.account_id).mode == "review"


def test_an_undo_does_not_undo_what_came_after():
    agent = make_agent()
    set_values(agent, longest_reply=900)
    line = last_line(agent)
    set_values(agent, longest_reply=700)
    with pytest.raises(StaleState, match="longest reply was changed again since"):
        undo(agent, line, by=ADA, now=NOON)
    assert agent.settings.longest_reply == 700


def test_a_change_of_models_is_not_undone_by_a_button():
    agent = make_agent()
    endpoints.add_brain(agent, model="openai:small", key="sk-1", by=ADA)
    assert not can_undo(agent, last_line(agent))
    with pytest.raises(NotAllowed, match="by hand"):
        undo(agent, last_line(agent), by=ADA, now=NOON)


# ── back-off, and the house ───────────────────────────────────────────────


def test_clearing_a_back_off_forgets_the_failures_once():
    agent = make_agent(failures=6, backs_off_until=NOON + timedelta(hours=1))
    clear_back_off(agent, by=ADA)
    agent.refresh_from_db()
    assert (agent.failures, agent.backs_off_until) == (0, None)
    assert AuditEvent.objects.called("agent.cleared").get().facts == {"failures": 6}
    with pytest.raises(NotAllowed, match="not backing off"):
        clear_back_off(agent, by=ADA)


def test_the_budget_of_all_is_changed_within_its_bounds():
    change(shared.current(), {"money_per_day": Decimal("3")}, by=ADA, now=NOON)
    assert SharedBudget.current().money_per_day == 3
    assert AuditEvent.objects.called("house.changed").get().facts == {"money_per_day": ["5", "3"]}
    for values in ({"money_per_day": Decimal("51")}, {"money_per_month": Decimal("-1")}):
        with pytest.raises(BadInput):
            change(shared.current(), values, by=ADA, now=NOON)
    assert SharedBudget.current().money_per_month == 50


# ── models ────────────────────────────────────────────────────────────────


def models_of(agent: Agent) -> list[str]:
    return [brain.model for brain in agent.brains.all()]


def brains_of(agent: Agent, *names: str) -> list[ModelEndpoint]:
    return [endpoints.add_brain(agent, model=f"openai:{name}", by=ADA) for name in names]


def test_models_are_asked_in_the_order_people_give():
    agent = make_agent()
    _, second, third = brains_of(agent, "a", "b", "c")
    endpoints.move_brain(third, up=True, by=ADA)
    assert models_of(agent) == ["openai:a", "openai:c", "openai:b"]
    assert last_line(agent).facts["models"][1] == "openai:a, openai:c, openai:b"
    endpoints.remove_brain(second, by=ADA)
    endpoints.move_brain(third, up=False, by=ADA)
    assert models_of(agent) == ["openai:a", "openai:c"]


def test_a_key_is_sealed_and_the_ledger_only_says_that_it_is_set():
    agent = make_agent()
    brain = endpoints.add_brain(agent, model="openai:small", key=" sk-very-secret ", by=ADA)
    endpoints.change_brain(brain, {"key": "sk-another"}, by=ADA)
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
    brain = endpoints.add_brain(agent, model="openai:small", key="sk-1", by=ADA)
    with pytest.raises(BadInput, match="Enter the API key again"):
        endpoints.change_brain(brain, moved, by=ADA)
    assert ModelEndpoint.objects.get().model == "openai:small"
    endpoints.change_brain(brain, moved | {"key": "sk-2"}, by=ADA)
    assert brain.key == "sk-2"


def test_a_whole_list_keeps_the_keys_of_what_is_asked_as_before():
    agent = make_agent()
    endpoints.add_brain(agent, model="openai:small", key="sk-1", by=ADA)
    endpoints.add_brain(
        agent, model="openai:large", base_url="http://gpu:8000/v1", key="sk-2", by=ADA
    )
    wanted = [{"model": "openai:huge", "base_url": "http://gpu:8000/v1"}, {"model": "anthropic:x"}]
    endpoints.set_brains(agent, wanted, by=ADA)
    first, second = agent.brains.all()
    assert (first.model, first.key) == ("openai:huge", "sk-2")
    assert (second.model, second.key) == ("anthropic:x", "")


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"model": "gpt"}, "provider:name"),
        ({"base_url": "ftp://x.example"}, "Enter a URL"),
        ({"base_url": "https://ada:pass@x.example"}, "Enter a URL"),
        ({"base_url": "https://["}, "Enter a URL"),
        ({"key": "sk-1\nX: y"}, "not an API key"),
        ({"output_style": "loud"}, "not a valid choice"),
    ],
)
def test_a_model_that_could_not_be_asked_is_refused(given: dict[str, str], words: str):
    with pytest.raises(BadInput, match=words):
        endpoints.add_brain(make_agent(), **({"model": "openai:small"} | given), by=ADA)
    assert not ModelEndpoint.objects.exists()
