"""A stopped account, a pause and a mode hold back what was approved, until the last moment."""

from __future__ import annotations

from typing import Any

import pytest

from surfaces.delivery import sender
from surfaces.delivery.sender import DeliveryReport, claim
from surfaces.models import Account
from surfaces.pauses import services as pause_services
from surfaces.workers.locks import WorkerLock
from tests.factories import NOON, make_account, make_approved, make_message
from tests.surfaces.delivery.scripted_service import saying
from tests.surfaces.delivery.sender import send

pytestmark = [pytest.mark.django_db, pytest.mark.engine]


def test_suspension_stops_all_writing_of_the_account(service: Any, clock: Any):
    account = make_account()
    first = make_approved(target=make_message(account=account))
    make_approved(target=make_message(account=account), text="another thing")
    service.next = [saying(401, error="Account suspended", hint="duplicate content")]
    send(service, clock)
    clock.pass_by(days=3)
    send(service, clock)
    assert len(service.posted) == 1
    account.refresh_from_db()
    first.refresh_from_db()
    assert (account.state, first.state) == ("suspended", "approved")


def test_a_refused_key_stops_the_account(service: Any, clock: Any):
    draft = make_approved()
    service.next = [saying(401, error="Invalid token", code="UNAUTHORIZED")]
    send(service, clock)
    clock.pass_by(days=1)
    send(service, clock)
    assert Account.objects.get().state == "auth_failed"
    draft.refresh_from_db()
    assert (draft.state, len(service.posted)) == ("approved", 1)


@pytest.mark.parametrize("scope", ["all", "surface", "account", "agent"])
def test_a_pause_holds_everything_it_names(service: Any, clock: Any, scope: str):
    draft = make_approved(agent="iris")
    account = draft.account
    subject = {"surface": account.surface.slug, "account": account.name, "agent": "iris"}
    name = subject.get(scope, "")
    pause_services.pause(scope, name, why="hold on", by="operator:mira", now=NOON)
    assert send(service, clock).did == 0
    pause_services.resume(scope, name, by="operator:mira", now=NOON)
    assert send(service, clock).sent == 1


def test_a_pause_set_after_the_claim_still_stops_the_sending(service: Any, clock: Any):
    draft = make_approved()
    [claimed] = claim(WorkerLock(), now=NOON)
    pause_services.pause("all", why="now!", by="operator:mira", now=NOON)
    sender.deliver([claimed], DeliveryReport(), clock=clock, transport=service)
    draft.refresh_from_db()
    assert service.posted == []
    assert draft.state == "approved"
    assert "paused" in str(draft.why)


def test_shadow_set_after_the_approval_keeps_it_in(service: Any, clock: Any):
    draft = make_approved()
    Account.objects.update(mode="shadow")
    assert send(service, clock).shadowed == 1
    draft.refresh_from_db()
    assert (draft.state, service.posted) == ("shadowed", [])


def test_an_account_that_is_off_says_nothing(service: Any, clock: Any):
    make_approved()
    Account.objects.update(mode="off")
    assert send(service, clock).did == 0
    Account.objects.update(mode="review", is_on=False)
    assert send(service, clock).did == 0
    assert service.posted == []
