"""The settings of a surface and of an account: a form for each limit, and the way back."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from surfaces.errors import BadInput, StaleState
from surfaces.models import Account, AuditEvent, Surface
from surfaces.settings.changes import dump_marks, marks_of
from surfaces.settings.services import ChangedMeanwhile, change, undo, values_of
from tests.factories import NOON, event_of, make_account, make_operator, make_surface
from tests.surfaces.settings.test_views import at, words

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
    values = values_of(surface)
    sent: dict[str, Any] = {"seen": dump_marks(marks_of(values))}
    for name, value in values.items():
        if name.startswith("limit_"):
            sent[name] = "{}/{}".format(*value) if value else ""
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
    assert "Read requests Empty: the documented limit. requests/seconds Default 60/60" in page
    assert "Default 1/1800" in page


def test_a_limit_of_our_own_is_kept_and_empty_is_as_documented_again(admin, moltbook):
    place = at("surface_settings", "moltbook")
    given = typed(moltbook, limit_read="20/30")
    page = admin.post(place, given, follow=True).content.decode()
    assert "Saved: read requests." in page
    moltbook.refresh_from_db()
    assert moltbook.limits == {"read": [20, 30]}
    assert budget(moltbook, "read") == (20, timedelta(seconds=30))
    assert "Read requests from as documented to 20/30 requests/seconds" in words(admin, place)
    admin.post(place, typed(moltbook, default="limit_read"))
    moltbook.refresh_from_db()
    assert moltbook.limits == {}
    assert budget(moltbook, "read") == (60, timedelta(minutes=1))


@pytest.mark.parametrize(
    "rate", ["20", "20/", "/30", "0/30", "x/30", "20/30/40", "1/9999999", "99999999/1"]
)
def test_half_a_limit_is_none(admin, moltbook, rate: str):
    given = typed(moltbook, limit_read=rate, name="M")
    answer = admin.post(at("surface_settings", "moltbook"), given)
    assert answer.status_code == 422
    assert "up to 1,000,000 requests in up to 2,678,400 seconds" in answer.content.decode()
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
    first = change(moltbook, {"limit_read": [20, 30]}, by=JON, now=NOON)
    second = change(moltbook, {"limit_read": [10, 30]}, by=JON, now=NOON)
    with pytest.raises(StaleState, match="limit read was changed again since"):
        undo(moltbook, event_of(first), by=JON, now=NOON)
    undo(moltbook, event_of(second), by=JON, now=NOON)
    assert Surface.objects.get().limits == {"read": [20, 30]}


def test_a_surface_changed_meanwhile_is_not_overwritten(moltbook):
    seen = marks_of(values_of(moltbook))
    change(moltbook, {"name": "Theirs"}, by=JON, now=NOON)
    with pytest.raises(ChangedMeanwhile):
        change(moltbook, {"name": "Ours"}, by=JON, now=NOON, seen=seen)


@pytest.mark.parametrize("values", [{"dialect": "klingon"}, {"name": ""}, {"slug": "x"}])
def test_what_a_surface_cannot_be_is_refused(moltbook, values: dict[str, Any]):
    with pytest.raises(BadInput):
        change(moltbook, values, by=JON, now=NOON)


# ── an account ────────────────────────────────────────────────────────────


def test_an_account_says_what_changed_last_and_takes_it_back(admin: Client):
    account = make_account()
    values = {"every": "30", "mode": "shadow", "is_on": "on"}
    seen = dump_marks(marks_of(values_of(account)))
    place = reverse("surfaces:change_account", args=[account.pk])
    page = admin.post(place, values | {"seen": seen}, follow=True).content.decode()
    assert "Saved: mode, poll interval." in page
    said = words(admin, at("account", account.pk))
    assert "Mode from Review to Shadow" in said
    assert "Poll interval from 5 to 30 minutes" in said
    line = AuditEvent.objects.called("account.changed").get()
    admin.post(at("undo_account", account.pk), {"line": line.pk})
    account = Account.objects.get()
    assert (account.every, account.mode) == (5, "review")


def test_an_account_changed_meanwhile_shows_what_it_is_now(admin: Client):
    account = make_account()
    seen = dump_marks(marks_of(values_of(account)))
    change(account, {"every": 7, "mode": "review", "is_on": True}, by=JON, now=NOON)
    given = {"every": "30", "mode": "review", "is_on": "on", "seen": seen}
    answer = admin.post(at("change_account", account.pk), given)
    assert answer.status_code == 409
    assert Account.objects.get().every == 7


def test_an_account_whose_value_moved_is_not_set_back(admin: Client):
    account = make_account()
    done = change(account, {"every": 7, "mode": "review", "is_on": True}, by=JON, now=NOON)
    change(account, {"every": 8, "mode": "review", "is_on": True}, by=JON, now=NOON)
    page = admin.post(at("undo_account", account.pk), {"line": done.event_id}, follow=True)
    assert "Changed again since: Poll interval." in page.content.decode()
    assert Account.objects.get().every == 8


def test_limits_of_another_address_can_be_set_and_keep_what_they_count(admin):
    surface = make_surface(base_url="https://m.example/api/v1", dialect="open")
    page = words(admin, at("surface_settings", surface.slug))
    assert "Comments an hour Empty: no limit of ours." in page
    assert "Comments a day" not in page
    sent = typed(surface, limit_comment_hour="20/3600", limit_general="60/60")
    admin.post(at("surface_settings", surface.slug), sent)
    page = words(admin, at("surface_settings", surface.slug))
    assert "Comments an hour from no limit of ours to 20/3600" in page
    surface.refresh_from_db()
    assert budget(surface, "comment_hour") == (20, timedelta(hours=1))
    general = next(limit for limit in surface.budgets if limit.bucket == "general")
    assert (general.most, general.by_address) == (60, True)
