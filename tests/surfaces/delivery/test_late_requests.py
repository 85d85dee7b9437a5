"""A service that stores a request later than it came: nothing is said twice within the delay."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import httpx
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from surfaces.adapters.moltbook.reader import Moltbook
from surfaces.adapters.types import CannotTell
from surfaces.delivery import settle
from surfaces.delivery.sender import deliver_due
from surfaces.drafts import retry
from surfaces.drafts.attempts import give_up
from surfaces.hub import services as hub
from surfaces.hub.transport import HubTransport
from surfaces.models import Account, Draft, HubPost, Surface
from surfaces.workers.locks import WorkerLock
from tests.factories import NOON, make_account, make_approved, make_surface
from tests.fakes.moltbook import FakeMoltbook
from tests.surfaces.delivery.late_requests import (
    LONGEST_DELAY,
    WRITES,
    account_on,
    draft_on,
    run_until_settled,
    share_clock,
)
from tests.surfaces.delivery.scripted_service import Clock

pytestmark = [pytest.mark.django_db, pytest.mark.engine]
KINDS = ["reply", "comment", "post"]


@pytest.fixture(scope="module", params=["open", "live"])
def moltbook(request: Any) -> Iterator[FakeMoltbook]:
    with FakeMoltbook(dialect=request.param) as fake:
        yield fake


def said(moltbook: FakeMoltbook, text: str) -> int:
    return len(moltbook.stored(author="iris", text=text))


@pytest.fixture
def account(moltbook: FakeMoltbook, clock: Clock) -> Account:
    share_clock(moltbook, clock)
    return account_on(moltbook)


def send_late(
    moltbook: FakeMoltbook,
    account: Account,
    clock: Clock,
    what: str,
    seconds: float,
    tick: float = 0,
) -> Draft:
    """Send a draft whose first request is stored `seconds` later, and wait two days more."""
    draft = draft_on(
        moltbook, account, what, text=f"The moon, {len(moltbook.ledger)}.", now=clock()
    )
    moltbook.clear_faults()
    moltbook.fault("late", match=WRITES, seconds=seconds)
    run_until_settled(draft, clock, tick=tick)
    clock.now += timedelta(days=2)
    moltbook.store_late()
    return draft


@pytest.mark.parametrize("what", KINDS)
@settings(
    max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    seconds=st.integers(min_value=1, max_value=LONGEST_DELAY),
    tick=st.sampled_from([0.0, 0.5, 7.0, 60.0, 400.0]),
)
@example(seconds=1, tick=0.0)
@example(seconds=100, tick=0.0)
@example(seconds=LONGEST_DELAY - 1, tick=0.0)
@example(seconds=LONGEST_DELAY, tick=0.0)
def test_a_request_stored_within_the_longest_known_delay_is_said_once(
    moltbook: Any, account: Any, clock: Any, what: str, seconds: int, tick: float
):
    draft = send_late(moltbook, account, clock, what, seconds, tick)
    assert (draft.state, said(moltbook, draft.text)) == ("sent", 1)


@pytest.mark.parametrize("what", KINDS)
def test_what_is_stored_later_than_the_longest_known_delay_is_the_one_gap(
    moltbook: Any, account: Any, clock: Any, what: str
):
    draft = send_late(moltbook, account, clock, what, LONGEST_DELAY + 120)
    assert said(moltbook, draft.text) == 2, "docs/decisions/0034 and the README name this gap"


def test_a_longer_delay_closes_the_gap_for_its_surface(moltbook: Any, account: Any, clock: Any):
    Surface.objects.update(longest_delay_seconds=7200)
    draft = send_late(moltbook, account, clock, "post", 7200)
    assert (draft.state, said(moltbook, draft.text)) == ("sent", 1)


def test_a_request_that_never_arrived_is_sent_again_when_the_delay_is_over(
    moltbook: Any, account: Any, clock: Any
):
    began = clock()
    draft = draft_on(moltbook, account, "reply", text="Nobody heard this.")
    moltbook.fault("reset-before", match=WRITES)
    run_until_settled(draft, clock)
    assert (draft.state, said(moltbook, draft.text)) == ("sent", 1)
    assert clock() - began == timedelta(seconds=LONGEST_DELAY)


def test_every_repeat_of_a_request_in_doubt_is_preceded_by_a_look(
    moltbook: Any, account: Any, clock: Any
):
    draft = draft_on(moltbook, account, "comment", text="Limited again and again.")
    moltbook.fault("reset-before", match=WRITES)
    moltbook.fault("429-retry-after", match=WRITES, times=3, seconds=1)
    moltbook.requests.clear()
    run_until_settled(draft, clock)
    methods = [method for method, _, _ in moltbook.requests]
    repeats = [n for n, method in enumerate(methods) if method == "POST"][1:]
    assert (draft.state, len(repeats)) == ("sent", 4)
    assert all(methods[n - 1] == "GET" for n in repeats)


def test_a_delay_that_was_raised_meanwhile_counts(moltbook: Any, account: Any, clock: Any):
    draft = draft_on(moltbook, account, "post", text="Stored after an hour.")
    moltbook.fault("late", match=WRITES, seconds=3600)
    run_until_settled(draft, clock, rounds=3)
    Surface.objects.update(longest_delay_seconds=3600)
    run_until_settled(draft, clock)
    moltbook.store_late(by=clock().timestamp() + 7200)
    assert (draft.state, said(moltbook, draft.text)) == ("sent", 1)


# ── what a person decides waits as well ───────────────────────────────────


def settle_late(moltbook: Any, account: Any, clock: Any, monkeypatch: Any, seconds: int) -> Draft:
    """An operator says "not delivered" of a request that the service stores later."""
    draft = draft_on(moltbook, account, "reply", text=f"Settled too early, {seconds}.")
    moltbook.fault("late", match=WRITES, seconds=seconds)
    with monkeypatch.context() as patched:
        cut = CannotTell("hub.thread_cut")
        patched.setattr(Moltbook, "find_own_reply", lambda self, **_: cut)
        run_until_settled(draft, clock)
        assert draft.needs_person
        settle.settle_as_not_sent(draft, by="operator:mira", now=clock())
        assert "may store a request 10 min late" in str(draft.why)
        assert draft.not_before == draft.repeat_from
        if seconds > LONGEST_DELAY:
            run_until_settled(draft, clock)
    run_until_settled(draft, clock)
    return draft


def test_resend_waits_until_the_delay_is_over_and_looks_once_more(
    moltbook: Any, account: Any, clock: Any, monkeypatch: Any
):
    draft = settle_late(moltbook, account, clock, monkeypatch, LONGEST_DELAY)
    assert (draft.state, said(moltbook, draft.text)) == ("sent", 1)


def test_resend_is_done_though_the_list_still_proves_nothing(
    moltbook: Any, account: Any, clock: Any, monkeypatch: Any
):
    draft = settle_late(moltbook, account, clock, monkeypatch, 90_000)
    assert (draft.state, said(moltbook, draft.text)) == ("sent", 1)


def failed_in_doubt(moltbook: Any, account: Any, clock: Any, seconds: int) -> Draft:
    draft = draft_on(moltbook, account, "post", text=f"Failed, {seconds}.")
    moltbook.fault("late", match=WRITES, seconds=seconds)
    run_until_settled(draft, clock, rounds=1)
    give_up(draft, "service.redirect", now=clock(), permanent=True)
    return draft


def test_retry_of_what_may_have_happened_waits_and_looks_first(
    moltbook: Any, account: Any, clock: Any
):
    draft = failed_in_doubt(moltbook, account, clock, LONGEST_DELAY)
    retry.retry_draft(draft, by="operator:mira", now=clock())
    assert draft.not_before == NOON + timedelta(seconds=LONGEST_DELAY)
    assert "may store an earlier request 10 min late" in str(draft.why)
    run_until_settled(draft, clock)
    assert (draft.state, said(moltbook, draft.text)) == ("sent", 1)


def test_a_key_that_the_service_honours_makes_a_repeat_safe_at_once(clock: Any):
    surface = make_surface(kind="hub", base_url="")
    author, key = hub.join(name="iris", now=clock())
    account = make_account(surface=surface, token=key, remote_id=str(author.pk))
    draft = make_approved(what="post", account=account, title="On tides", text="Once.")
    transport = HubTransport()

    class Silent(httpx.BaseTransport):
        """Stores every request; the first answer is lost."""

        lost = 0

        def handle_request(self, request: httpx.Request) -> httpx.Response:
            answer = transport.handle_request(request)
            if request.method == "GET":
                return httpx.Response(200, json={"posts": []})  # a list that lags behind
            if not self.lost:
                self.lost = 1
                raise httpx.ReadTimeout("silence", request=request)
            return answer

    service = Silent()
    for _ in range(3):
        deliver_due(WorkerLock(), clock=clock, transport=service)
        draft.refresh_from_db()
        if draft.state == "unknown":
            clock.now = draft.look_at
        else:
            clock.now = max(clock.now, draft.not_before)
    assert (draft.state, HubPost.objects.count()) == ("sent", 1)
    assert clock.now - NOON < timedelta(seconds=LONGEST_DELAY)
