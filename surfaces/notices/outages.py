"""Accounts that are not reached for long or refused at all: told once, and once that it is over."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from django.db import transaction

from surfaces.accounts.models.account import Account, AccountState
from surfaces.notices import matching
from surfaces.notices.matching import NoticeEvent
from surfaces.notices.models.notice import Notice, NoticeReason, NoticeState
from surfaces.notices.recipients import Recipient
from surfaces.text.reasons import StoredReason

TROUBLES = [
    AccountState.DOWN,
    AccountState.AUTH_FAILED,
    AccountState.SUSPENDED,
]  # what is limited goes on by itself


def begun(hearers: Sequence[Recipient], now: datetime) -> None:
    listening = [hearer for hearer in hearers if hearer.wish.hears_down]
    broken = _broken() if listening else []
    Notice.objects.keep(
        _notice(hearer, account, NoticeReason.DOWN, now, words=account.state_why)
        for account in broken
        for hearer in listening
        if _is_long(account, hearer, now) and _is_theirs(account, hearer)
    )


def _broken() -> list[Account]:
    accounts = Account.objects.on().filter(state__in=TROUBLES)
    return list(accounts.defer("sealed_credential", "cursor"))


def _is_long(account: Account, hearer: Recipient, now: datetime) -> bool:
    """Who waits for a person does not get better by itself: that is told at once."""
    patience = timedelta(minutes=hearer.rule.down_minutes)
    return account.needs_person or account.state_since <= now - patience


def _is_theirs(account: Account, hearer: Recipient) -> bool:
    thing = NoticeEvent(account=account.pk, surface=account.surface_id)
    return matching.fits_place(hearer.wish, hearer.reach, thing)


def _notice(
    hearer: Recipient,
    account: Account,
    reason: NoticeReason,
    now: datetime,
    *,
    words: StoredReason | str = "",
) -> Notice:
    return hearer.notice(
        reason,
        _name_of(account),
        now=now,
        moment=account.state_since,
        is_urgent=True,
        words=words,
        account_id=account.pk,
    )


def _name_of(account: Account) -> str:
    """Of this one outage; the next begins at another moment."""
    return f"account:{account.pk}@{int(account.state_since.timestamp() * 1_000)}"


@transaction.atomic
def over(hearers: Sequence[Recipient], now: datetime) -> None:
    """Who was told of an outage hears that it is over; who was not yet, hears nothing."""
    open_ones = Notice.objects.filter(reason=NoticeReason.DOWN, over_at=None).exclude(account=None)
    locked = open_ones.select_for_update(of=("self",), skip_locked=True, no_key=True)
    hearer_of = {hearer.rule.pk: hearer for hearer in hearers}
    back = []
    for notice in locked.select_related("account__surface"):
        account = notice.account
        if account is None or (notice.subject == _name_of(account) and _is_on(account)):
            continue
        _close(notice, now)
        hearer = hearer_of.get(notice.rule_id or 0)
        if hearer and notice.state == NoticeState.TOLD and account.state not in TROUBLES:
            back.append(_notice(hearer, account, NoticeReason.BACK, now))
    Notice.objects.keep(back)


def _is_on(account: Account) -> bool:
    """Nobody waits for what was switched off."""
    return account.is_on and account.surface.is_on and account.state in TROUBLES


def _close(notice: Notice, now: datetime) -> None:
    rows = Notice.objects.filter(pk=notice.pk)
    rows.update(over_at=now)
    rows.unread().update(read_at=now)  # that it is back, is news enough
    why = "notice.over_early"
    rows.filter(state=NoticeState.DUE).update(state=NoticeState.HANDLED, why=why)
