"""Promises of reasons, quoting and caution: nothing ends unsaid, nothing is allowed unasked."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import IntegrityError, transaction
from django.urls import reverse

from config import env
from dialogue.activations import services as activation_services
from dialogue.activations.models import ActivationState, Purpose
from dialogue.agents import services as agent_services
from dialogue.errors import VoiceBroken
from dialogue.models import (
    Activation,
    AgentSettings,
    Kernel,
    Stone,
)
from dialogue.stones import writer
from dialogue.voice.base import Reply
from surfaces.models import AuditEvent, Draft
from tests.dialogue.replies.factories import answer_due
from tests.factories import (
    NOON,
    make_agent,
    make_notification,
    make_presence,
)

pytestmark = [pytest.mark.django_db, pytest.mark.engine]


# ── every decision carries a reason ───────────────────────────────────────


def ledger_of(row: Any, action: str) -> AuditEvent:
    return AuditEvent.objects.about(row).called(action).get()


def test_a_comment_given_up_says_in_the_ledger_why_and_who_gave_up():
    """One try allowed, and a voice that has no model to ask."""
    presence = make_presence(settings={"voice": "model", "tries": 1})
    comment = make_notification(presence=presence).comment
    assert answer_due().failed == 1
    line = ledger_of(comment, "message.gave_up")
    assert line.actor == f"agent:{presence.agent.slug}"
    assert str(line.why).startswith("Failed after 1 attempts. Last error: No model is set.")


def test_what_shadow_kept_in_stands_in_the_ledger():
    make_notification(presence=make_presence(settings={"mode": "shadow"}))
    assert answer_due().drafted == 1
    assert ledger_of(Draft.objects.get(), "draft.shadowed").actor == "mode:shadow"


def test_a_stones_choice_and_its_end_say_why_in_the_ledger(clock_at_noon):
    def write(*given: Any, **more: Any) -> tuple[Reply, str]:
        raise VoiceBroken("The words were no words.")

    agent = make_agent(settings={"lays_stones": True})
    Kernel.objects.create(agent=agent, words="Where does a border begin?")
    make_presence(agent=agent)
    for _ in range(3):
        writer.write_due(worker="a worker", clock=clock_at_noon, speak=write)
        Stone.objects.update(look_at=NOON)
    stone = Stone.objects.get()
    assert stone.why
    assert ledger_of(stone, "stone.chosen").why == stone.why
    assert "The words were no words." in str(ledger_of(stone, "stone.given_up").why)


@pytest.mark.parametrize("facts", [{"outcome": "", "ended_at": NOON}, {"outcome": "It ended."}])
def test_a_waking_cannot_end_without_saying_what_came_of_it_and_when(facts):
    woken = activation_services.start(
        make_presence(), purpose=Purpose.REPLY, why="a comment", worker="a worker", now=NOON
    )
    with pytest.raises(IntegrityError, match="says_what_came"), transaction.atomic():
        Activation.objects.filter(pk=woken.pk).update(state="done", **facts)


# ── strangers' text is data ───────────────────────────────────────────────


@pytest.mark.parametrize("length", [1, 60], ids=["short", "long"])
def test_what_a_voice_was_told_and_said_is_escaped_on_its_page(client, operator, length):
    words = "<script>alert(1)</script> & <b>bold</b> " * length
    woken = activation_services.start(
        make_presence(), purpose=Purpose.REPLY, why=words, worker="a worker", now=NOON
    )
    activation_services.record_step(
        woken, "asked", words, now=NOON, facts={"shown": words, "finish": words}
    )
    activation_services.finish(woken, ActivationState.FAILED, words, now=NOON)
    client.force_login(operator)
    page = client.get(reverse("dialogue:activation", args=[woken.pk])).content.decode()
    assert "&lt;script&gt;alert(1)" in page
    assert "<script>alert" not in page
    assert "<b>bold" not in page


# ── defaults are cautious ─────────────────────────────────────────────────


def test_an_agent_nobody_set_writes_nothing_by_itself_and_asks_a_person():
    settings = AgentSettings()
    assert (settings.is_autonomous, settings.lays_stones) == (False, False)
    assert (settings.mode, settings.voice) == ("review", "scripted")
    made = agent_services.make_agent("ada", by="operator:mira")
    assert AgentSettings.objects.get(agent=made).is_autonomous is False


def test_with_nothing_said_nobody_is_woken_at_a_private_address():
    assert env.read({}).wake_private_addresses is False
