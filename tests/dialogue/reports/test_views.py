"""The pages of an agent show its last 24 hours, of what the person may see."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from dialogue.reports.services import hour_of
from tests.dialogue.agents.pages import html
from tests.dialogue.reports.factories import make_report
from tests.factories import make_operator, make_presence

pytestmark = pytest.mark.django_db
HOUR = timedelta(hours=1)


def lately(hours: int = 1):
    return hour_of(timezone.now() - hours * HOUR)


def test_an_agent_without_a_report_says_so(admin: Client):
    slug = make_presence().agent.slug
    assert "Nothing was seen or done." in html(admin, "agent", slug)
    assert "Nothing in the last 24 hours" in html(admin, "agent_reports", slug)


def test_hours_are_shown_newest_first_with_links(admin: Client):
    presence = make_presence()
    links = [
        {"what": "waiting", "kind": "draft", "id": 5, "words": "<script>alert(1)</script>"},
        {"what": "held", "kind": "message", "id": 6, "words": ""},
        {"what": "waiting", "kind": "tool_call", "id": 7, "words": "hub_post"},
        {"what": "failed", "kind": "activation", "id": 8, "words": "On tides"},
    ]
    make_report(presence, hour=lately(3), seen=41)
    make_report(presence, hour=lately(2), seen=17, links=links)
    make_report(presence, hour=lately(30), seen=99)
    page = html(admin, "agent_reports", presence.agent.slug)
    assert page.index(">17<") < page.index(">41<")
    assert ">99<" not in page
    for address in ("/drafts/5/", "/messages/6/", "/desk/tool_call/7/", "/activations/8/"):
        assert f'href="{address}"' in page
    assert "<script>alert" not in page
    assert ">58<" in html(admin, "agent", presence.agent.slug)


def test_of_accounts_out_of_reach_nothing_is_counted_or_linked(client: Client):
    near = make_presence()
    far = make_presence(agent=near.agent)
    link = {"what": "waiting", "kind": "draft", "id": 5, "words": "far"}
    make_report(near, hour=lately(), seen=3)
    make_report(far, hour=lately(), seen=98_762, links=[link])
    person = make_operator(only_surfaces=True)
    person.surfaces.add(near.account.surface)
    client.force_login(person)
    page = html(client, "agent_reports", near.agent.slug)
    assert ">3<" in page
    assert "98765" not in page.replace(",", "")
    assert "/drafts/5/" not in page
