"""Views under a name; who has an item open."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from surfaces.models import DeskViewer, SavedView
from tests.factories import make_draft, make_operator
from tests.surfaces.desk.test_views import MOST_QUERIES, do

pytestmark = pytest.mark.django_db


def test_a_view_is_kept_under_a_name_and_removed_with_a_way_back(desk):
    desk.post("/desk/views/save", {"name": "Nights", "query": "kind=suspect&risk=high&x=1"})
    view = SavedView.objects.get()
    assert view.query == "kind=suspect&risk=high"
    assert "Nights" in desk.get("/desk/").content.decode()
    page = desk.post(f"/desk/views/{view.pk}/remove", follow=True).content.decode()
    assert not SavedView.objects.exists()
    assert "Undo" in page


def test_a_view_of_somebody_else_cannot_be_removed(desk):
    view = SavedView.objects.create(operator=make_operator(), name="Theirs")
    desk.post(f"/desk/views/{view.pk}/remove")
    assert SavedView.objects.filter(pk=view.pk).exists()


@pytest.mark.parametrize("name", ["", "x" * 61, "\0"])
def test_a_view_without_a_proper_name_is_refused(desk, name):
    desk.post("/desk/views/save", {"name": name, "query": ""})
    assert not SavedView.objects.exists()


def test_many_views_cost_no_more_queries(desk, operator):
    def asked() -> int:
        with CaptureQueriesContext(connection) as told:
            desk.get("/desk/")
        return len(told)

    before = asked()
    for number in range(12):
        SavedView.objects.create(operator=operator, name=f"View {number}", query="risk=high")
    assert asked() == before <= MOST_QUERIES


def test_who_opened_it_first_holds_it_and_both_are_told(desk, operator):
    draft = make_draft()
    jonas = Client()
    jonas.force_login(make_operator(username="jonas", first_name="Jonas", last_name="Weil"))
    jonas.get(f"/desk/draft/{draft.pk}/")
    page = desk.get(f"/desk/draft/{draft.pk}/").content.decode()
    assert "Jonas Weil opened this first; you can still decide." in page
    assert "locked" not in page
    assert "Also viewed by" in jonas.get(f"/desk/draft/{draft.pk}/reading").content.decode()
    assert "Jonas Weil is viewing" in desk.get("/desk/").content.decode()


def test_a_lease_ends_after_five_minutes(desk):
    draft = make_draft()
    jonas = make_operator(username="jonas")
    ago = timezone.now() - timedelta(minutes=6)
    DeskViewer.objects.create(
        kind="draft", item_id=draft.pk, operator=jonas, since=ago, until=ago + timedelta(minutes=5)
    )
    assert "opened this first" not in desk.get(f"/desk/draft/{draft.pk}/").content.decode()


def test_opening_the_next_item_lets_go_of_the_last(desk, operator):
    first, second = make_draft(), make_draft()
    desk.get(f"/desk/draft/{first.pk}/")
    desk.get(f"/desk/draft/{second.pk}/")
    assert list(DeskViewer.objects.values_list("item_id", flat=True)) == [second.pk]


def test_an_open_page_learns_that_it_was_decided(desk):
    draft = make_draft()
    jonas = Client()
    jonas.force_login(make_operator(username="jonas", first_name="Jonas", last_name="Weil"))
    do(jonas, "draft", draft.pk, "approve", digest=draft.digest())
    assert "Jonas Weil decided this" in desk.get(f"/desk/draft/{draft.pk}/reading").content.decode()
