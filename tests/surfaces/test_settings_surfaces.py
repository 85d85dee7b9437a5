"""The settings of a surface and of an account: a form for each limit, and the way back."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from surfaces import tending
from surfaces.changes import ChangedMeanwhile, marks_of, told
from surfaces.errors import BadInput, StaleState
from surfaces.models import Account, AuditEvent, Surface
from tests.factories import NOON, make_account, make_operator, make_surface
from tests.surfaces.test_settings_pages import at, words

pytestmark = pytest.mark.django_db

JON = "operator:jon"


@pytest.fixture
def admin(client: Client) -> Client:
    client.force_login(make_operator(username="ada", role="admin"))
    return client


@pytest.fixture
def moltbook() -> Surface:
    """At the service's own address, so its documented limits hold."""
    return make_surface(slug="moltbook", name="Moltbook", base_url="")


def typed(surface: Surface, **given: Any) -> dict[str, Any]:
    values = tending.surface_values(surface)
    sent: dict[str, Any] = {"seen": told(marks_of(values))}
    for name, value in values.items():
        if name.startswith("limit_"):
            sent[f"{name}_0"], sent[f"{name}_1"] = value or ["", ""]
        elif value is True:
            sent[name] = "on"
        elif value is not False:
            sent[name] = value
    return sent | given


def budget(surface: Surface, bucket: str) -> tuple[int, timedelta]:
    limit = next(limit for limit in surface.budgets if limit.bucket == bucket)
    return limit.most, limit.per


def test_each_limit_is_two_figures_with_what_the_service_documents(admin, moltbook):
    page = words(admin, at("surface_settings", "moltbook"))
    assert "Documented 60 requests in 60 seconds" in page
    assert "Documented 1 request in 1,800 seconds" in page
    html = admin.get(at("surface_settings", "moltbook")).content.decode()
    assert 'aria-label="Reading, requests"' in html
    assert 'name="limit_read_1"' in html


def test_a_limit_of_our_own_is_kept_and_empty_is_as_documented_again(admin, moltbook):
    place = at("surface_settings", "moltbook")
    given = typed(moltbook, limit_read_0="20", limit_read_1="30")
    page = admin.post(place, given, follow=True).content.decode()
    assert "Saved: reading." in page
    moltbook.refresh_from_db()
    assert moltbook.limits == {"read": [20, 30]}
    assert budget(moltbook, "read") == (20, timedelta(seconds=30))
    assert "Reading from as documented to 20 requests in 30 seconds" in words(admin, place)
    admin.post(place, typed(moltbook, default="limit_read"))
    moltbook.refresh_from_db()
    assert moltbook.limits == {}
    assert budget(moltbook, "read") == (60, timedelta(minutes=1))


@pytest.mark.parametrize(
    ("most", "seconds"), [("20", ""), ("", "30"), ("0", "30"), ("x", "30"), ("1", "9999999")]
)
def test_half_a_limit_is_none(admin, moltbook, most: str, seconds: str):
    given = typed(moltbook, limit_read_0=most, limit_read_1=seconds, name="M")
    answer = admin.post(at("surface_settings", "moltbook"), given)
    assert answer.status_code == 422
    assert "Enter 1 to 1,000,000 requests and 1 to 2,678,400 seconds" in answer.content.decode()
    moltbook.refresh_from_db()
    assert (moltbook.limits, moltbook.name) == ({}, "Moltbook")


def test_name_switch_and_dialect_are_one_change_and_come_back_together(admin, moltbook):
    given = typed(moltbook, name="The book", dialect="live")
    given.pop("is_on")
    admin.post(at("surface_settings", "moltbook"), given)
    moltbook.refresh_from_db()
    assert (moltbook.name, moltbook.is_on, moltbook.dialect) == ("The book", False, "live")
    line = AuditEvent.objects.called("surface.changed").get()
    assert line.facts["is_on"] == [True, False]
    admin.post(at("undo_surface", "moltbook"), {"line": line.pk})
    moltbook.refresh_from_db()
    assert (moltbook.name, moltbook.is_on, moltbook.dialect) == ("Moltbook", True, "")


def test_a_limit_comes_back_unless_it_moved_since(moltbook):
    first = tending.change_surface(moltbook, {"limit_read": [20, 30]}, by=JON)
    second = tending.change_surface(moltbook, {"limit_read": [10, 30]}, by=JON)
    lines = {line.pk: line for line in AuditEvent.objects.called("surface.changed")}
    with pytest.raises(StaleState, match="Changed again since: limit for read"):
        tending.undo_surface(moltbook, lines[first.line], by=JON)
    tending.undo_surface(moltbook, lines[second.line], by=JON)
    assert Surface.objects.get().limits == {"read": [20, 30]}


def test_a_surface_changed_meanwhile_is_not_overwritten(moltbook):
    seen = marks_of(tending.surface_values(moltbook))
    tending.change_surface(moltbook, {"name": "Theirs"}, by=JON)
    with pytest.raises(ChangedMeanwhile):
        tending.change_surface(moltbook, {"name": "Ours"}, by=JON, seen=seen)


@pytest.mark.parametrize("values", [{"dialect": "klingon"}, {"name": ""}, {"slug": "x"}])
def test_what_a_surface_cannot_be_is_refused(moltbook, values: dict[str, Any]):
    with pytest.raises(BadInput):
        tending.change_surface(moltbook, values, by=JON)


# ── an account ────────────────────────────────────────────────────────────


def test_an_account_says_what_changed_last_and_takes_it_back(admin: Client):
    account = make_account()
    values = {"every": "30", "mode": "shadow", "is_on": "on"}
    seen = told(marks_of(tending.account_values(account)))
    place = reverse("surfaces:change_account", args=[account.pk])
    page = admin.post(place, values | {"seen": seen}, follow=True).content.decode()
    assert "Saved: mode, read every." in page
    said = words(admin, at("account", account.pk))
    assert "Mode from Review to Shadow" in said
    assert "Read every from 5 to 30 minutes" in said
    line = AuditEvent.objects.called("account.changed").get()
    admin.post(at("undo_account", account.pk), {"line": line.pk})
    account = Account.objects.get()
    assert (account.every, account.mode) == (5, "review")


def test_an_account_changed_meanwhile_shows_what_it_is_now(admin: Client):
    account = make_account()
    seen = told(marks_of(tending.account_values(account)))
    tending.change(account, every=7, mode="review", is_on=True, by=JON, now=NOON)
    given = {"every": "30", "mode": "review", "is_on": "on", "seen": seen}
    answer = admin.post(at("change_account", account.pk), given)
    assert answer.status_code == 409
    assert Account.objects.get().every == 7


def test_an_account_whose_value_moved_is_not_set_back(admin: Client):
    account = make_account()
    done = tending.change(account, every=7, mode="review", is_on=True, by=JON, now=NOON)
    tending.change(account, every=8, mode="review", is_on=True, by=JON, now=NOON)
    page = admin.post(at("undo_account", account.pk), {"line": done.line}, follow=True)
    assert "Changed again since: minutes between rounds." in page.content.decode()
    assert Account.objects.get().every == 8
