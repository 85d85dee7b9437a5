"""Limits cost a page nothing, or little where it has to ask what is within them."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from surfaces.messages import listing as message_listing
from surfaces.messages.filters import Filters
from surfaces.models import Message
from tests.factories import make_account, make_message, make_operator
from tests.surfaces.operators.out_of_scope import Place, make_place

pytestmark = pytest.mark.django_db
# What a limit may cost: whose lines, which surfaces, and where a window of rows ends.
MORE = {"/ledger/": 1, "/surfaces/": 1, "/surfaces/harbour/": 1, "/messages/": 1, "/threads/": 1}


@pytest.fixture(params=["surface", "agent"])
def limited(request: Any, client: Client) -> tuple[Client, Place]:
    near = make_place("harbour")
    make_place("zanzibar")
    agents = ["harbour"] if request.param == "agent" else []
    operator = make_operator(role="moderator", agents=agents)
    if request.param == "surface":
        operator.surfaces.add(near.account.surface)
    client.force_login(operator)
    return client, near


def pages(near: Place) -> list[str]:
    return [
        "/", "/desk/", "/messages/", "/threads/", f"/threads/{near.post.pk}/", "/drafts/",
        f"/drafts/{near.draft.pk}/", "/surfaces/", "/surfaces/harbour/", "/ledger/",
        f"/accounts/{near.account.pk}/", "/spam-filter/", "/agents/", "/agents/harbour/",
        "/agents/harbour/inbox/", "/agents/harbour/wake/", "/stones/", "/activations/",
        f"/stones/{near.stone.pk}/", f"/activations/{near.activation.pk}/",
        f"/desk/draft/{near.draft.pk}/", f"/desk/suspect/{near.comment.pk}/",
    ]  # fmt: skip


def asked(client: Client, page: str) -> int:
    with CaptureQueriesContext(connection) as found:
        assert client.get(page).status_code == 200, page
    return len(found)


def test_limits_cost_no_page_a_query(limited: tuple[Client, Place]):
    client, near = limited
    free = Client()
    free.force_login(make_operator(role="moderator"))
    for page in pages(near):
        for one in (client, free):
            one.get(page)  # what is remembered for all, is
        more = MORE.get(page, 0)
        assert asked(client, page) <= asked(free, page) + more, page


@pytest.mark.parametrize("page", list(MORE))
def test_pages_that_ask_for_what_is_within_stay_under_twelve(
    page: str, limited: tuple[Client, Place]
):
    assert asked(limited[0], page) <= 12


def test_the_page_of_one_account_walks_its_own_index():
    account = make_account()
    make_message(account=account)
    filters = Filters(within=frozenset({account.pk}))
    assert set(filters.conditions()) == {"account"}
    assert set(Filters(within=frozenset({1, 2})).conditions()) == {"within"}
    assert set(Filters(within=frozenset({1}), account=2).conditions()) == {"account", "within"}


def test_who_reaches_nothing_gets_an_empty_page_and_no_error():
    make_message()
    page = message_listing.list_messages(Filters(within=frozenset(), words="hello"), {})
    assert (page.rows, page.found, page.older) == ([], 0, "")


def test_search_stays_within():
    far, near = make_message(content="ebb tables"), make_message(content="ebb tables")
    page = message_listing.list_messages(
        Filters(within=frozenset({near.account_id, 0}), words="ebb"), {}
    )
    assert [row.pk for row in page.rows] == [near.pk]
    assert Message.objects.filter(pk=far.pk).exists()
