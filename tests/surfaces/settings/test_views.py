"""The pages of settings on the ground floor: bounds, what changed last, and the way back."""

from __future__ import annotations

import re
from html import unescape
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from surfaces.models import Account, AuditEvent, Surface
from surfaces.settings.changes import dump_marks, marks_of
from surfaces.settings.instance import current
from surfaces.settings.services import change, values_of
from tests.factories import NOON, make_account, make_operator, make_surface

pytestmark = pytest.mark.django_db

JON = "operator:jon"


@pytest.fixture
def admin(client: Client) -> Client:
    client.force_login(make_operator(username="ada", role="admin"))
    return client


def at(name: str, *args: Any) -> str:
    return reverse(f"surfaces:{name}", args=args)


def words(client: Client, place: str) -> str:
    """What a page says, without its tags."""
    page = client.get(place)
    assert page.status_code == 200
    as_sent = str(page.content, "utf-8")  # with the whitespace beside tags
    return unescape(" ".join(re.sub(r"<[^>]+>", "", as_sent).split()))


def typed_house(**given: Any) -> dict[str, Any]:
    values = values_of(current())
    return {**values, "seen": dump_marks(marks_of(values))} | given


# ── the house ─────────────────────────────────────────────────────────────


def test_each_value_of_the_house_has_bounds_default_and_unit(admin: Client):
    page = words(admin, at("house_settings"))
    for said in (
        "seconds 0 to 60, default 10", "hours 0 to 720, default 0", "0.1 to 0.99, default 0.4",
        "0.11 to 1, default 0.9", "Default Colloquy", "Default English",
        "No changes yet.",
    ):  # fmt: skip
        assert said in page, said


def test_the_house_is_changed_and_the_page_says_from_what_by_whom(admin: Client):
    given = typed_house(undo_seconds="20", drafts_wait_hours="48", why="People asked for it.")
    page = admin.post(at("house_settings"), given, follow=True).content.decode()
    assert "Saved: undo window, draft expiry." in page
    said = words(admin, at("house_settings"))
    assert "Ada changed: Undo window from 10 to 20 seconds Draft expiry from 0 to 48 hours" in said
    assert "“People asked for it.”" in said
    assert "10 → 20 by ada, just now" in said
    assert current().undo_seconds == 20


def test_undo_puts_back_all_that_one_save_did(admin: Client):
    admin.post(at("house_settings"), typed_house(undo_seconds="20", spam_from="0.8"))
    line = AuditEvent.objects.called("house.changed").get()
    page = admin.post(at("undo_house"), {"line": line.pk}, follow=True).content.decode()
    assert "Undone: undo window, spam score." in page
    assert (current().undo_seconds, current().spam_from) == (10, 0.9)


def test_a_value_that_moved_since_is_not_set_back_and_the_page_says_so(admin: Client):
    first = change(current(), {"undo_seconds": 20}, by=JON, now=NOON)
    change(current(), {"undo_seconds": 30}, by=JON, now=NOON)
    assert "Changed again since: Undo window." in words(admin, at("house_settings"))
    page = admin.post(at("undo_house"), {"line": first.event_id}, follow=True).content.decode()
    assert "Undo window was changed again since. Set the value by hand." in page
    assert current().undo_seconds == 30


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"undo_seconds": "61"}, "61 is too large. Enter 0 to 60 seconds."),
        ({"undo_seconds": "x"}, "This is not a whole number. Enter 0 to 60 seconds."),
        ({"suspect_from": "0.95"}, "0.95 is not below the spam score 0.9. Enter less."),
        ({"suspect_from": "0"}, "Enter a number from 0.1 to 0.99."),
        ({"name": " "}, "required"),
        ({"language": "tlh"}, "not one of the available choices"),
    ],
)
def test_a_refusal_says_what_to_enter_and_keeps_what_was_typed(
    admin: Client, given: dict[str, str], said: str
):
    answer = admin.post(at("house_settings"), typed_house(drafts_wait_hours="7") | given)
    assert answer.status_code == 422
    assert said in answer.content.decode()
    assert 'name="drafts_wait_hours" value="7"' in answer.content.decode()
    assert current().drafts_wait_hours == 0


def test_what_somebody_changed_meanwhile_is_shown_and_nothing_is_overwritten(admin: Client):
    given = typed_house(undo_seconds="30")
    change(current(), {"undo_seconds": 20, "name": "The hall"}, by=JON, now=NOON)
    answer = admin.post(at("house_settings"), given)
    assert answer.status_code == 409
    page = answer.content.decode()
    assert 'name="undo_seconds" value="30"' in page  # typed here
    assert 'name="name" value="The hall"' in page  # left alone here, changed there
    assert "by jon" in page
    assert current().undo_seconds == 20


def test_one_value_goes_back_to_its_default_and_can_be_undone(admin: Client):
    change(current(), {"undo_seconds": 20, "name": "The hall"}, by=JON, now=NOON)
    page = admin.get(at("house_settings")).content.decode()
    assert 'name="default" value="undo_seconds"' in page
    assert 'name="default" value="drafts_wait_hours"' not in page  # it is there already
    page = admin.post(at("house_settings"), typed_house(default="undo_seconds"), follow=True)
    assert "Saved: undo window." in page.content.decode()
    assert (current().undo_seconds, current().name) == (10, "The hall")


def test_a_default_beside_values_not_saved_yet_is_only_filled_in(admin: Client):
    change(current(), {"undo_seconds": 20}, by=JON, now=NOON)
    given = typed_house(default="undo_seconds", drafts_wait_hours="5")
    page = admin.post(at("house_settings"), given).content.decode()
    assert "Undo window is set to its default below. Nothing is saved yet." in page
    assert 'name="undo_seconds" value="10"' in page
    assert 'name="drafts_wait_hours" value="5"' in page
    assert current().undo_seconds == 20


def test_enter_saves_and_does_not_go_back_to_a_default(admin: Client):
    change(current(), {"undo_seconds": 20}, by=JON, now=NOON)
    page = admin.get(at("house_settings")).content.decode()
    form = page.partition('action="/settings/house/"')[2].partition("</form>")[0]
    first = re.search(r"<button[^>]*>", form)
    assert first
    assert "default" not in first[0]


# ── who may ───────────────────────────────────────────────────────────────


@pytest.mark.parametrize("role", ["viewer", "moderator"])
def test_others_see_every_value_and_why_they_cannot_change_it(client: Client, role: str):
    client.force_login(make_operator(role=role))
    surface = make_account().surface
    for place in (at("house_settings"), at("surface_settings", surface.slug)):
        page = client.get(place).content.decode()
        assert "Only administrators change settings." in page
        assert re.search(r"<fieldset disabled>", page)
        assert client.post(place, {}).status_code == 403
    for place in (at("undo_house"), at("undo_surface", surface.slug)):
        assert client.post(place, {"line": "1"}).status_code == 403


def test_a_limited_operator_finds_only_surfaces_within_reach(client: Client):
    within, outside = make_account(), make_account()
    operator = make_operator(role="moderator")
    operator.surfaces.add(within.surface)
    client.force_login(operator)
    assert client.get(at("surface_settings", within.surface.slug)).status_code == 200
    assert client.get(at("surface_settings", outside.surface.slug)).status_code == 404
    assert client.get(at("account", outside.pk)).status_code == 404


def test_the_index_leads_to_every_page_of_settings(admin: Client):
    page = admin.get(at("settings")).content.decode()
    for name in ("house_settings", "surfaces", "spam_filter", "operators", "keys", "components"):
        assert f'href="{at(name)}"' in page
    assert 'href="/agents/"' in page


def test_no_page_of_settings_asks_more_than_twelve_times(admin: Client):
    account = make_account()
    for number in range(20):
        change(current(), {"undo_seconds": 30 + number}, by=JON, now=NOON)
        change(account.surface, {"name": f"Place {number}"}, by=JON, now=NOON)
        change(account, {"every": 9 + number, "mode": "auto", "is_on": True}, by=JON, now=NOON)
    places = [
        at("settings"), at("house_settings"), at("surface_settings", account.surface.slug),
        at("account", account.pk),
    ]  # fmt: skip
    for place in places:
        with CaptureQueriesContext(connection) as asked:
            assert admin.get(place).status_code == 200
        assert len(asked) <= 12, (place, len(asked))


def test_a_line_of_something_else_is_not_taken_back_here(admin: Client):
    account, other = make_account(), make_account()
    done = change(other, {"every": 30, "mode": "review", "is_on": True}, by=JON, now=NOON)
    assert admin.post(at("undo_account", account.pk), {"line": done.event_id}).status_code == 404
    for line in ("", "x", "9" * 30):
        assert admin.post(at("undo_house"), {"line": line}).status_code == 404
    assert Account.objects.get(pk=other.pk).every == 30


def test_a_surface_at_an_address_of_its_own_has_no_documented_limits(admin: Client):
    surface = make_surface()
    page = admin.get(at("surface_settings", surface.slug)).content.decode()
    assert "Empty: no limit of ours." in page
    assert "Empty: the documented limit." not in page
    assert surface.budgets == ()
    assert Surface.objects.get(pk=surface.pk).limits == {}


def test_components_are_listed_only_where_their_page_exists(admin: Client, settings: Any):
    assert "Components" in words(admin, at("settings"))
    settings.STYLE_GUIDE = False
    assert "Components" not in words(admin, at("settings"))


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"suspect_from": "0.05"}, "0.05 is too small. Enter a number from 0.1 to 0.99."),
        ({"spam_from": "0.1"}, "0.1 is too small. Enter a number from 0.11 to 1."),
    ],
)
def test_general_settings_take_the_scores_that_the_filters_page_takes(
    admin: Client, given: dict[str, str], said: str
):
    answer = admin.post(at("house_settings"), typed_house(**given))
    assert answer.status_code == 422
    assert said in answer.content.decode()
