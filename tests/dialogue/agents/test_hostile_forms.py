"""Forms that are old, torn or meant badly: nothing breaks, and nobody is overwritten unseen."""

from __future__ import annotations

import re
from decimal import Decimal
from html import unescape

import pytest
from django.test import Client

from dialogue.agents import presences
from dialogue.budgets import shared
from dialogue.models import Agent, SharedBudget
from surfaces.models import Account, AuditEvent
from surfaces.settings.services import change
from tests.dialogue.agents.pages import url
from tests.factories import NOON, make_agent, make_presence

pytestmark = pytest.mark.django_db
JONAS = "operator:jonas"
LEGIBLE = ["加布里埃尔", "لین", "نرگس\u200cها", "👩\u200d🚀", "D. O'Neil-Šímová"]
ILLEGIBLE = ["\u202eolleH", "\u200b", "\u2066", "two\nlines", "one\u2028two"]


def form_of(page: str, action: str) -> str:
    found = re.search(rf'<form[^>]*action="{action}".*?</form>', page, re.DOTALL)
    assert found
    return found[0]


def typed_numbers(form: str) -> dict[str, str]:
    """What is typed into the text fields of a form, and what it says it has seen."""
    fields = re.findall(r'<input[^>]*name="([^"]+)"[^>]*value="([^"]*)"', form)
    return {name: unescape(value) for name, value in fields if name != "csrfmiddlewaretoken"}


# ── a refused form, while somebody else changes the same ──────────────────


def test_a_refused_form_does_not_overwrite_what_moved_before_it_was_refused(admin: Client):
    place = url("set_house_budget")
    old = typed_numbers(form_of(admin.get(place).content.decode(), place))
    change(shared.current(), {"tokens_per_day": 7}, by=JONAS, now=NOON)
    refused = admin.post(place, old | {"money_per_day": "-1"})
    assert refused.status_code == 422
    again = typed_numbers(form_of(refused.content.decode(), place)) | {"money_per_day": "2"}
    assert admin.post(place, again | {"tokens_per_day": "8"}).status_code == 409
    assert SharedBudget.current().tokens_per_day == 7
    assert admin.post(place, again).status_code == 302
    assert (SharedBudget.current().tokens_per_day, SharedBudget.current().money_per_day) == (7, 2)


def test_a_refused_form_is_saved_once_it_is_put_right(admin: Client):
    place = url("agent_voice", make_agent(slug="gabriel").slug)
    asked = {"lives": "here", "voice": "scripted"}
    old = typed_numbers(form_of(admin.get(place).content.decode(), place))
    refused = admin.post(place, old | asked | {"temperature": "9"})
    again = typed_numbers(form_of(refused.content.decode(), place))
    assert admin.post(place, again | asked | {"temperature": "0.9"}).status_code == 302
    assert Agent.objects.get(slug="gabriel").settings.temperature == 0.9


# ── names ─────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("name", LEGIBLE)
def test_a_name_is_written_in_any_script(admin: Client, name: str):
    assert admin.post(url("new_agent"), {"slug": "lian", "name": name}).status_code == 302
    assert Agent.objects.get(slug="lian").name == name


@pytest.mark.parametrize("name", ILLEGIBLE)
def test_a_name_that_nobody_can_read_is_refused(admin: Client, name: str):
    agent = make_agent(name="Iris")
    answers = [
        admin.post(url("new_agent"), {"slug": "lian", "name": name}),
        admin.post(url("agent_settings", agent.slug), {"name": name}),
    ]
    for answer in answers:
        assert answer.status_code == 422
        assert "Enter one line of visible characters" in answer.content.decode()
    assert [row.name for row in Agent.objects.all()] == ["Iris"]


@pytest.mark.parametrize(
    ("slug", "words"),
    [("taken", "There is already an agent taken"), ("a b", "Use lowercase letters"),
     ("", "Enter a short name")],
)  # fmt: skip
def test_a_short_name_is_refused_in_the_words_of_the_page(admin: Client, slug: str, words: str):
    make_agent(slug="taken")
    answer = admin.post(url("new_agent"), {"slug": slug, "name": "Lian"})
    assert answer.status_code == 422
    assert words in answer.content.decode()


def test_a_short_name_with_a_nul_makes_no_agent(admin: Client):
    answer = admin.post(url("new_agent"), {"slug": "ta\0ken", "name": "Lian"})
    assert answer.status_code == 400
    assert "contains a NUL character" in answer.content.decode()
    assert not Agent.objects.exists()


# ── presences ─────────────────────────────────────────────────────────────


@pytest.mark.parametrize("share", ["", "nan", "-1", "101"])
def test_a_share_out_of_bounds_is_refused_with_one_percent_sign(admin: Client, share: str):
    given = {"mode": "", "stones_per_day": 1, "explore_share": share, "stone_community": ""}
    said = admin.post(url("change_presence", make_presence().pk), given, follow=True)
    assert "Enter 0 to 100 %." in said.content.decode()


def test_a_presence_that_has_ended_is_not_changed_from_an_older_page(admin: Client):
    presence = make_presence()
    presences.leave(presence, by=JONAS, now=NOON)
    given = {"mode": "auto", "stones_per_day": 1, "explore_share": 25, "stone_community": ""}
    said = admin.post(url("change_presence", presence.pk), given, follow=True)
    assert "This account is no longer assigned to the agent" in said.content.decode()
    presence.refresh_from_db()
    assert presence.mode != "auto"
    assert Account.objects.get(pk=presence.account_id).mode != "auto"
    assert not AuditEvent.objects.called("presence.changed").exists()


# ── why it does not speak ─────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("voice", "words"),
    [("model", "Budget of all agents, Today: $0.00 of $0 used until"),
     ("scripted", "Replies automatically")],
)  # fmt: skip
def test_a_spent_budget_of_all_holds_up_models_and_no_template(
    admin: Client, voice: str, words: str
):
    agent = make_agent(settings={"voice": voice})
    make_presence(agent=agent)
    change(shared.current(), {"money_per_day": Decimal(0)}, by=JONAS, now=NOON)
    assert words in admin.get(url("agents")).content.decode()
    assert words in admin.get(url("agent", agent.slug)).content.decode()


# ── what no form of ours sends ────────────────────────────────────────────


@pytest.mark.parametrize("name", ["agent", "state", "before", "after"])
def test_a_nul_in_a_filter_of_wakings_is_refused(admin: Client, name: str):
    assert admin.get(url("activations"), {name: "\0"}).status_code == 400


@pytest.mark.parametrize("address", ["http://h:99999999/", "http://h:0/", "http://h:port/v1"])
def test_an_address_with_a_port_that_is_none_is_no_address(admin: Client, address: str):
    agent = make_agent()
    given = {"new-model": "openai:x", "new-base_url": address, "new-output_style": "tool"}
    answer = admin.post(url("add_brain", agent.slug), given)
    assert answer.status_code == 422
    assert "Enter a URL like" in answer.content.decode()
    assert not agent.brains.exists()
