"""What a service refuses or limits is tried again as it asks, ten times, and then fails visibly."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from surfaces.models import Account, Draft
from tests.factories import NOON, make_approved, make_message
from tests.surfaces.delivery.scripted_service import saying, unreachable
from tests.surfaces.delivery.sender import send

pytestmark = [pytest.mark.django_db, pytest.mark.engine]


def test_a_permanent_refusal_fails_at_once_with_its_reason(service: Any, clock: Any):
    draft = make_approved()
    service.next = [saying(400, error="Maximum comment depth exceeded", code="BAD_REQUEST")]
    assert send(service, clock).failed == 1
    draft.refresh_from_db()
    draft.target.refresh_from_db()
    assert "depth" in str(draft.why)
    assert (draft.state, draft.target.reply_status) == ("failed", "failed")
    clock.pass_by(days=2)
    assert send(service, clock).did == 0


def test_a_limit_is_honoured_to_the_second_and_shown(service: Any, clock: Any):
    draft = make_approved()
    service.next = [saying(429, headers={"Retry-After": "3601"}, error="Rate limit exceeded")]
    assert send(service, clock).later == 1
    draft.refresh_from_db()
    account = Account.objects.get()
    assert account.state == "limited"
    assert account.state_until == NOON + timedelta(seconds=3601)
    assert draft.not_before == NOON + timedelta(seconds=3601)

    clock.now = NOON + timedelta(seconds=3600)
    assert send(service, clock).did == 0
    clock.now = NOON + timedelta(seconds=3601)
    assert send(service, clock).sent == 1


def test_the_waits_double_from_the_interval_to_six_hours(service: Any, clock: Any):
    make_approved(target=make_message(reply_attempts=1))
    service.next = [saying(429, headers={"Retry-After": "1"}) for _ in range(20)]
    waits = []
    for _ in range(10):
        send(service, clock)
        draft = Draft.objects.get()
        if draft.state == "failed":
            break
        waits.append((draft.not_before - clock.now).total_seconds() / 60)
        clock.now = draft.not_before
    assert waits == [5, 10, 20, 40, 80, 160, 320, 360, 360, 360]


def test_a_comment_is_tried_ten_times_and_then_fails_visibly(service: Any, clock: Any):
    question = make_message(reply_attempts=1)
    draft = make_approved(target=question)
    service.next = [saying(429, headers={"Retry-After": "1"}) for _ in range(30)]
    for _ in range(20):
        send(service, clock)
        clock.pass_by(hours=7)
    draft.refresh_from_db()
    question.refresh_from_db()
    assert len(service.posted) == 10
    assert (draft.state, question.reply_status, question.reply_attempts) == ("failed", "failed", 10)
    assert str(draft.why) == (
        "10 attempts failed. Last error: too many requests: status 429 without a message."
    )


def test_an_unreachable_service_costs_no_try_and_loses_nothing(service: Any, clock: Any):
    question = make_message(reply_attempts=1)
    draft = make_approved(target=question)
    service.next = [unreachable] * 15
    for _ in range(15):
        send(service, clock)
        clock.pass_by(hours=7)
    draft.refresh_from_db()
    question.refresh_from_db()
    assert (draft.state, draft.sendings, question.reply_attempts) == ("approved", 0, 1)
    assert Account.objects.get().state == "down"
    send(service, clock)
    draft.refresh_from_db()
    assert draft.state == "sent"
