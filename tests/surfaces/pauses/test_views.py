from __future__ import annotations

import pytest
from django.test import Client
from django.urls import reverse

from surfaces.models import Pause
from surfaces.pauses import services as pause_services
from tests.factories import NOON, make_account, make_agent, make_operator, make_presence

pytestmark = pytest.mark.django_db


@pytest.fixture
def desk(client: Client) -> Client:
    client.force_login(make_operator(role="moderator"))
    return client


@pytest.mark.parametrize("act", ["pause", "resume"])
@pytest.mark.parametrize("what", ["agent:ga\0briel", "\0", "agent:\0", "all\0:"])
def test_a_nul_in_what_is_paused_is_refused(desk: Client, act: str, what: str):
    posted = {"what": what, "why": "Odd replies"}
    assert desk.post(reverse(f"surfaces:{act}"), posted).status_code == 400
    assert not Pause.objects.exists()


def test_what_is_no_pause_is_named_no_longer_than_a_pause_can_be(desk: Client):
    said = desk.post(reverse("surfaces:pause"), {"what": "z" * 50_000}, follow=True)
    page = said.content.decode()
    assert "is none of them" in page
    assert "z" * 200 not in page


def said(desk: Client, act: str, **posted: str) -> str:
    page = desk.post(reverse(f"surfaces:{act}"), posted, follow=True).content.decode()
    return " ".join(page.split())


def test_a_second_pause_says_that_nothing_was_changed(desk: Client):
    first = said(desk, "pause", what="all:", why="storm")
    assert "Sending is paused for everything. Approved drafts stay approved." in first
    again = said(desk, "pause", what="all:", why="another reason")
    assert "Sending is already paused for everything since" in again
    assert "Nothing was changed." in again
    assert str(Pause.objects.get().why) == "storm"


def test_an_agent_that_does_not_exist_cannot_be_paused(desk: Client):
    page = said(desk, "pause", what="agent:nobody", why="Odd replies")
    assert "There is no agent nobody." in page
    assert not Pause.objects.exists()


def test_a_reason_that_is_too_long_is_refused_and_not_cut(desk: Client):
    page = said(desk, "pause", what="all:", why="x" * 3000)
    assert "The reason has 3,000 characters. Enter at most 400." in page
    assert not Pause.objects.exists()


def test_the_end_of_a_pause_names_what_is_still_paused(desk: Client):
    account = make_account()
    what = {"surface": account.surface.slug, "account": account.name}
    for scope, subject in [("all", ""), *what.items()]:
        pause_services.pause(scope, subject, why="", by="operator:mira", now=NOON)
    page = said(desk, "resume", what="all:")
    assert "The pause of everything has ended. Still paused: " in page
    assert f"account {what['account']}" in page
    assert f"surface {what['surface']}" in page
    said(desk, "resume", what=f"account:{what['account']}")
    last = said(desk, "resume", what=f"surface:{what['surface']}")
    words = f"Sending is resumed for surface {what['surface']}. Approved drafts will be sent."
    assert words in last


def test_a_limited_moderator_is_offered_only_what_may_be_paused(client: Client):
    mine, agent = make_account(), make_agent()
    make_account(surface=mine.surface)
    make_presence(agent=agent, account=mine)
    client.force_login(make_operator(role="moderator", agents=[agent.slug]))
    page = client.get(reverse("surfaces:home")).content.decode()
    assert f'value="account:{mine.name}"' in page
    assert f'value="surface:{mine.surface.slug}"' not in page


def test_a_long_reason_is_shortened_where_pauses_are_listed(desk: Client):
    page = said(desk, "pause", what="all:", why="a long reason " * 25)
    assert "a long reason" in page
    assert "a long reason " * 15 not in page
