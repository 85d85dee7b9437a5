"""What an agent saw and did is counted by hour, from stored rows, as often as one likes."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from dialogue import tasks
from dialogue.models import AgentReport, Notification
from dialogue.reports.services import collect_reports, hour_of
from surfaces.models import Draft
from tests.dialogue.reports.factories import SINCE, busy_hour, make_activation, make_report
from tests.factories import NOON, make_draft, make_message, make_notification, make_presence

pytestmark = pytest.mark.django_db
HOUR = timedelta(hours=1)


def counts(report: AgentReport) -> tuple[int, ...]:
    report.refresh_from_db()
    return (report.seen, report.answered, report.waiting, report.held, report.failed)


def test_nothing_that_happened_makes_no_report():
    make_presence()
    assert collect_reports(now=NOON) == 0
    assert not AgentReport.objects.exists()


def test_an_hour_is_counted_and_its_rows_are_linked():
    presence = make_presence()
    busy_hour(presence)
    assert collect_reports(now=NOON) == 1
    report = AgentReport.objects.get()
    assert (report.agent, report.account) == (presence.agent, presence.account)
    assert report.hour == hour_of(SINCE)
    assert counts(report) == (3, 1, 2, 1, 1)
    assert {(link["what"], link["kind"]) for link in report.links} == {
        ("answered", "draft"), ("waiting", "draft"), ("waiting", "tool_call"),
        ("held", "message"), ("failed", "activation"),
    }  # fmt: skip


def test_a_second_run_changes_nothing_and_a_late_row_still_counts():
    presence = make_presence()
    busy_hour(presence)
    collect_reports(now=NOON)
    before = list(AgentReport.objects.values())
    assert collect_reports(now=NOON + timedelta(minutes=5)) == 0
    assert list(AgentReport.objects.values()) == before
    make_notification(presence=presence, made_at=SINCE + timedelta(minutes=39))
    assert collect_reports(now=NOON + timedelta(minutes=5)) == 1
    assert counts(AgentReport.objects.get())[0] == 4


def test_what_was_told_is_not_counted_again():
    presence = make_presence()
    busy_hour(presence)
    make_report(presence, seen=1, told_at=NOON)
    assert collect_reports(now=NOON) == 0
    assert counts(AgentReport.objects.get()) == (1, 0, 0, 0, 0)


def test_a_report_of_which_nothing_is_left_is_gone():
    note = make_notification(made_at=SINCE)
    collect_reports(now=NOON)
    Notification.objects.filter(pk=note.pk).delete()
    collect_reports(now=NOON)
    assert not AgentReport.objects.exists()


def test_accounts_and_hours_are_counted_each_for_itself():
    first = make_presence()
    second = make_presence(agent=first.agent)
    make_notification(presence=first, made_at=SINCE)
    make_notification(presence=first, made_at=SINCE - HOUR)
    make_notification(presence=second, made_at=SINCE)
    collect_reports(now=NOON)
    found = AgentReport.objects.values_list("account", "hour", "seen")
    assert sorted(found) == sorted([
        (first.account_id, hour_of(SINCE), 1), (first.account_id, hour_of(SINCE - HOUR), 1),
        (second.account_id, hour_of(SINCE), 1),
    ])  # fmt: skip


def test_drafts_by_hand_and_rows_of_the_future_are_no_report():
    presence = make_presence()
    target = make_message(account=presence.account)
    make_draft(account=presence.account, target=target, made_at=SINCE)
    make_notification(presence=presence, made_at=NOON + timedelta(days=3650))
    assert collect_reports(now=NOON) == 0


def test_a_whole_activation_that_failed_counts_once():
    presence = make_presence()
    make_activation(presence, state="failed", purpose="stone")
    collect_reports(now=NOON)
    assert counts(AgentReport.objects.get()) == (0, 0, 0, 0, 1)


def test_titles_of_strangers_are_cut_to_a_line_and_links_are_few():
    presence = make_presence()
    for number in range(9):
        draft = make_draft(
            agent=presence.agent.slug, account=presence.account, made_at=SINCE,
            target=make_message(account=presence.account),
        )  # fmt: skip
        draft.target.post.title = f"<script>{number}\n" + "w" * 9_000
        draft.target.post.save()
    Draft.objects.update(state="withdrawn")
    collect_reports(now=NOON)
    report = AgentReport.objects.get()
    assert counts(report) == (0, 9, 0, 0, 0)
    assert len(report.links) == 5
    assert all(len(link["words"]) <= 80 and "\n" not in link["words"] for link in report.links)


def test_more_agents_ask_no_more_queries():
    busy_hour(make_presence())
    with CaptureQueriesContext(connection) as one:
        collect_reports(now=NOON)
    for _ in range(3):
        busy_hour(make_presence())
    with CaptureQueriesContext(connection) as four:
        collect_reports(now=NOON)
    assert len(four) == len(one)


def test_the_task_counts_and_old_reports_are_put_away(monkeypatch: Any):
    presence = make_presence()
    make_report(presence, hour=hour_of(NOON - timedelta(days=31)))
    monkeypatch.setattr(tasks.timezone, "now", lambda: NOON)
    make_notification(presence=presence, made_at=SINCE)
    assert tasks.report() == 1
    tasks.prune()
    assert AgentReport.objects.get().hour == hour_of(SINCE)
