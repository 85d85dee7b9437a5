"""The moment of sending: the last look before words leave.

One statement asks for the claim, the pauses and the account's mode, marks the
sending as begun, and commits before the request leaves.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from django.conf import settings
from django.db import transaction
from django.db.models import Exists, F, OuterRef, Q

from surfaces import pausing
from surfaces.checks import problems
from surfaces.models import Account, AuditEvent, Draft, Message, Pause
from surfaces.models.account import Mode
from surfaces.models.account import State as AccountState
from surfaces.models.draft import DraftQuerySet, State, What
from surfaces.models.message import MOST_TRIES, Direction, SpamStatus
from surfaces.outcomes import begin_try, give_up, reopen


def lease() -> timedelta:
    """How long a claim lasts without a sign of life; longer than any request."""
    return timedelta(seconds=settings.SEND_LEASE_SECONDS)


def is_paused() -> Exists:
    """True for a draft that a live pause holds back."""
    return Exists(
        Pause.objects.live().filter(
            Q(scope="all")
            | Q(scope="surface", subject=OuterRef("account__surface__slug"))
            | Q(scope="account", subject=OuterRef("account__name"))
            | Q(scope="agent", subject=OuterRef("agent"))
        )
    )


def begin(draft: Draft, *, now: datetime) -> bool:
    """Say that the sending begins, unless something speaks against it now."""
    if reason := _never(draft):
        give_up(draft, reason, now=now, permanent=True)
        if draft.target and draft.target.spam_status == SpamStatus.SPAM:
            reopen(draft)  # unmarked, it is as open as any
        return False
    if draft.digest() != draft.approved_digest:
        _lapse(draft)
        return False
    with transaction.atomic():
        if not _may_leave(draft, now).update(
            asked_at=now, lease_until=now + lease(), sendings=F("sendings") + 1
        ):
            _hold_back(draft)
            return False
        draft.asked_at, draft.sendings = now, draft.sendings + 1
        if draft.sendings > 1 and not begin_try(draft):
            why = f"Tried {MOST_TRIES} times. The last time: {draft.why}"
            give_up(draft, why, now=now, permanent=False)
            return False
    return True


def _may_leave(draft: Draft, now: datetime) -> DraftQuerySet:
    return Draft.objects.filter(
        pk=draft.pk,
        state=State.SENDING,
        claim_number=draft.claim_number,
        lease_until__gt=now,
        account__in=Account.objects.able_to_write(now).filter(mode__in=[Mode.AUTO, Mode.REVIEW]),
    ).exclude(is_paused())


def _never(draft: Draft) -> str:
    """What makes these words unsendable for good, read afresh."""
    traits = draft.account.surface.traits
    is_post = draft.what == What.POST
    if found := problems(text=draft.text, title=draft.title, is_post=is_post, traits=traits):
        return " ".join(found)
    if draft.target is None:
        return ""
    _read_target_again(draft)
    if draft.target.deleted_at:
        return "What it answers was deleted at the source."
    if draft.target.spam_status == SpamStatus.SPAM:
        return "What it answers was marked as spam."
    ours = Message.objects.filter(parent=draft.target_id, direction=Direction.OUTGOING)
    if draft.what == What.REPLY and ours.exists():
        return "The comment was answered meanwhile; nothing is said twice."
    return ""


def _read_target_again(draft: Draft) -> None:
    if draft.target:
        draft.target.refresh_from_db(fields=["content", "deleted_at", "spam_status"])


def _lapse(draft: Draft) -> None:
    """What was approved moved since: it waits for a person again."""
    why = "What was approved, or what it answers, changed since. Look again."
    with transaction.atomic():
        draft.advance(State.WAITING, approved_digest="", why=why, lease_until=None)
        AuditEvent.objects.record("draft.lapsed", actor="sender", subject=draft, why=why)


def _hold_back(draft: Draft) -> None:
    """Stopped between claim and sending: shadow keeps it, a pause lets it wait."""
    account = Account.objects.select_related("surface").get(pk=draft.account_id)
    if account.mode == Mode.SHADOW:
        draft.advance(
            State.SHADOWED, why="Shadow: this would have been sent now.", lease_until=None
        )
        reopen(draft)
        AuditEvent.objects.record("draft.shadowed", actor="sender", subject=draft)
        return
    why = f"Held back: {_obstacle(account, draft)}."
    draft.advance(State.APPROVED, why=why, lease_until=None)


def _obstacle(account: Account, draft: Draft) -> str:
    if pauses := pausing.reasons(account, draft.agent):
        return f"{pauses[0]} is paused"
    if not account.is_on or not account.surface.is_on or account.mode == Mode.OFF:
        return "the account is off"
    if account.state != AccountState.OK:
        return f"the account is {account.get_state_display().lower()}"
    return "its turn passed before it was reached; it is among the next"
