from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from surfaces.accounts.clients import open_reader
from surfaces.accounts.rate_limits import credential_holder
from surfaces.errors import Limited
from surfaces.models import Account, AuditEvent, Pause, RateLimitWindow, Surface, WatchRound
from surfaces.settings.changes import dump_marks, marks_of
from surfaces.settings.services import values_of
from surfaces.text.reasons import as_reason, note
from tests.factories import NOON, make_account, make_operator, make_post, make_surface

pytestmark = pytest.mark.django_db


@pytest.fixture
def admin(client: Client) -> Client:
    client.force_login(make_operator(username="ada", role="admin"))
    return client


def seen(account: Account) -> str:
    """What the page of this account says that a person saw."""
    return dump_marks(marks_of(values_of(account)))


def html(client: Client, name: str, *args: Any) -> str:
    response = client.get(reverse(f"surfaces:{name}", args=args))
    assert response.status_code == 200
    return response.content.decode()


def test_no_surface_is_said_with_one_next_step(admin: Client):
    page = html(admin, "surfaces")
    assert "No surface connected" in page
    assert reverse("dialogue:connect") in page


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({}, "Working"),
        ({"is_on": False}, "Switched off"),
        ({"state": "limited", "state_until": NOON}, "Limited until"),
        ({"state": "down"}, "Down since"),
        ({"state": "auth_failed"}, "Sign-in failed since"),
        ({"state": "suspended", "state_until": NOON}, "Suspended until"),
    ],
)
def test_the_state_is_said_in_words(desk: Client, given: dict[str, Any], words: str):
    account = make_account(**given)
    assert words in html(desk, "surfaces")
    assert words in html(desk, "account", account.pk)
    assert words in html(desk, "surface", account.surface.slug)


def test_the_pages_of_an_account_that_is_refused_promise_no_next_poll(desk: Client):
    account = make_account(state="auth_failed", next_watch_at=timezone.now() + timedelta(hours=1))
    page = html(desk, "account", account.pk)
    assert "not polled until the error is cleared" in page
    thread = html(desk, "thread", make_post(account=account).pk)
    assert "none: the service refuses the account’s credential" in thread


def test_the_account_page_tells_why_what_is_left_and_what_was_skipped(desk: Client):
    surface = make_surface(limits={"read": [60, 60]})
    account = make_account(
        surface=surface, state="down", state_why="the service answered 503", token="t-1"
    )
    RateLimitWindow.objects.create(
        holder=credential_holder(surface.kind, "t-1"),
        bucket="read",
        used=53,
        window_ends_at=timezone.now() + timedelta(minutes=1),
    )
    WatchRound.objects.create(
        account=account,
        started_at=NOON,
        ended_at=NOON + timedelta(seconds=2),
        stored=7,
        skipped=1,
        skipped_why=[["c-9", "no author"]],
    )
    page = html(desk, "account", account.pk)
    assert "The service answered 503." in page
    assert "7 of 60 left" in page
    assert "resets <" in page  # in how long, not at what time
    assert "1 item skipped" in page
    assert "no author" in page


def test_the_credential_is_never_shown(admin: Client):
    account = make_account(token="moltbook_secret_123")
    for page in (
        html(admin, "account", account.pk),
        html(admin, "surfaces"),
        admin.get(f"/admin/surfaces/account/{account.pk}/change/").content.decode(),
    ):
        assert "moltbook_secret_123" not in page
        assert bytes(account.sealed_credential).decode() not in page


def test_a_credential_we_lost_the_key_for_does_not_break_the_page(desk: Client):
    account = make_account()
    Account.objects.update(sealed_credential=b"not a token of ours")
    assert account.name in html(desk, "account", account.pk)


def test_administrators_change_settings_and_the_ledger_says_from_what_to_what(admin: Client):
    account = make_account()
    response = admin.post(
        reverse("surfaces:change_account", args=[account.pk]),
        {"every": 30, "mode": "shadow", "seen": seen(account)},
    )
    assert response.status_code == 302
    account.refresh_from_db()
    assert (account.every, account.mode, account.is_on) == (30, "shadow", False)
    line = AuditEvent.objects.called("account.changed").get()
    assert line.actor == "operator:ada"
    assert line.facts == {"every": [5, 30], "mode": ["review", "shadow"], "is_on": [True, False]}


def test_saving_without_a_change_writes_no_line(admin: Client):
    account = make_account()
    admin.post(
        reverse("surfaces:change_account", args=[account.pk]),
        {"every": 5, "mode": "review", "is_on": "on", "seen": seen(account)},
    )
    assert not AuditEvent.objects.called("account.changed").exists()


def test_a_value_out_of_bounds_is_refused_with_its_bounds(admin: Client):
    account = make_account()
    response = admin.post(
        reverse("surfaces:change_account", args=[account.pk]), {"every": 0, "mode": "review"}
    )
    assert response.status_code == 422
    assert "Enter 1 to 1,440 minutes" in response.content.decode()
    account.refresh_from_db()
    assert account.every == 5


@pytest.mark.parametrize("name", ["change_account", "switch_surface"])
def test_only_administrators_manage(desk: Client, name: str):
    account = make_account()
    args = {"change_account": [account.pk], "switch_surface": [account.surface.slug]}
    response = desk.post(reverse(f"surfaces:{name}", args=args[name]), {"every": 9})
    assert response.status_code == 403
    assert "Only administrators" in response.content.decode()


def test_reading_now_makes_the_next_round_due(desk: Client):
    account = make_account(next_watch_at=NOON + timedelta(days=900))
    desk.post(reverse("surfaces:watch_now", args=[account.pk]))
    account.refresh_from_db()
    assert account.next_watch_at <= timezone.now()


def test_what_is_off_is_not_read_now(desk: Client):
    account = make_account(is_on=False, next_watch_at=NOON + timedelta(days=900))
    response = desk.post(reverse("surfaces:watch_now", args=[account.pk]), follow=True)
    assert "is disabled. Enable it first." in response.content.decode()
    account.refresh_from_db()
    assert account.next_watch_at == NOON + timedelta(days=900)


def test_a_person_clears_trouble_and_the_ledger_remembers_it(desk: Client):
    account = make_account(state="suspended", state_why="too many wrong answers")
    desk.post(reverse("surfaces:resume_account", args=[account.pk]))
    account.refresh_from_db()
    assert account.state == "ok"
    assert str(account.state_why) == ""
    line = AuditEvent.objects.called("account.cleared").get()
    assert line.facts == {"was": "suspended", "was_why": note("too many wrong answers")}


def test_clearing_ends_the_wait_of_the_address_too(desk: Client):
    surface = make_surface(dialect="open")
    account = make_account(surface=surface, state="limited", state_why="too many")
    read = open_reader(account, clock=lambda: NOON).access.meter
    read.heard("general", wait=timedelta(hours=3))
    with pytest.raises(Limited):
        read.take("read", "general")
    desk.post(reverse("surfaces:resume_account", args=[account.pk]))
    read.take("read", "general")


def test_a_surface_is_switched_off_and_on_again_by_undo(admin: Client):
    surface = make_surface()
    url = reverse("surfaces:switch_surface", args=[surface.slug])
    page = admin.post(url, follow=True).content.decode()
    assert not Surface.objects.get().is_on
    assert "Undo" in page
    admin.post(url, {"is_on": "on"})
    assert Surface.objects.get().is_on


def test_pausing_an_account_from_its_page_is_seen_there(desk: Client):
    account = make_account()
    url = reverse("surfaces:account", args=[account.pk])
    desk.post(
        reverse("surfaces:pause"), {"what": f"account:{account.name}", "why": "rest", "next": url}
    )
    assert Pause.objects.live().get().subject == account.name
    page = html(desk, "account", account.pk)
    assert "“rest”" in page
    assert "Resume sending" in page


def test_pausing_a_surface_from_its_page_is_seen_there(desk: Client):
    surface = make_account().surface
    url = reverse("surfaces:surface", args=[surface.slug])
    assert "Pause…" in html(desk, "surface", surface.slug)
    what = {"what": f"surface:{surface.slug}", "why": "rest", "next": url}
    desk.post(reverse("surfaces:pause"), what)
    page = html(desk, "surface", surface.slug)
    assert "“rest”" in page
    assert "Resume sending" in page
    assert "Pause…" not in page


def test_everything_paused_is_seen_on_a_surface(desk: Client):
    surface = make_account().surface
    desk.post(reverse("surfaces:pause"), {"what": "all:", "why": "storm"})
    page = html(desk, "surface", surface.slug)
    assert "“storm”" in page
    assert "Pause…" in page


def test_an_unclaimed_account_says_so_on_its_page_and_in_the_list(admin: Client):
    account = make_account()
    Account.objects.update(identity_note=as_reason("moltbook.not_claimed"))
    assert "not claimed by its owner yet" in html(admin, "account", account.pk).lower()
    assert "not claimed by its owner yet" in html(admin, "surface", account.surface.slug).lower()
