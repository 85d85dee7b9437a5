"""Budgets are shared, sending comes first, and what the service says counts."""

from __future__ import annotations

from datetime import timedelta

import pytest

from surfaces.accounts import services
from surfaces.accounts.clients import access_to
from surfaces.accounts.rate_limits import SharedMeter
from surfaces.adapters.limits import RateLimit
from surfaces.errors import Limited
from surfaces.models import Account
from tests.factories import NOON, make_account

pytestmark = [pytest.mark.django_db, pytest.mark.engine]
MINUTE = timedelta(minutes=1)
LIMITS = (RateLimit("read", 10, MINUTE), RateLimit("general", 10, MINUTE, by_address=True))


def meter(
    *, sends: bool = True, credential: str = "us", at: timedelta = timedelta()
) -> SharedMeter:
    return SharedMeter(
        LIMITS, credential=credential, address="there", sends=sends, clock=lambda: NOON + at
    )


def spend(count: int, bucket: str = "read", **given) -> None:
    for _ in range(count):
        meter(**given).take(bucket)


def test_a_bucket_holds_what_it_holds_and_says_when_it_is_full_again():
    spend(10)
    with pytest.raises(Limited) as refused:
        spend(1, at=timedelta(seconds=20))
    assert refused.value.wait == timedelta(seconds=40)
    assert not refused.value.asked
    spend(1, at=MINUTE)


def test_reading_leaves_a_part_to_sending():
    spend(8, sends=False)
    with pytest.raises(Limited):
        spend(1, sends=False)
    spend(2, sends=True)


def test_credentials_have_budgets_of_their_own():
    spend(10)
    spend(10, credential="them")


def test_an_address_has_one_budget_for_all_credentials():
    spend(6, "general")
    spend(4, "general", credential="them")
    with pytest.raises(Limited):
        spend(1, "general", credential="a third")


def test_a_wait_that_the_service_asks_for_is_kept_to_the_second():
    meter().heard("read", wait=timedelta(seconds=90))
    with pytest.raises(Limited) as refused:
        spend(1, at=timedelta(seconds=89))
    assert refused.value.wait == timedelta(seconds=1)
    spend(1, at=timedelta(seconds=90))


def test_a_shorter_wait_never_shortens_a_longer_one():
    meter().heard("read", wait=timedelta(seconds=90))
    meter().heard("read", wait=timedelta(seconds=5))
    with pytest.raises(Limited):
        spend(1, at=timedelta(seconds=60))


def test_what_the_service_says_is_left_is_believed():
    meter().heard("read", left=1)
    spend(1)
    with pytest.raises(Limited):
        spend(1)


def test_no_minute_ever_holds_more_than_a_minute_may():
    """Windows that begin anew let twice as many through around their border."""
    spend(1)
    spend(9, at=timedelta(seconds=59))
    spend(1, at=MINUTE)
    with pytest.raises(Limited) as refused:
        spend(1, at=timedelta(seconds=61))
    assert refused.value.wait == timedelta(seconds=58)
    spend(9, at=timedelta(seconds=119))


def test_nothing_left_is_believed_until_the_reset_that_is_named():
    spend(1)
    meter(at=timedelta(seconds=59)).heard("read", left=0, wait=timedelta(seconds=30))
    with pytest.raises(Limited):
        spend(1, at=timedelta(seconds=88))
    meter(credential="them").heard("read", left=0, wait=timedelta(days=3650))
    spend(1, credential="them", at=timedelta(minutes=3))


def test_a_reading_that_could_wait_has_half_and_its_part_of_an_address():
    spend(2)
    assert meter().spare("read") == 3
    assert meter().spare("unlisted", "general") == 5
    pair = {"credential": "us", "address": "there", "sends": False, "clock": lambda: NOON}
    assert SharedMeter(LIMITS, sharers=2, **pair).spare("read", "general") == 2
    spend(4, "general")
    assert SharedMeter(LIMITS, sharers=2, **pair).spare("general") == 1


def test_a_bucket_without_a_limit_still_honours_a_wait():
    spend(100, "unlisted")
    meter().heard("unlisted", wait=MINUTE)
    with pytest.raises(Limited):
        spend(1, "unlisted")


def test_a_request_that_one_bucket_refuses_costs_no_other():
    spend(10)
    with pytest.raises(Limited):
        meter().take("general", "read")
    spend(10, "general")


def test_a_window_from_a_clock_that_was_wrong_is_forgotten():
    """A host whose clock ran a year ahead must not silence everybody for a year."""
    spend(10, at=timedelta(days=365))
    spend(10)
    with pytest.raises(Limited) as refused:
        spend(1)
    assert refused.value.wait <= MINUTE


def test_a_clock_that_is_a_little_behind_gets_no_second_budget():
    spend(10, at=timedelta(seconds=5))
    with pytest.raises(Limited):
        spend(1)


def test_a_person_can_end_a_wait_that_a_service_asked_for():
    """A service that says "in a year" must not be the last word."""
    account = make_account()
    account.becomes("limited", now=NOON, why="in a year", quiet_until=NOON + timedelta(days=365))
    meter = access_to(account, sends=True, clock=lambda: NOON).meter
    meter.heard("read", wait=timedelta(days=365))
    with pytest.raises(Limited):
        meter.take("read")
    services.clear(account, by="operator:mira", now=NOON)
    meter.take("read")
    assert account in Account.objects.able_to_write(NOON)
