"""Accounts that are not reached for long or refused at all: told once, and once that it is over."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from django.db import transaction

from surfaces.accounts.models.account import Account, AccountState
from surfaces.notices import matching
from surfaces.notices.matching import NoticeEvent
from surfaces.notices.models.notice import Notice, NoticeReason, NoticeState
from surfaces.notices.recipients import Recipient

# What is limited goes on by itself.
TROUBLES = [AccountState.DOWN, AccountState.AUTH_FAILED, AccountState.SUSPENDED]


def begun(hearers: Sequence[Recipient], now: datetime) -> None:
    listening = [hearer for hearer in hearers if hearer.wish.hears_down]
    if not listening:
        return
    broken = Account.objects.on().filter(state__in=TROUBLES)
    Notice.objects.keep(
        _notice(hearer, account, NoticeReason.DOWN, now)
        for account in broken.defer("sealed_credential", "cursor")
        for hearer in listening
        if _concerns(hearer, account, now)
    )


def _concerns(hearer: Recipient, account: Account, now: datetime) -> bool:
    """Who waits for a person does not get better by itself: that is told at once."""
    is_long = account.state_since <= now - timedelta(minutes=hearer.rule.down_minutes)
    thing = NoticeEvent(account=account.pk, surface=account.surface_id)
    return (account.needs_person or is_long) and matching.fits_place(
        hearer.wish, hearer.reach, thing
    )


def _notice(hearer: Recipient, account: Account, reason: NoticeReason, now: datetime) -> Notice:
    return hearer.notice(
        reason,
        _name_of(account),
        now=now,
        moment=account.state_since,
        is_urgent=True,
        words=account.state_why if reason == NoticeReason.DOWN else "",
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
        if account is None:
            continue
        # Nobody waits for what was switched off.
        is_down = account.is_on and account.surface.is_on and account.state in TROUBLES
        if notice.subject == _name_of(account) and is_down:
            continue
        rows = Notice.objects.filter(pk=notice.pk)
        rows.update(over_at=now)
        rows.unread().update(read_at=now)  # that it is back, is news enough
        due = rows.filter(state=NoticeState.DUE)
        due.update(state=NoticeState.HANDLED, why="notice.over_early")
        hearer = hearer_of.get(notice.rule_id or 0)
        if hearer and notice.state == NoticeState.TOLD and account.state not in TROUBLES:
            back.append(_notice(hearer, account, NoticeReason.BACK, now))
    Notice.objects.keep(back)
