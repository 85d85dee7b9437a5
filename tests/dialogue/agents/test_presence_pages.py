"""Presences are added, changed and ended on the pages of their agent."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from dialogue.models import Presence
from surfaces.models import Account, AuditEvent
from surfaces.settings.changes import dump_marks, marks_of
from surfaces.settings.services import values_of
from tests.dialogue.agents.pages import html, url
from tests.factories import make_account, make_agent, make_presence

pytestmark = pytest.mark.django_db


def seen(presence: Presence) -> str:
    """What the page of this presence says that a person saw."""
    return dump_marks(marks_of(values_of(presence)))


def test_a_presence_is_added_on_a_free_account_only(admin: Client):
    agent, free, taken = make_agent(), make_account(), make_presence().account
    page = html(admin, "add_presence", agent.slug)
    assert f'value="{free.pk}"' in page
    assert f'value="{taken.pk}"' not in page
    admin.post(url("add_presence", agent.slug), {"account": free.pk, "mode": "shadow"})
    assert Presence.objects.live().get(account=free).agent == agent
    assert Account.objects.get(pk=free.pk).mode == "shadow"
    said = admin.post(url("add_presence", agent.slug), {"account": taken.pk}).content.decode()
    assert "Unassign it there first" in said


@pytest.mark.parametrize("account", ["", "0"])
def test_no_account_is_no_presence(admin: Client, account: str):
    make_account()
    said = admin.post(url("add_presence", make_agent().slug), {"account": account})
    assert "Choose an account" in said.content.decode()
    assert not Presence.objects.exists()


@pytest.mark.parametrize("account", ["x", "9" * 30])
def test_an_account_that_is_no_number_is_refused(admin: Client, account: str):
    answer = admin.post(url("add_presence", make_agent().slug), {"account": account})
    assert answer.status_code == 400
    assert not Presence.objects.exists()


def test_a_presence_is_changed_and_the_account_obeys(admin: Client):
    presence = make_presence()
    given = {"mode": "shadow", "stones_per_day": 3, "explore_share": 30, "stone_community": "潮汐"}
    admin.post(url("change_presence", presence.pk), given | {"seen": seen(presence)})
    presence.refresh_from_db()
    assert (presence.stones_per_day, presence.explore_share) == (3, 0.3)
    assert (presence.stone_community, presence.account.mode) == ("潮汐", "shadow")
    admin.post(url("change_presence", presence.pk), given | {"mode": "", "seen": seen(presence)})
    assert Account.objects.get(pk=presence.account_id).mode == "review"


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"stones_per_day": 25}, "25 is too large. Enter 0 to 24 stones."),
        ({"explore_share": 101}, "Enter 0 to 100 %"),
        ({"mode": "loud"}, "not one of the available choices"),
    ],
)
def test_a_presence_out_of_bounds_stays_as_it_was(admin: Client, given: Any, words: str):
    presence = make_presence()
    ordinary = {"mode": "", "stones_per_day": 1, "explore_share": 25, "stone_community": ""}
    said = admin.post(url("change_presence", presence.pk), ordinary | given, follow=True)
    assert words in said.content.decode()
    assert not AuditEvent.objects.called("presence.changed").exists()


def test_a_presence_ends_once(admin: Client):
    presence = make_presence()
    admin.post(url("end_presence", presence.pk))
    assert not Presence.objects.live().exists()
    said = admin.post(url("end_presence", presence.pk), follow=True)
    assert "was already unassigned" in said.content.decode()
