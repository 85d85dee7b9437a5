"""The settings page of an agent: saving, two people at once, the way back."""

from __future__ import annotations

import re

import pytest
from django.test import Client

from dialogue.agents.forms.setting_fields import SETTINGS, VOICE
from dialogue.agents.settings.values import FIELDS
from dialogue.models import Agent
from surfaces.models import Account, AuditEvent
from surfaces.settings.fields import by_name
from surfaces.settings.services import change
from tests.dialogue.agents.pages import html, url
from tests.dialogue.agents.setting_forms import kept, posted, read_values, save
from tests.factories import NOON, make_agent, make_presence

pytestmark = pytest.mark.django_db
JONAS = "operator:jonas"


# ── saving ────────────────────────────────────────────────────────────────


def test_every_value_has_its_bounds_and_its_default(admin: Client, agent: Agent):
    page = html(admin, "agent_settings", "gabriel")
    for words in (
        "1 to 10, default <b>10</b>", "80 to 10,000, default <b>1,200</b>", "Default <b>Review</b>",
        "0 to 10,000, default <b>1</b>", "0 to 86,400, default <b>60</b>", "Default <b>off</b>",
    ):  # fmt: skip
        assert words in page


def test_a_form_sent_back_as_it_came_changes_nothing(admin: Client, agent: Agent):
    values = {"kernels": ["A map", "谁决定潮水？"], "topics": ["tides"], "persona": "One.\n\n二。",
              "money_per_day": "0.5"}  # fmt: skip
    change(agent, values, by=JONAS, now=NOON)
    before, lines = kept(agent), AuditEvent.objects.count()
    assert save(admin, posted(admin, "agent_settings")).status_code == 302
    assert kept(agent) == before
    assert AuditEvent.objects.count() == lines


def test_what_is_typed_is_kept_with_its_reason(admin: Client, agent: Agent):
    presence = make_presence(agent=agent)
    typed = posted(admin, "agent_settings") | {
        "mode": "shadow", "tries": "4", "spacing_seconds": "90", "money_per_day": "0.25",
        "timezone": "Asia/Shanghai", "active_from": "08:30", "active_to": "01:00",
        "lays_stones": "on", "kernels": "On slack water\r\n\r\n 谁决定潮水？ ",
        "name": "加布里埃尔",
        "persona": "慢慢说。\r\nOne thing at a time.", "why": "It was too quick.",
    }  # fmt: skip
    typed.pop("is_autonomous")
    page = admin.post(url("agent_settings", "gabriel"), typed, follow=True).content.decode()
    values = kept(agent)
    assert values["kernels"] == ["On slack water", "谁决定潮水？"]
    assert values["persona"] == "慢慢说。\nOne thing at a time."
    assert (values["name"], values["is_autonomous"]) == ("加布里埃尔", False)
    assert (f"{values['active_from']:%H:%M}", values["timezone"]) == ("08:30", "Asia/Shanghai")
    assert Account.objects.get(pk=presence.account_id).mode == "shadow"
    assert str(AuditEvent.objects.called("agent.changed").get().why) == "It was too quick."
    assert "Saved: " in page
    assert "“It was too quick.”" in page
    assert "by ada" in page


@pytest.mark.parametrize(
    ("typed", "words"),
    [
        ({"longest_reply": "20000"}, "20000 is too large. Enter 80 to 10,000 characters."),
        ({"tries": "0"}, "0 is too small. Enter 1 to 10 attempts."),
        ({"tries": "ten"}, "This is not a whole number. Enter 1 to 10 attempts."),
        ({"tries": ""}, "Enter 1 to 10 attempts."),
        ({"money_per_day": "nan"}, "This is not a number."),
        ({"money_per_day": "11"}, "11 is more than the monthly 10."),
        ({"active_from": "25:00"}, "Enter a time like 08:00"),
        ({"active_from": "08:00"}, "Enter both ends of the active hours"),
        (
            {"kernels": "\n".join(map(str, range(201)))},
            "201 topic seeds are too many.",
        ),
        ({"kernels": "x" * 1_001}, "has more than 1,000 characters. Shorten it."),
        ({"name": "  "}, "required"),
        ({"persona": "x" * 20_001}, "at most 20000"),
        ({"timezone": "Mars"}, "not one of the available choices"),
    ],
)
def test_a_refusal_says_what_to_enter_and_keeps_what_was_typed(
    admin: Client, agent: Agent, typed: dict[str, str], words: str
):
    before = kept(agent)
    answer = save(admin, posted(admin, "agent_settings") | {"tokens_per_day": "7"} | typed)
    page = answer.content.decode()
    assert answer.status_code == 422
    assert words in page
    assert "Not saved: 1 value is invalid." in page
    assert 'name="tokens_per_day" value="7"' in page
    assert kept(agent) == before


def test_the_notice_leads_to_each_refused_value(admin: Client, agent: Agent):
    typed = posted(admin, "agent_settings") | {"tries": "0", "longest_reply": "1"}
    page = save(admin, typed).content.decode()
    notice = page.partition('role="alert"')[2].partition("</ul>")[0]
    assert "2 values are invalid" in notice
    assert '<a href="#id_tries">Attempts per comment</a>: 1 to 10' in notice
    assert 'id="id_tries"' in page


# ── two people at once ────────────────────────────────────────────────────


def test_an_older_form_overwrites_nothing_and_keeps_what_was_typed(admin: Client, agent: Agent):
    typed = posted(admin, "agent_settings") | {"longest_reply": "500", "tries": "3"}
    change(agent, {"longest_reply": 900, "kernels": ["潮汐"]}, by=JONAS, now=NOON)
    answer = save(admin, typed)
    page = str(answer.content, "utf-8")
    assert answer.status_code == 409
    assert kept(agent)["longest_reply"] == 900
    assert kept(agent)["tries"] == 10
    said = re.sub(r"<[^>]+>", "", page.partition('class="moved"')[2].partition("</ul>")[0])
    assert "Maximum length is now 900 characters by jonas" in " ".join(said.split())
    assert "Kernels" not in said  # theirs alone, so it is merged
    assert 'name="longest_reply" value="500"' in page  # typed here
    assert "潮汐</textarea>" in page  # left alone here, changed there


def test_after_the_second_look_it_is_saved_without_losing_what_the_other_did(
    admin: Client, agent: Agent
):
    typed = posted(admin, "agent_settings") | {"longest_reply": "500"}
    change(agent, {"longest_reply": 900, "is_autonomous": False, "topics": ["潮汐"]},
                        by=JONAS, now=NOON)  # fmt: skip
    page = save(admin, typed).content.decode()
    form = page.partition('action="/agents/gabriel/settings/"')[2].partition("</form>")[0]
    again = dict(read_values(form))
    assert save(admin, again).status_code == 302
    values = kept(agent)
    assert (values["longest_reply"], values["is_autonomous"]) == (500, False)
    assert values["topics"] == ["潮汐"]


def test_a_form_that_does_not_say_what_it_saw_is_not_believed(admin: Client, agent: Agent):
    typed = posted(admin, "agent_settings") | {"tries": "3"}
    typed.pop("seen")
    assert save(admin, typed).status_code == 409
    assert kept(agent)["tries"] == 10


# ── looking back ──────────────────────────────────────────────────────────


def test_sections_say_who_changed_them_and_the_last_change_is_undone(admin: Client, agent: Agent):
    change(agent, {"topics": ["tides"]}, by="operator:mira", now=NOON)
    change(agent, {"longest_reply": 900}, by=JONAS, now=NOON, why="Short is better.")
    page = str(admin.get(url("agent_settings", "gabriel")).content, "utf-8")
    words = " ".join(re.sub(r"<[^>]+>", "", page).split())
    assert "Jonas changed: Maximum length from 1,200 to 900 characters" in words
    assert "“Short is better.”" in words
    assert re.search(r"Replies changed \S+( \S+)? ?a?g?o? by jonas|Replies changed just now", words)
    line = AuditEvent.objects.called("agent.changed").latest("pk")
    undone = admin.post(url("undo_change", "gabriel"), {"line": line.pk}, follow=True)
    assert "Undone: maximum length." in undone.content.decode()
    assert kept(agent)["longest_reply"] == 1_200
    assert kept(agent)["topics"] == ["tides"]


def test_a_line_of_another_agent_is_not_undone_here(admin: Client, agent: Agent):
    other = make_agent()
    change(other, {"tries": 2}, by=JONAS, now=NOON)
    line = AuditEvent.objects.called("agent.changed").latest("pk")
    assert admin.post(url("undo_change", "gabriel"), {"line": line.pk}).status_code == 404
    assert admin.post(url("undo_change", "gabriel"), {"line": "x"}).status_code == 404
    assert kept(other)["tries"] == 2


# ── tools, memory, exploration ────────────────────────────────────────────


def test_every_setting_of_an_agent_has_a_field_with_words_and_a_place():
    fields = by_name((*SETTINGS, *VOICE))
    assert set(FIELDS) == set(fields)
    assert [name for name, field in fields.items() if not (field.label and field.help)] == []


def test_grants_and_interests_are_typed_one_a_line(admin: Client, agent: Agent):
    typed = posted(admin, "agent_settings") | {
        "grants": "hub:read\r\n !hub:write:tides \r\n\r\nhub:read", "topics": "tides,  and reefs",
        "approval_mode": "policy", "on_publish": "ask", "explores": "on", "stale_minutes": "30",
    }  # fmt: skip
    assert save(admin, typed).status_code == 302
    values = kept(agent)
    assert values["grants"] == ["hub:read", "!hub:write:tides"]
    assert values["topics"] == ["tides, and reefs"]
    assert (values["approval_mode"], values["on_publish"]) == ("policy", "ask")
    assert (values["explores"], values["stale_minutes"]) == (True, 30)


@pytest.mark.parametrize(
    "grant", ["hub", "hub:", ":read", "hub read", "!!hub:read", "HUB:read", "<b>"]
)
def test_what_is_no_grant_is_refused_at_its_field(admin: Client, agent: Agent, grant: str):
    answer = save(admin, posted(admin, "agent_settings") | {"grants": f"hub:read\n{grant}"})
    assert answer.status_code == 422
    assert "is not a grant. Enter service:scope" in answer.content.decode()
    assert "<b>”" not in answer.content.decode()
    assert kept(agent)["grants"] == []


def test_the_page_says_that_there_is_no_embedding_search(admin: Client, agent: Agent):
    assert "There is no embedding search here" in html(admin, "agent_settings", "gabriel")
