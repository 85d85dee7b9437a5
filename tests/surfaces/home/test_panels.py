"""Sending, surfaces and workers as home shows them."""

from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from surfaces.accounts.rate_limits import credential_holder
from surfaces.models import RateLimitWindow, WatchRound, Worker
from surfaces.pauses import services as pause_services
from tests.factories import (
    NOON,
    make_account,
    make_approved,
    make_draft,
    make_operator,
    make_surface,
)
from tests.surfaces.home.test_dashboard import html

pytestmark = pytest.mark.django_db


def panel(client: Client, name: str) -> str:
    return html(client).split(f'aria-labelledby="{name}"')[1].split("</section>")[0]


def make_round(account: Any, **given: Any) -> WatchRound:
    at = given.pop("at", timezone.now())
    return WatchRound.objects.create(account=account, started_at=at, ended_at=at, **given)


# ── sending ───────────────────────────────────────────────────────────────


def test_sending_says_on_how_many_surfaces_it_is_on(desk: Client):
    make_account()
    make_account()
    assert "On for all 2 surfaces" in panel(desk, "h-send")
    held = make_account()
    pause_services.pause("surface", held.surface.slug, why="upgrade", by="operator:jonas", now=NOON)
    assert "On for 2 of 3 surfaces" in panel(desk, "h-send")


def test_a_pause_says_what_by_whom_since_when_and_why_and_can_be_ended(desk: Client):
    held = make_account()
    pause_services.pause(
        "surface", held.surface.slug, why="back at 16:00", by="operator:jonas", now=NOON
    )
    said = panel(desk, "h-send")
    assert f"Surface <bdi>{held.surface.slug}</bdi></b>, paused by jonas since" in said
    assert ">21 Nov, 12:00</time>" in said
    assert "“back at 16:00”" in said
    assert f'Resume <span class="sr">{held.surface.slug}</span>' in said
    desk.post(reverse("surfaces:resume"), {"scope": "surface", "subject": held.surface.slug})
    assert not pause_services.live()


def test_a_pause_of_one_account_among_two_leaves_its_surface_on(desk: Client):
    surface = make_surface()
    one, _ = make_account(surface=surface, name="one"), make_account(surface=surface, name="two")
    pause_services.pause("account", one.name, why="x", by="operator:jonas", now=NOON)
    assert ">On<" in panel(desk, "h-send")
    pause_services.pause("account", "two", why="x", by="operator:jonas", now=NOON)
    assert "On for 0 of 1 surface" in panel(desk, "h-send")


def test_what_is_on_its_way_is_counted(desk: Client):
    account = make_account()
    make_approved(account=account)
    make_draft(account=account, state="unknown", asked_at=NOON)
    said = panel(desk, "h-send")
    assert "1 approved, 1 unconfirmed; checked on the surface before they are sent again" in said


def test_everything_is_paused_from_home_with_a_reason(desk: Client):
    make_account()
    form = panel(desk, "h-send")
    assert 'name="why" required' in form
    desk.post(reverse("surfaces:pause"), {"what": "all:", "why": "storm", "next": "/"})
    said = panel(desk, "h-send")
    assert "Everything paused" in said
    assert "“storm”" in said
    assert "Pause everything…" not in said


# ── surfaces ──────────────────────────────────────────────────────────────


def test_a_surface_says_how_it_is_and_what_is_left_of_its_limits(desk: Client):
    account = make_account(surface=make_surface(limits={"comment": [50, 3600]}))

    holder = credential_holder(account.surface.kind, account.credential)
    soon = timezone.now() + timedelta(minutes=30)
    RateLimitWindow.objects.create(holder=holder, bucket="comment", used=9, window_ends_at=soon)
    said = panel(desk, "h-surf")
    assert 'class="dot ok"' in said
    assert "Working" in said
    assert "41 of 50 left" in said


def test_a_surface_that_refuses_us_leads_to_signing_in_again(desk: Client):
    account = make_account()
    account.becomes("auth_failed", now=NOON, why="the key is not taken")
    said = panel(desk, "h-surf")
    assert "1 needs a decision" in said
    assert 'class="dot bad"' in said
    assert f'<a href="/accounts/{account.pk}/">Sign in again as {account.name}</a>' in said
    assert "the key is not taken" in said


def test_a_surface_draws_its_messages_by_hour_with_the_figures_in_words(desk: Client):
    account, now = make_account(), timezone.now()
    make_round(account, at=now, stored=3)
    make_round(account, at=now - timedelta(hours=2), stored=4)
    make_round(account, at=now - timedelta(hours=30), stored=98_765)
    said = panel(desk, "h-surf")
    assert f"{account.surface.name}, new messages by hour, last 24 h: 7 in all;" in said
    assert "4, 0, 3" in said
    assert "98765" not in said.replace(",", "")


def test_a_surface_without_a_round_says_so_instead_of_drawing_nothing(desk: Client):
    make_account()
    said = panel(desk, "h-surf")
    assert "not polled in the last 24 h" in said
    assert "<svg" not in said


def test_a_surface_at_rest_is_grey_and_says_who_paused_it(desk: Client):
    held, off = make_account(), make_account(is_on=False)
    pause_services.pause("surface", held.surface.slug, why="x", by="operator:jonas", now=NOON)
    said = panel(desk, "h-surf")
    assert "Paused by jonas" in said
    assert "Switched off" in said
    assert "dot ok" not in said
    assert off.surface.name in said


# ── workers ───────────────────────────────────────────────────────────────


def make_worker(kind: str, **given: Any) -> Worker:
    now = timezone.now()
    ordinary = {"name": kind, "host": "here", "pid": 1, "started_at": now, "beat_at": now}
    return Worker.objects.create(kind=kind, **(ordinary | given))


def test_workers_say_how_many_of_each_kind_are_up(desk: Client):
    make_round(make_account())
    make_worker("web", pid=1)
    make_worker("web", pid=2)
    make_worker("watcher")
    said = panel(desk, "h-work")
    assert "2 of 2 running" in said
    assert "1 of 1 running, last poll <time" in said
    assert "not running. Start it with: <code>manage.py deliver</code>" in said


def test_a_worker_that_fell_silent_is_told_since_when(desk: Client):
    make_account()
    heard = timezone.now() - timedelta(minutes=3)
    make_worker("sender", beat_at=heard)
    make_worker("replier", pid=1)
    make_worker("replier", pid=2, beat_at=heard)
    said = panel(desk, "h-work")
    assert "0 of 1 running, no heartbeat since <time" in said
    assert 'dot bad"><span class="strong name">Sender' in said
    assert 'dot wait"><span class="strong name">Replier' in said
    assert f">{heard:%H:%M}</time>" in said


def test_a_worker_that_is_long_at_something_says_at_what(desk: Client):
    make_account()
    now = timezone.now()
    make_worker("replier", doing="writes answers", doing_since=now - timedelta(minutes=4))
    assert "1 of 1 running, writes answers for <time" in panel(desk, "h-work")


def test_the_page_that_is_shown_was_answered_by_somebody(desk: Client):
    make_account()
    assert "served this page" in html(desk)


def test_what_is_on_its_way_elsewhere_is_not_counted_for_who_may_not_see_it(client: Client):
    mine = make_account()
    make_approved(account=make_account())
    kim = make_operator()
    kim.surfaces.add(mine.surface)
    client.force_login(kim)
    assert "1 approved" not in panel(client, "h-send")
    make_approved(account=mine)
    assert "1 approved" in panel(client, "h-send")
