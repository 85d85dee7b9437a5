from __future__ import annotations

import pytest
from django.test import Client
from django.urls import reverse

from surfaces.models import Pause
from tests.factories import make_operator

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
