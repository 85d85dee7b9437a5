"""The page that connects an account: what it makes and says, and what it never shows."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from dialogue.models import Presence
from surfaces.models import Account, AuditEvent
from tests.dialogue.agents.connections import account_mode, join, rows
from tests.factories import make_agent

pytestmark = [pytest.mark.django_db, pytest.mark.engine]


def fill_in(client: Client, **given: Any) -> Any:
    ordinary = {"kind": "moltbook", "agent": "iris", "token": "tok-77", "every": 5}
    return client.post(reverse("dialogue:connect"), {**ordinary, "mode": "review", **given})


def test_the_page_is_where_it_always_was(admin: Client):
    assert reverse("dialogue:connect") == "/surfaces/connect"
    page = admin.get("/surfaces/connect").content.decode()
    assert "Connect an account" in page
    assert 'href="/surfaces/" data-go="s" aria-current="page"' in page


def test_the_page_makes_account_agent_and_presence(admin: Client):
    response = fill_in(admin)
    presence = Presence.objects.get()
    assert response.url == reverse("surfaces:account", args=[presence.account_id])
    assert (presence.agent.slug, presence.account.name) == ("iris", "iris@moltbook")
    assert (presence.mode, presence.account.credential) == ("review", "tok-77")
    assert AuditEvent.objects.called("presence.began").get().actor == "operator:ada"
    page = admin.get(response.url).content.decode()
    assert "Connected iris@moltbook to Iris." in page
    assert "tok-77" not in page


def test_the_page_says_when_the_agent_will_not_answer_by_itself(admin: Client):
    make_agent(slug="iris", settings={"is_autonomous": False})
    page = admin.get(fill_in(admin).url).content.decode()
    assert "To let the agent reply, switch on “Automatic replies”" in page


def test_the_page_never_gives_the_token_back(admin: Client):
    response = fill_in(admin, agent="Not A Slug!")
    assert response.status_code == 422
    assert "Not saved" in response.content.decode()
    assert "tok-77" not in response.content.decode()
    assert set(rows().values()) == {0}


def test_the_page_tells_who_speaks_there_already(admin: Client):
    join()
    Presence.objects.update(agent=make_agent(slug="gabriel", name="Gabriel"))
    response = fill_in(admin)
    assert response.status_code == 422
    assert "iris@moltbook is already assigned to Gabriel" in response.content.decode()


def test_only_administrators_connect(desk: Client):
    response = fill_in(desk)
    assert response.status_code == 403
    assert "Only administrators" in response.content.decode()
    assert set(rows().values()) == {0}


def test_a_new_credential_on_the_page_keeps_mode_and_poll_interval(admin: Client):
    account = join(mode="auto", every=60).account
    page = admin.get(fill_in(admin, token="tok-88", mode="", every="").url).content.decode()
    assert "New credential stored. Mode and poll interval are unchanged." in page
    account.refresh_from_db()
    assert (account.credential, account.mode, account.every) == ("tok-88", "auto", 60)


def test_the_page_connects_a_new_account_without_mode_and_interval(admin: Client):
    fill_in(admin, mode="", every="")
    account = Account.objects.get()
    assert (account.mode, account.every) == ("review", 5)


def test_what_is_given_for_an_account_that_exists_is_changed_and_said(admin: Client):
    join(mode="auto", every=60)
    page = admin.get(fill_in(admin, token="", mode="shadow", every="").url).content.decode()
    assert "Account iris@moltbook saved." in page
    assert "are unchanged" not in page
    assert account_mode() == "shadow"
