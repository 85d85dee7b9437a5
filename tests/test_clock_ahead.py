"""A clock that ran ahead once holds nothing up for longer than its own interval."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.apps import apps
from django.db import connection, models

from dialogue.budgets.models import Spending
from dialogue.inbox.models import Notification
from dialogue.models import Agent, Presence
from surfaces import health_checks
from surfaces.desk.models import DeskItem
from surfaces.models import Account, Draft, Worker
from surfaces.operators import attempts, sign_in
from surfaces.operators.models.sign_in_attempt import SignInAttempt
from surfaces.workers import wait_bounds
from surfaces.workers.heartbeat import Heartbeat
from tests.dialogue.replies.factories import World, of
from tests.factories import (
    NOON,
    make_account,
    make_approved,
    make_draft,
    make_message,
    make_notification,
    make_operator,
)

pytestmark = pytest.mark.django_db
AHEAD = datetime(2036, 5, 1, tzinfo=UTC)
# Facts: nobody waits for them, or who reads them takes a later time than now for no time.
FACTS = {
    "account.made_at", "account.state_since", "activation.ended_at", "activation.resumed_at",
    "activation.started_at", "activation.stop_asked_at", "activationitem.ended_at",
    "activationitem.started_at", "agent.due_at", "agent.explores_at", "agent.priority_at",
    "agentreport.hour", "agentreport.told_at", "approvalrule.last_hit_at", "approvalrule.made_at",
    "approvalrule.revoked_at", "approvalrule.until", "conversation.kept_at", "memory.recalled_at",
    "presence.run_asked_at",
    "toolcall.decided_at", "toolcall.ended_at", "toolcall.expires_at", "toolcall.made_at",
    "toolcall.not_before", "toolcall.started_at",
    "agent.made_at", "apikey.expires_at", "apikey.last_used_at", "apikey.made_at",
    "apikey.revoked_at", "auditevent.at", "deskitem.expires_at", "deskitem.since",
    "deskviewer.since", "draft.asked_at", "draft.decided_at", "draft.made_at",
    "draft.retracted_at", "draft.unconfirmed_since", "knownbrowser.made_at",
    "knownbrowser.seen_at", "message.thread_checked_at", "operatorsession.expire_date",
    "operatorsession.made_at", "operatorsession.seen_at", "passkey.made_at", "passkey.used_at",
    "readingplace.ended_at", "readingplace.started_at", "draft.sent_at", "draft.stale_at",
    "hubauthor.made_at",
    "hubcomment.deleted_at", "hubcomment.edited_at", "hubcomment.made_at",
    "hubcommunity.made_at", "hubpost.deleted_at", "hubpost.edited_at",
    "hubpost.last_activity_at", "hubpost.made_at", "instancesettings.updated_at",
    "memory.made_at", "message.created_at", "message.deleted_at", "message.edited_at",
    "message.seen_at", "message.thread_read_at", "notice.made_at", "notice.moment",
    "notice.over_at", "notice.read_at", "notice.told_at", "noticedelivery.made_at",
    "noticedelivery.told_at", "noticerule.since", "notification.announced_at",
    "notification.asked_at", "notification.considered_at", "notification.made_at",
    "notification.read_at", "operator.date_joined", "operator.last_login", "operator.totp_since",
    "pause.ended_at", "pause.since", "presence.ended_at", "ratelimitwindow.window_ends_at",
    "recoverycode.used_at", "reservation.at", "reservation.settled_at", "savedview.made_at",
    "spamdecision.at", "surface.made_at", "transcriptstep.at", "wakeattempt.at",
    "wakeevent.delivered_at", "wakeevent.made_at", "watchround.ended_at",
    "watchround.started_at", "worker.doing_since", "worker.started_at",
}  # fmt: skip


def test_of_every_time_it_is_said_how_far_ahead_it_may_be_or_that_nobody_waits_for_it():
    times = {
        f"{model._meta.model_name}.{field.name}"
        for app in ("surfaces", "dialogue")
        for model in apps.get_app_config(app).get_models()
        for field in model._meta.concrete_fields
        if isinstance(field, models.DateTimeField)
    }
    bounded = {bound.name for bound in wait_bounds.wait_bounds()}
    assert not bounded & FACTS
    assert times >= FACTS
    assert times - bounded - FACTS == set()
    assert {name for name in bounded if "." in name} - times == {"schedule.next_run", "ormq.lock"}


def ahead(row: models.Model, **facts: Any) -> models.Model:
    type(row)._base_manager.filter(pk=row.pk).update(**facts)
    return row


def test_an_account_is_read_again_after_its_interval():
    account = make_account(next_watch_at=AHEAD, every=5, watch_lease_until=AHEAD)
    assert not Account.objects.due(NOON + timedelta(minutes=6)).exists()
    wait_bounds.pull_back(now=NOON)
    assert not Account.objects.due(NOON + timedelta(minutes=4)).exists()
    assert Account.objects.due(NOON + timedelta(minutes=6)).get() == account


def test_an_approved_draft_leaves_after_the_time_to_call_it_back():
    draft = make_approved(not_before=AHEAD)
    wait_bounds.pull_back(now=NOON)
    assert Draft.objects.due(NOON + timedelta(minutes=1)).get() == draft


def test_what_a_service_asked_for_is_kept_for_a_day_and_asked_for_again():
    account = make_account(
        state="limited", state_until=AHEAD, quiet_until=AHEAD, next_watch_at=AHEAD
    )
    wait_bounds.pull_back(now=NOON)
    account.refresh_from_db()
    tomorrow = NOON + timedelta(days=1)
    assert (account.state_until, account.quiet_until, account.next_watch_at) == (tomorrow,) * 3
    wait_bounds.pull_back(now=NOON + timedelta(hours=1))
    account.refresh_from_db()
    assert account.quiet_until == tomorrow


def test_a_comment_that_waited_for_a_far_day_is_decided_again():
    row = make_notification(look_at=AHEAD, verdict="hours", why="verdict.hours")
    wait_bounds.pull_back(now=NOON)
    row.refresh_from_db()
    assert (row.look_at, row.verdict) == (NOON, "")
    assert "2036" not in str(row.why)


def test_a_wait_for_the_next_month_stands():
    month = NOON + timedelta(days=20)
    row = make_notification(look_at=month, verdict="spent", why="verdict.spent")
    wait_bounds.pull_back(now=NOON)
    row.refresh_from_db()
    assert row.look_at == month


def test_replies_of_a_day_to_come_do_not_count_today():
    world = World(replies_per_day=1, spacing_seconds=60)
    other = make_draft(agent=world.agent.slug, target=make_message(account=world.account))
    ahead(other, state="sent", sent_at=AHEAD)
    comment = world.comment()
    world.round()
    assert of(comment).verdict == "drafted"


def test_tries_at_the_door_in_2036_lock_nobody_out_today():
    person = make_operator(username="ada", password="a good long password")
    for _ in range(attempts.MOST_FOR_ONE):
        SignInAttempt.objects.create(username="ada", network="127.0.0.1", at=AHEAD)
    wait_bounds.pull_back(now=NOON)
    later = NOON + attempts.WINDOW + timedelta(minutes=1)
    sign_in.check_password(person, "a good long password", address="127.0.0.1", now=later)


def test_a_dead_process_of_2036_is_silent():
    Worker.objects.create(kind="watcher", name="w", host="h", pid=1, started_at=NOON, beat_at=AHEAD)
    wait_bounds.pull_back(now=NOON)
    assert Worker.objects.get().is_silent(NOON + timedelta(minutes=1))


def test_what_waits_as_it_should_is_left_alone():
    account = make_account(next_watch_at=NOON + timedelta(minutes=5))
    draft = make_approved(not_before=NOON + timedelta(seconds=10))
    note = make_notification(look_at=NOON + timedelta(hours=12), verdict="day_full", why="x")
    assert wait_bounds.pull_back(now=NOON) == 0
    for row in (account, draft, note):
        row.refresh_from_db()
    assert (account.next_watch_at, draft.not_before) == (
        NOON + timedelta(minutes=5), NOON + timedelta(seconds=10)
    )  # fmt: skip


def test_the_doctor_names_what_is_too_far_ahead():
    make_account(next_watch_at=AHEAD)
    make_approved(not_before=AHEAD)
    found = {row.about: row for row in health_checks.check_up(now=NOON)}["clock"]
    assert "account.next_watch_at (1)" in found.says
    assert "draft.not_before (1)" in found.says
    assert "21 Nov 2026, 12:00 UTC" in found.advice
    wait_bounds.pull_back(now=NOON)
    assert {row.about: row for row in health_checks.check_up(now=NOON)}["clock"].is_well


def test_every_bound_is_a_query_that_runs():
    for bound in wait_bounds.wait_bounds():
        assert bound.too_far(NOON).count() == 0, bound.name
        assert bound.pull_back(NOON) == 0, bound.name


def test_a_change_of_settings_counts_what_was_considered_in_2036_as_due():
    from dialogue.inbox.waits import end_waits

    row = make_notification(look_at=AHEAD, verdict="day_full", why="x", considered_at=AHEAD)
    agent = Agent.objects.get(pk=row.agent_id)
    end_waits(agent, frozenset({"replies_per_day"}))
    row.refresh_from_db()
    with connection.cursor() as cursor:
        cursor.execute("SELECT clock_timestamp()")
        assert row.look_at <= cursor.fetchone()[0]


@pytest.mark.django_db(transaction=True)
def test_the_heartbeat_of_every_process_pulls_back():
    account = make_account(next_watch_at=AHEAD)
    beat = Heartbeat("watcher", clock=lambda: NOON)
    beat.start()
    for _ in range(500):
        account.refresh_from_db()
        if account.next_watch_at < AHEAD:
            break
        beat._ending.wait(0.02)
    beat.end()
    assert account.next_watch_at == NOON + account.interval


def test_rows_without_a_bound_are_not_touched():
    presence = make_notification().presence
    kept = Presence.objects.get(pk=presence.pk).since
    DeskItem.objects.update(later_until=None)
    wait_bounds.pull_back(now=NOON)
    assert Presence.objects.get(pk=presence.pk).since == kept
    assert not Spending.objects.exists()
    assert Notification.objects.count() == 1
