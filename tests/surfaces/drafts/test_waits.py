"""Approved drafts that were put off are due as soon as what put them off is over."""

from __future__ import annotations

from datetime import timedelta

import pytest

from surfaces.accounts import connect, services
from surfaces.accounts.models.account import AccountState
from surfaces.delivery import outcomes
from surfaces.delivery.preflight import start_sending
from surfaces.drafts.models import DraftState
from surfaces.errors import AuthFailed, Limited, TryLater
from surfaces.models import Account, Draft, Surface
from surfaces.pauses import services as pause_services
from surfaces.settings.services import change
from surfaces.text.reasons import reason
from tests.factories import NOON, make_account, make_approved, make_message

pytestmark = pytest.mark.django_db
HOUR = timedelta(hours=1)
MIRA = "operator:mira"


def in_sending(account: Account, **given) -> Draft:
    target = make_message(account=account)
    draft = make_approved(target=target, **given)
    draft.advance(
        DraftState.SENDING, lease_until=NOON + HOUR, claim_number=1, claimed_by="a sender"
    )
    return draft


def put_off(account: Account, error: Exception) -> Draft:
    draft = in_sending(account)
    outcomes.record_not_sent(draft, error, now=NOON)
    return draft


def is_due(draft: Draft) -> bool:
    row = Draft.objects.due(NOON).filter(pk=draft.pk).first()
    return row is not None and row.why == {} and row.account in Account.objects.able_to_write(NOON)


LIMITED = Limited(reason("account.rate_spent", bucket="comment"), wait=HOUR, asked=False)
ERRORS = [
    LIMITED,
    Limited("sending.no_target", wait=HOUR),
    TryLater("sending.no_target", wait=HOUR, asked=False),
    TryLater("sending.no_target", wait=HOUR),
    AuthFailed("sending.no_target"),
]


@pytest.mark.parametrize("error", ERRORS, ids=lambda e: type(e).__name__)
def test_clearing_an_account_frees_its_drafts(error):
    account = make_account()
    draft = put_off(account, error)
    account.refresh_from_db()
    if account.state == AccountState.OK:
        account.becomes(AccountState.DOWN, now=NOON)
    assert not is_due(draft)
    services.clear(account, by=MIRA, now=NOON)
    assert is_due(draft)


def test_a_new_credential_frees_drafts_and_sender():
    account = make_account(name="iris@moltbook", surface=make_live())
    draft = put_off(account, LIMITED)
    connect.connect("moltbook", agent="iris", token="moltbook_new", by=MIRA, now=NOON)
    assert is_due(draft)


def make_live() -> Surface:
    return Surface.objects.create(slug="moltbook", name="Moltbook", kind="moltbook")


def test_a_larger_limit_of_ours_frees_account_and_drafts():
    account = make_account()
    draft = put_off(account, LIMITED)
    change(account.surface, {"limit_comment": [500, 3600]}, by=MIRA, now=NOON)
    assert is_due(draft)
    account.refresh_from_db()
    assert (account.state, account.quiet_until, account.next_watch_at) == ("ok", None, NOON)


def test_a_larger_limit_of_ours_ends_no_limit_of_the_service():
    account = make_account()
    put_off(account, Limited("sending.no_target", wait=HOUR))
    change(account.surface, {"limit_comment": [500, 3600]}, by=MIRA, now=NOON)
    account.refresh_from_db()
    assert (account.state, account.quiet_until) == ("limited", NOON + HOUR)


def test_a_service_that_answers_again_frees_what_waited_for_it():
    account = make_account()
    draft = put_off(account, TryLater("sending.no_target", wait=HOUR, asked=False))
    services.recover(account, now=NOON)
    assert is_due(draft)


def test_the_end_of_a_pause_takes_its_reason_from_the_draft():
    account = make_account()
    draft = in_sending(account)
    pause_services.pause("account", account.name, why="a talk", by=MIRA, now=NOON)
    assert not start_sending(draft, now=NOON)
    assert "is paused" in str(Draft.objects.get(pk=draft.pk).why)
    pause_services.resume("account", account.name, by=MIRA, now=NOON)
    assert is_due(draft)


@pytest.mark.parametrize("what", ["account", "surface"])
def test_enabling_takes_the_reason_from_the_draft(what):
    account = make_account()
    draft = in_sending(account)
    row = account if what == "account" else account.surface
    type(row).objects.filter(pk=row.pk).update(is_on=False)
    assert not start_sending(draft, now=NOON)
    assert "switched off" in str(Draft.objects.get(pk=draft.pk).why)
    row.refresh_from_db()
    if what == "account":
        change(row, {"is_on": True}, by=MIRA, now=NOON)
    else:
        services.switch(row, is_on=True, by=MIRA)
    assert is_due(draft)


def test_what_can_still_be_called_back_is_not_sent_earlier():
    account = make_account(state="down")
    draft = make_approved(target=make_message(account=account), not_before=NOON + timedelta(10))
    services.clear(account, by=MIRA, now=NOON)
    assert Draft.objects.get(pk=draft.pk).not_before == NOON + timedelta(10)


def test_a_shorter_interval_counts_from_now():
    account = make_account(every=1440, next_watch_at=NOON + timedelta(hours=23))
    change(account, {"every": 5}, by=MIRA, now=NOON)
    account.refresh_from_db()
    assert account.next_watch_at == NOON + timedelta(minutes=5)
