"""A rule holds on all accounts of an agent: who may see some of them learns of no other's words."""

from __future__ import annotations

import pytest
from django.test import Client
from django.urls import reverse

from dialogue.approvals import rules
from tests.factories import NOON, make_agent, make_operator, make_presence

pytestmark = pytest.mark.django_db
WORDS = "Meet me at Zanzibar pier"


@pytest.mark.parametrize("role", ["viewer", "moderator"])
def test_patterns_are_shown_neither_on_the_page_nor_in_the_audit_log(client: Client, role: str):
    agent = make_agent()
    here, _there = make_presence(agent=agent), make_presence(agent=agent)
    rules.make_rule(
        agent, tool="post", patterns={"text": WORDS}, until=None, by="operator:ada", now=NOON
    )
    nova = make_operator(role=role, only_surfaces=True)
    nova.surfaces.set([here.account.surface])
    client.force_login(nova)
    page = client.get(reverse("dialogue:approval_rules", args=[agent.slug])).content.decode()
    assert "<code>post</code>" in page
    assert WORDS not in page
    assert "access to all its accounts" in page
    assert "/revoke" not in page
    assert WORDS not in client.get(reverse("surfaces:ledger")).content.decode()
    client.force_login(make_operator(role=role))
    page = client.get(reverse("dialogue:approval_rules", args=[agent.slug])).content.decode()
    assert WORDS in page
