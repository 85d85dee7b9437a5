"""The pages of wakings: every step, with strangers' words escaped."""

from __future__ import annotations

from decimal import Decimal

import pytest
from django.test import Client
from django.utils import timezone

from dialogue.activations import services as activation_services
from dialogue.activations.models import ActivationState
from dialogue.activations.services import ActivationCost
from tests.dialogue.agents.pages import html, wake
from tests.factories import NOON, make_notification, make_presence

pytestmark = pytest.mark.django_db


def test_a_waking_shows_its_steps_with_strangers_words_escaped_and_folded(desk: Client):
    note = make_notification()
    waking = wake(note.presence, "Answer <script>alert(1)</script>", notification=note)
    shown = {"shown": "<img src=x onerror=alert(2)>", "request": 1}
    activation_services.record_step(waking, "asked", "Asked.", now=NOON, facts=shown)
    said = '{"terms": "<b>bold</b>"}\n' + "x" * 300
    cost = ActivationCost(tokens_in=1_840, tokens_out=212, money=Decimal("0.0087"), is_guess=True)
    activation_services.record_step(waking, "answered", said, now=NOON, cost=cost, took_ms=5_400)
    activation_services.record_step(
        waking, "checked", "Too long.", now=NOON, facts={"faults": ["Too long."]}
    )
    activation_services.finish(
        waking, ActivationState.FAILED, "no words came of it", now=timezone.now()
    )
    page = html(desk, "activation", waking.pk)
    for raw in ("<script>alert(1)", "<img src=x", "<b>bold</b>"):
        assert raw not in page
    assert "<details id" in page.partition("&lt;b&gt;bold")[0].rpartition("<li")[2]
    assert "1,840 tokens in, 212 out, $0.0087 estimated" in page
    assert '<li class="warn">' in page
    assert "No words came of it." in page
    assert "estimate" in page


def test_a_running_one_says_until_when_it_is_held(desk: Client):
    waking = wake(make_presence())
    page = html(desk, "activation", waking.pk)
    assert "Running for" in page
    assert "number 1 of this agent" in page
    assert "then another worker may take over" in page


def test_wakings_are_filtered_by_agent_and_state(desk: Client):
    first, second = make_presence(), make_presence()
    activation_services.finish(
        wake(first, "Answer one"), ActivationState.DONE, "Done.", now=timezone.now()
    )
    activation_services.finish(
        wake(first, "Answer two"), ActivationState.FAILED, "No.", now=timezone.now()
    )
    wake(second, "Answer three")
    found = {
        query: {name for name in ("one", "two", "three") if f"Answer {name}" in
                html(desk, "activations", query=query)}
        for query in ("", f"?agent={first.agent.slug}", "?state=failed", "?state=loud", "?agent=x")
    }  # fmt: skip
    assert list(found.values()) == [
        {"one", "two", "three"}, {"one", "two"}, {"two"}, {"one", "two", "three"}, set(),
    ]  # fmt: skip
