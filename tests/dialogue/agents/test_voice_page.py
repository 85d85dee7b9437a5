"""The voice page: its settings, the models and their keys."""

from __future__ import annotations

import pytest
from django.test import Client
from django.urls import reverse

from dialogue.models import Agent, ModelEndpoint
from dialogue.voice import endpoints
from surfaces.settings.services import change
from tests.dialogue.agents.pages import html, url
from tests.dialogue.agents.setting_forms import kept, posted, save
from tests.factories import NOON

pytestmark = pytest.mark.django_db
JONAS = "operator:jonas"


def test_the_voice_is_changed_within_its_bounds(admin: Client, agent: Agent):
    typed = posted(admin, "agent_voice") | {"voice": "model", "temperature": "1.2"}
    assert save(admin, typed, "agent_voice").status_code == 302
    assert (kept(agent)["voice"], kept(agent)["temperature"]) == ("model", 1.2)
    typed = posted(admin, "agent_voice") | {"temperature": "2.5"}
    answer = save(admin, typed, "agent_voice")
    assert answer.status_code == 422
    assert "2.5 is too large. Enter a number from 0 to 2." in answer.content.decode()
    assert "this agent cannot write" in html(admin, "agent_voice", "gabriel")


def test_an_older_form_of_the_voice_overwrites_nothing(admin: Client, agent: Agent):
    typed = posted(admin, "agent_voice") | {"temperature": "1.2"}
    change(agent, {"temperature": 0.1}, by=JONAS, now=NOON)
    answer = save(admin, typed, "agent_voice")
    assert answer.status_code == 409
    page = answer.content.decode()
    assert "Temperature</a> is now <b><bdi>0.1" in page


def brain_form(prefix: str, **given: str) -> dict[str, str]:
    ordinary = {"model": "openai:small", "base_url": "", "key": "", "output_style": "tool"}
    return {f"{prefix}-{name}": value for name, value in (ordinary | given).items()}


def test_a_key_goes_in_and_no_page_shows_any_part_of_it(admin: Client, agent: Agent):
    secret = "sk-abcd1234-the-last-four-9876"
    admin.post(url("add_brain", "gabriel"), brain_form("new", key=secret))
    brain = ModelEndpoint.objects.get()
    assert brain.key == secret
    refused = brain_form(f"b{brain.pk}", base_url="ftp://x", key=secret)
    answers = [
        admin.get(url("agent_voice", "gabriel")),
        admin.get(url("agent_settings", "gabriel")),
        admin.get(reverse("surfaces:ledger")),
        admin.post(url("add_brain", "gabriel"), brain_form("new", model="x", key=secret)),
        admin.post(url("change_brain", brain.pk), refused),
    ]
    for answer in answers:
        for part in (secret, "sk-abcd", "9876", bytes(brain.sealed_key).decode()):
            assert part not in answer.content.decode()
    assert "API key set since" in answers[0].content.decode()


def test_a_key_left_empty_stays_and_can_be_forgotten(admin: Client, agent: Agent):
    brain = endpoints.add_brain(agent, model="openai:small", key="sk-1", by=JONAS)
    form = brain_form(f"b{brain.pk}", output_style="prompted")
    admin.post(url("change_brain", brain.pk), form)
    brain.refresh_from_db()
    assert (brain.key, brain.output_style) == ("sk-1", "prompted")
    admin.post(url("change_brain", brain.pk), form | {f"b{brain.pk}-forget_key": "on"})
    brain.refresh_from_db()
    assert brain.key == ""
    assert "no API key" in html(admin, "agent_voice", "gabriel")


def test_models_are_moved_and_removed_without_script(admin: Client, agent: Agent):
    first = endpoints.add_brain(agent, model="openai:a", by=JONAS)
    second = endpoints.add_brain(agent, model="openai:b", by=JONAS)
    admin.post(url("move_brain", second.pk), {"up": "on"})
    assert [brain.model for brain in agent.brains.all()] == ["openai:b", "openai:a"]
    admin.post(url("remove_brain", first.pk))
    assert admin.post(url("remove_brain", first.pk)).status_code == 404
    assert [brain.model for brain in agent.brains.all()] == ["openai:b"]


def test_a_refused_model_keeps_what_was_typed_beside_the_others(admin: Client, agent: Agent):
    brain = endpoints.add_brain(agent, model="openai:small", key="sk-1", by=JONAS)
    form = brain_form(f"b{brain.pk}", base_url="https://elsewhere.example/v1")
    page = admin.post(url("change_brain", brain.pk), form).content.decode()
    assert "Enter the API key again" in page
    assert "https://elsewhere.example/v1" in page
    assert page.count('id="help-new-model"') == 1
    assert ModelEndpoint.objects.get().base_url == ""
