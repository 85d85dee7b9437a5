"""An outage is told once, and once that it is over, to those who heard of it."""

from __future__ import annotations

from typing import Any

import pytest

from surfaces.models import Account
from tests.factories import NOON, make_account
from tests.surfaces.notices.factories import go_round, make_item, make_rule, told
from tests.surfaces.notices.factories import smtp as smtp

pytestmark = [pytest.mark.django_db, pytest.mark.engine]


def subjects(smtp: Any) -> list[str]:
    return [mail.subject.removeprefix("[Colloquy] ") for mail in smtp.got]


def pass_by(clock: Any, *minutes: float) -> None:
    for one in minutes:
        clock.pass_by(minutes=one)
        go_round(clock)


def test_a_surface_that_stays_down_is_told_once_and_back_once(smtp: Any, clock: Any):
    make_rule(down_minutes=10)
    account = make_account()
    account.becomes("down", now=NOON, why="connection refused")
    pass_by(clock, 5)
    assert smtp.got == []
    pass_by(clock, 5, 10, 10)
    assert subjects(smtp) == ["1 surface is down"]
    assert account.name in smtp.got[0].text
    assert "connection refused" in smtp.got[0].text
    account.becomes("ok", now=clock())
    pass_by(clock, 1, 10)
    assert subjects(smtp) == ["1 surface is down", "1 surface is back"]


def test_what_was_down_shortly_is_never_told(smtp: Any, clock: Any):
    make_rule(down_minutes=10)
    account = make_account()
    account.becomes("down", now=NOON)
    pass_by(clock, 5)
    account.becomes("ok", now=clock())
    pass_by(clock, 10, 10)
    assert smtp.got == []


def test_who_is_refused_is_told_of_at_once_and_not_a_second_time_from_the_desk(
    smtp: Any, clock: Any
):
    rule = make_rule(down_minutes=60)
    make_account().becomes("auth_failed", now=NOON, why="401")
    go_round(clock)
    assert subjects(smtp) == ["1 surface is down"]
    assert [notice.reason for notice in told(rule.operator)] == ["down"]


def test_a_second_outage_is_told_again(smtp: Any, clock: Any):
    make_rule(down_minutes=0)
    account = make_account()
    for _ in range(2):
        account.becomes("down", now=clock())
        pass_by(clock, 6)
        account.becomes("ok", now=clock())
        pass_by(clock, 6)
    assert subjects(smtp) == ["1 surface is down", "1 surface is back"] * 2


def test_down_that_turns_into_refused_is_not_back(smtp: Any, clock: Any):
    make_rule(down_minutes=0)
    account = make_account()
    account.becomes("down", now=NOON)
    pass_by(clock, 6)
    account.becomes("auth_failed", now=clock())
    pass_by(clock, 6)
    assert subjects(smtp) == ["1 surface is down", "1 surface is down"]
    account.becomes("ok", now=clock())
    pass_by(clock, 6)
    assert subjects(smtp)[2:] == ["1 surface is back"]


def test_an_outage_that_ends_in_quiet_hours_was_none(smtp: Any, clock: Any):
    from datetime import time

    rule = make_rule(quiet_from=time(11), quiet_to=time(14), urgent_breaks=False, down_minutes=0)
    account = make_account()
    account.becomes("down", now=NOON)
    pass_by(clock, 6)
    account.becomes("ok", now=clock())
    pass_by(clock, 6, 240)
    assert smtp.got == []
    (notice,) = told(rule.operator)
    assert (notice.state, str(notice.why)) == (
        "handled",
        "It ended before the notification was due.",
    )


def test_what_is_switched_off_is_not_missed(smtp: Any, clock: Any):
    make_rule(down_minutes=0)
    account = make_account()
    account.becomes("down", now=NOON)
    Account.objects.filter(pk=account.pk).update(is_on=False)
    make_item(account)
    pass_by(clock, 6)
    assert subjects(smtp) == ["1 item needs a decision"]
