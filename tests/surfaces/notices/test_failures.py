"""A mail is told once if its outcome is known; whatever else happens is tried again, and shown."""

from __future__ import annotations

import re
import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import time, timedelta
from typing import Any

import pytest
from django.db import connection, transaction

from surfaces.models import DeskItem, Notice, NoticeCursor, NoticeDelivery
from surfaces.notices import collect, rounds
from surfaces.notices import delivery as notice_delivery
from surfaces.notices import smtp as notice_smtp
from surfaces.workers import table_cursor
from tests.factories import NOON, make_account, make_draft
from tests.surfaces.notices.factories import (
    go_round,
    make_hearer,
    make_item,
    make_items,
    make_rule,
    told,
)
from tests.surfaces.notices.factories import smtp as smtp

pytestmark = [pytest.mark.django_db, pytest.mark.engine]


def outcome() -> tuple[str, int, str]:
    delivery = NoticeDelivery.objects.get()
    return delivery.state, delivery.tries, str(delivery.why)


def test_a_server_that_is_away_is_asked_again_later(smtp: Any, clock: Any, settings: Any):
    rule = make_rule()
    make_item()
    settings.EMAIL_PORT = 9  # nobody
    assert go_round(clock).later == 1
    assert outcome() == ("waiting", 1, "The mail server could not be reached.")
    settings.EMAIL_PORT = smtp.port
    assert go_round(clock).told == 0  # not before its time
    clock.pass_by(minutes=1)
    assert go_round(clock).told == 1
    assert [notice.state for notice in told(rule.operator)] == ["told"]
    assert len(smtp.got) == 1


def test_one_server_that_is_away_is_asked_once_a_round(smtp: Any, clock: Any):
    for _ in range(5):
        make_rule()
    make_item()
    smtp.next = ["cut"]
    assert go_round(clock).later == 1
    assert smtp.connections == 1


def test_a_server_that_says_nothing_is_left(smtp: Any, clock: Any):
    make_rule()
    make_item()
    smtp.next = ["hang"]
    assert go_round(clock).later == 1
    assert outcome()[2] == "The mail server did not answer within 1 s."


@pytest.mark.parametrize("fault", ["trickle", "flood"])
def test_a_server_that_trickles_or_never_ends_is_left(
    smtp: Any, clock: Any, monkeypatch: Any, fault: str
):
    monkeypatch.setattr(notice_smtp, "LONGEST", 0.5)
    make_rule()
    make_item()
    smtp.next = [fault]
    assert go_round(clock).later == 1
    assert outcome()[2] == "The mail server was too slow or sent too much."


def test_an_address_that_is_refused_for_good_is_not_tried_again_and_stops_nobody(
    smtp: Any, clock: Any
):
    wrong, right = make_hearer(), make_hearer()
    make_rule(wrong)
    make_rule(right)
    make_item()
    smtp.next = ["refuse"]
    done = go_round(clock)
    assert (done.failed, done.told) == (1, 1)
    assert smtp.got[0].to == [right.email]
    (notice,) = told(wrong)
    assert notice.state == "dropped"
    assert "550 no such person" in str(notice.why)
    assert Notice.objects.on_page(wrong).unread().count() == 1  # the page tells it


def test_who_is_busy_is_asked_again_until_the_last_try(smtp: Any, clock: Any):
    rule = make_rule()
    make_item()
    tries = len(notice_delivery.WAITS) + 1
    smtp.next = ["busy"] * tries
    for wait in [*notice_delivery.WAITS, timedelta()]:
        go_round(clock)
        clock.now += wait
    assert outcome()[:2] == ("failed", tries)
    assert told(rule.operator)[0].is_on_page
    clock.pass_by(days=1)
    go_round(clock)
    assert smtp.got == []


def test_a_line_that_breaks_after_the_mail_repeats_it_under_the_same_id(smtp: Any, clock: Any):
    make_rule()
    make_item()
    smtp.next = ["cut_after"]
    assert go_round(clock).later == 1
    clock.pass_by(minutes=1)
    assert go_round(clock).told == 1
    first, second = smtp.got
    assert first.message["Message-ID"] == second.message["Message-ID"]


def test_a_worker_killed_between_taking_and_sending_loses_nothing(smtp: Any, clock: Any):
    make_rule()
    make_item()
    rounds.prepare(clock())
    assert notice_delivery.claim(now=clock()) is not None  # and here it dies
    assert go_round(clock).told == 0
    clock.now += notice_delivery.LEASE
    assert go_round(clock).told == 1
    assert len(smtp.got) == 1


def test_a_worker_that_comes_late_writes_nothing_down(smtp: Any, clock: Any):
    make_rule()
    make_item()
    rounds.prepare(clock())
    slow = notice_delivery.claim(now=clock())
    assert slow is not None
    clock.now += notice_delivery.LEASE
    assert go_round(clock).told == 1
    late = notice_delivery.EmailResult(is_final=True, why="too late")
    assert notice_delivery._record(slow, late, now=clock()) == ""
    assert outcome()[0] == "told"


def test_what_was_handled_between_two_tries_is_not_mailed(smtp: Any, clock: Any):
    rule = make_rule()
    item = make_item()
    smtp.next = ["cut"]
    go_round(clock)
    item.delete()
    clock.pass_by(minutes=1)
    assert go_round(clock).dropped == 1
    assert smtp.got == []
    assert told(rule.operator)[0].state == "handled"


def test_a_retry_keeps_quiet_hours(smtp: Any, clock: Any):
    make_rule(quiet_from=time(12, 1), quiet_to=time(14))
    make_item()
    smtp.next = ["cut"]
    go_round(clock)
    assert NoticeDelivery.objects.get().due_at == NOON + timedelta(hours=2)


def test_without_mail_set_up_the_page_says_so(clock: Any, settings: Any):
    settings.MAIL_IS_SET_UP = False
    make_rule()
    make_item()
    assert go_round(clock).later == 1
    assert outcome()[2].startswith("Email is not configured")


def test_the_night_becomes_one_mail_in_the_morning(smtp: Any, clock: Any):
    person = make_hearer(time_zone="Asia/Shanghai")  # noon there is 20:00
    rule = make_rule(person, quiet_from=time(19), quiet_to=time(8), urgent_breaks=False)
    for _ in range(3):
        make_item(risk=2)
        go_round(clock)
        clock.pass_by(hours=3)
    assert smtp.got == []
    assert str(told(rule.operator)[0].why) == "Postponed: quiet hours."
    clock.pass_by(hours=3)
    go_round(clock)
    assert [mail.subject for mail in smtp.got] == ["[Colloquy] 3 items need a decision"]


def test_what_is_urgent_breaks_through_alone(smtp: Any, clock: Any):
    make_rule(quiet_from=time(11), quiet_to=time(14))
    make_item(risk=2)
    make_items(5)
    go_round(clock)
    assert [mail.subject for mail in smtp.got] == ["[Colloquy] 1 item needs a decision"]
    clock.pass_by(hours=2)
    go_round(clock)
    assert smtp.got[1].subject == "[Colloquy] 5 items need a decision"


@pytest.mark.django_db(transaction=True)
def test_rounds_at_once_tell_once(smtp: Any, clock: Any):
    for _ in range(4):
        make_rule()
    make_items(300)
    ready = threading.Barrier(4)

    def run(_: int) -> None:
        try:
            ready.wait()
            for _ in range(3):
                go_round(clock)
        finally:
            connection.close()

    with ThreadPoolExecutor(4) as threads:
        list(threads.map(run, range(4)))
    assert sorted(mail.to[0] for mail in smtp.got) == sorted({mail.to[0] for mail in smtp.got})
    assert len(smtp.got) == 4
    assert Notice.objects.filter(state="told").count() == 4 * 300


@pytest.mark.django_db(transaction=True)
def test_what_commits_late_is_told_although_younger_things_were(smtp: Any, clock: Any):
    rule, account = make_rule(), make_account()
    began, may_commit = threading.Event(), threading.Event()

    def slowly() -> None:
        with transaction.atomic():
            make_draft(account=account)  # its place on the desk is taken here
            began.set()
            may_commit.wait(60)
        connection.close()

    thread = threading.Thread(target=slowly)
    thread.start()
    assert began.wait(60)
    make_draft(account=account)
    for _ in range(3):
        clock.pass_by(minutes=6)
        go_round(clock)
    assert len(told(rule.operator)) == 1
    may_commit.set()
    thread.join()
    clock.pass_by(minutes=6)
    go_round(clock)
    assert len(told(rule.operator)) == 2
    assert len(smtp.got) == 2


@pytest.fixture
def alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """No transaction of anybody else, in no other test, runs on this server."""
    top = re.sub(r"pg_snapshot_xm\S+::bigint", "1", table_cursor.TOP)
    monkeypatch.setattr(table_cursor, "TOP", top)


@pytest.mark.usefixtures("alone")
def test_a_quiet_desk_is_not_read_again(smtp: Any, clock: Any):
    make_rule()
    make_item()
    for _ in range(3):
        go_round(clock)
    mark = NoticeCursor.objects.get()
    assert mark.through == mark.candidate == DeskItem.objects.get().pk


def test_a_flood_for_many_is_told_over_several_rounds_and_nothing_is_left_out(
    clock: Any, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(collect, "AT_ONCE", 10)
    monkeypatch.setattr(collect, "MOST_MADE", 40)
    people = [make_hearer() for _ in range(2)]
    for person in people:
        make_rule(person, channel="page")
    make_items(75)
    go_round(clock)
    assert Notice.objects.count() == 40
    for _ in range(3):  # even while somebody's transaction keeps the mark where it is
        go_round(clock)
    assert [len(told(person)) for person in people] == [75, 75]
