"""Rounds of several accounts in one watcher process: the slowest delays no other."""

from __future__ import annotations

import signal
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.utils import timezone

from surfaces.adapters.limits import RateLimit
from surfaces.models import Account, RateLimitWindow, WatchRound
from surfaces.watcher import rounds as watcher_rounds
from tests.factories import make_account, make_surface
from tests.fakes.hostile import Hostile
from tests.fakes.moltbook import FakeMoltbook
from tests.surfaces.workers.test_heartbeat import _loop

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.engine]
LONG_AGO = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.fixture
def moltbook() -> Iterator[FakeMoltbook]:
    with FakeMoltbook() as fake:
        yield fake


@pytest.fixture
def hostile() -> Iterator[Hostile]:
    with Hostile("slow headers") as fake:
        yield fake


def accounts_at(url: str, names: list[str], tokens: list[str] | None = None) -> list[Account]:
    surface = make_surface(base_url=url)
    return [
        make_account(
            surface=surface, name=name, handle="", remote_id="", next_watch_at=LONG_AGO,
            token=tokens[place] if tokens else "moltbook_" + "0" * 64,
        )
        for place, name in enumerate(names)
    ]  # fmt: skip


def good_accounts(moltbook: FakeMoltbook, count: int) -> list[Account]:
    names = [f"good_{n}" for n in range(count)]
    tokens = [moltbook.add_agent(name) for name in names]
    return accounts_at(moltbook.url, names, tokens)


def test_a_service_that_trickles_delays_no_other_account(moltbook: Any, hostile: Hostile):
    accounts_at(hostile.root + "/api/v1", ["a hostile one"])
    good = good_accounts(moltbook, 6)
    done = watcher_rounds.watch_at_once(4, worker="w")
    first = [next(done) for _ in good]
    assert {row.account.name for row in first} == {account.name for account in good}
    assert {str(row.outcome) for row in first} == {""}
    hostile.stop()
    assert [row.account.name for row in done] == ["a hostile one"]


def test_many_accounts_at_a_service_that_hangs_leave_half_of_the_rounds_to_others(
    moltbook: Any, hostile: Hostile
):
    bad = accounts_at(hostile.root + "/api/v1", [f"bad_{n}" for n in range(6)])
    good = good_accounts(moltbook, 3)
    done = watcher_rounds.watch_at_once(4, worker="w")
    assert {next(done).account for _ in good} == {*good}
    hostile.stop()
    assert {row.account for row in done} == {*bad}


def test_a_fault_of_ours_in_one_round_hurts_no_other(moltbook: Any, monkeypatch: Any):
    good = good_accounts(moltbook, 4)
    real = watcher_rounds._read

    def fault(account: Account, *args: Any, **kwargs: Any) -> Any:
        if account.name == "good_1":
            raise RecursionError("maximum recursion depth exceeded")
        return real(account, *args, **kwargs)

    monkeypatch.setattr(watcher_rounds, "_read", fault)
    done = [*watcher_rounds.watch_at_once(2, worker="w")]
    assert {row.account for row in done} == {*good}
    assert [row.account.name for row in done if row.outcome] == ["good_1"]
    assert WatchRound.objects.count() == 4


def test_rounds_at_once_keep_a_limit_by_address_together(moltbook: Any, monkeypatch: Any):
    good_accounts(moltbook, 6)
    limit = RateLimit("general", 10, timedelta(hours=1), by_address=True)
    surface = type(Account.objects.first().surface)
    monkeypatch.setattr(surface, "budgets", property(lambda self: (limit,)))
    done = [*watcher_rounds.watch_at_once(4, worker="w")]
    assert len(done) == 6
    assert len(moltbook.requests) == 8, "a fifth is left to sending"
    assert RateLimitWindow.objects.get(bucket="general").used == 8


def test_an_account_that_becomes_due_is_read_while_another_hangs(moltbook: Any, hostile: Hostile):
    accounts_at(hostile.root + "/api/v1", ["a hostile one"])
    first, second = good_accounts(moltbook, 2)
    Account.objects.filter(pk=second.pk).update(next_watch_at=timezone.now().replace(year=2030))
    done = watcher_rounds.watch_at_once(4, worker="w")
    assert next(done).account == first
    Account.objects.filter(pk=second.pk).update(next_watch_at=LONG_AGO)
    assert next(done).account == second
    hostile.stop()
    assert [row.account.name for row in done] == ["a hostile one"]


def test_a_watcher_told_to_stop_ends_within_five_seconds_of_a_hanging_round(hostile: Hostile):
    accounts_at(hostile.root + "/api/v1", ["a hostile one"])
    process = _loop("watch")
    try:
        for _ in range(600):
            if hostile.requests:
                break
            time.sleep(0.05)
        began = time.monotonic()
        process.send_signal(signal.SIGTERM)
        assert process.wait(20) == 0
        took = time.monotonic() - began
    finally:
        process.kill()
    assert took < 5
