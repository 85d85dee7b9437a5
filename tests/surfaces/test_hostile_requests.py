"""What no page of ours sends: it is answered, and nobody is led away by it."""

from __future__ import annotations

import pytest
from django.test import Client
from django.urls import reverse

from tests.factories import make_message, make_operator

pytestmark = pytest.mark.django_db


@pytest.fixture
def desk(client: Client) -> Client:
    client.force_login(make_operator(role="moderator"))
    return client


@pytest.mark.parametrize("name", ["actor", "action", "subject"])
def test_a_nul_in_a_filter_of_the_ledger_is_no_filter(desk: Client, name: str):
    assert desk.get(reverse("surfaces:ledger"), {name: "\0"}).status_code == 200


@pytest.mark.parametrize(
    "page", ["-1", "\0", "x\0y", "nowhere", "9" * 30, "home", "http://evil.test/", "//evil.test",
             "javascript:alert(1)", "/\\evil.test", "\n/drafts/"],
)  # fmt: skip
def test_a_page_to_go_back_to_that_is_none_of_ours_is_left_out(desk: Client, page: str):
    answer = desk.post(reverse("surfaces:pause"), {"what": "all", "next": page})
    assert (answer.status_code, answer["Location"]) == (302, "/")


@pytest.mark.parametrize("page", ["-1", "\0", "nowhere", "http://evil.test/", "//evil.test"])
def test_the_door_leads_home_where_it_is_asked_for_no_page_of_ours(desk: Client, page: str):
    answer = desk.get(reverse("surfaces:sign_in"), {"next": page})
    assert (answer.status_code, answer["Location"]) == (302, "/")


@pytest.mark.parametrize("name", ["username", "password"])
def test_a_nul_is_nobodys_name_and_no_password(client: Client, name: str):
    make_operator(username="ada")
    typed = {"username": "ada", "password": "wrong"} | {name: "a\0da"}
    assert client.post(reverse("surfaces:sign_in"), typed).status_code == 422


def test_after_an_act_the_page_it_was_done_on_comes_back(desk: Client):
    odd = make_message()
    place = reverse("surfaces:thread", args=[odd.post_id]) + f"?message={odd.pk}#m{odd.pk}"
    answer = desk.post(reverse("surfaces:mark_spam", args=[odd.pk]), {"next": place})
    assert (answer.status_code, answer["Location"]) == (302, place)
