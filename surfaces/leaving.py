"""The moment of sending: the last look before words leave.

One statement asks for the claim, the pauses, the account and what is answered, marks
the sending as begun, and commits before the request leaves.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import connection, transaction
from django.db.models import Exists, OuterRef

from surfaces import pausing
from surfaces.checks import problems
from surfaces.models import Account, AuditEvent, Draft, Message, Pause
from surfaces.models.account import Mode
from surfaces.models.account import State as AccountState
from surfaces.models.draft import State, What
from surfaces.models.message import MOST_TRIES, SpamStatus
from surfaces.outcomes import begin_try, give_up, reopen


def lease() -> timedelta:
    """How long a claim lasts without a sign of life; longer than any request."""
    return timedelta(seconds=settings.SEND_LEASE_SECONDS)


def is_paused() -> Exists:
    """True for a draft that a live pause holds back."""
    over = Pause.objects.over(
        surface=OuterRef("account__surface__slug"),
        account=OuterRef("account__name"),
        agent=OuterRef("agent"),
    )
    return Exists(over)


def begin(draft: Draft, *, now: datetime) -> bool:
    """Say that the sending begins, unless something speaks against it now."""
    if draft.sendings == 0:
        return _marked(draft, now) or _stop(draft, now)
    with transaction.atomic():
        if not _marked(draft, now):
            return _stop(draft, now)
        if begin_try(draft):
            return True
        why = f"Tried {MOST_TRIES} times. The last time: {draft.why}"
        give_up(draft, why, now=now, permanent=False)
        return False


def _stop(draft: Draft, now: datetime) -> bool:
    """Find out what speaks against it and write that down. Always False."""
    if reason := _never(draft):
        give_up(draft, reason, now=now, permanent=True)
        if draft.target and draft.target.spam_status == SpamStatus.SPAM:
            reopen(draft)  # unmarked, it is as open as any
    elif draft.digest() != draft.approved_digest:
        _lapse(draft)
    else:
        _hold_back(draft)
    return False


# The words `able_to_write`, `is_paused` and `_never` in one statement: it runs for every
# sending, and building it from query sets took long. A test holds them together.
MARK = """
UPDATE surfaces_draft d SET asked_at = %(now)s, lease_until = %(lease)s, sendings = sendings + 1
FROM surfaces_account a JOIN surfaces_surface s ON s.id = a.surface_id
WHERE d.id = %(id)s AND d.state = 'sending' AND d.claim_number = %(number)s
  AND d.lease_until > %(now)s AND a.id = d.account_id AND a.is_on AND s.is_on
  AND a.mode IN ('auto', 'review') AND a.state <> 'auth_failed'
  AND NOT (a.state = 'suspended' AND (a.state_until IS NULL OR a.state_until > %(now)s))
  AND (a.quiet_until IS NULL OR a.quiet_until <= %(now)s)
  AND NOT EXISTS (SELECT 1 FROM surfaces_pause p WHERE p.ended_at IS NULL AND (p.scope = 'all'
    OR (p.scope = 'surface' AND p.subject = s.slug) OR (p.scope = 'account' AND p.subject = a.name)
    OR (p.scope = 'agent' AND p.subject = d.agent)))
  AND (d.target_id IS NULL OR EXISTS (SELECT 1 FROM messages m WHERE m.id = d.target_id
    AND m.deleted_at IS NULL AND m.content = %(answers)s
    AND m.spam_status IS DISTINCT FROM 'spam' AND (d.what <> 'reply' OR NOT EXISTS (
      SELECT 1 FROM messages o WHERE o.parent_id = m.id AND o.direction = 'outgoing'))))
"""


def _marked(draft: Draft, now: datetime) -> bool:
    """Mark the sending as begun; False if anything stopped it since the claim."""
    if _problems(draft) or draft.digest() != draft.approved_digest:
        return False
    until = now + lease()
    facts: dict[str, Any] = {
        "id": draft.pk,
        "number": draft.claim_number,
        "now": now,
        "lease": until,
        "answers": draft.target.content if draft.target else "",
    }
    with connection.cursor() as cursor:
        cursor.execute(MARK, facts)
        if not cursor.rowcount:
            return False
    draft.asked_at, draft.lease_until, draft.sendings = now, until, draft.sendings + 1
    return True


def _problems(draft: Draft) -> list[str]:
    return problems(
        text=draft.text,
        title=draft.title,
        is_post=draft.what == What.POST,
        traits=draft.account.surface.traits,
    )


def _never(draft: Draft) -> str:
    """What makes these words unsendable for good, read afresh."""
    if found := _problems(draft):
        return " ".join(found)
    if draft.target is None:
        return ""
    is_answered = _read_target_again(draft, draft.target)
    if draft.target.deleted_at:
        return "What it answers was deleted at the source."
    if draft.target.spam_status == SpamStatus.SPAM:
        return "What it answers was marked as spam."
    if draft.what == What.REPLY and is_answered:
        return "The comment was answered meanwhile; nothing is said twice."
    return ""


TARGET_NOW = """
SELECT content, deleted_at, spam_status, EXISTS (
    SELECT 1 FROM messages o WHERE o.parent_id = m.id AND o.direction = 'outgoing')
FROM messages m WHERE id = %s
"""


def _read_target_again(draft: Draft, target: Message) -> bool:
    """Bring the target up to date; return whether something of ours stands under it."""
    with connection.cursor() as cursor:
        cursor.execute(TARGET_NOW, [draft.target_id])
        target.content, target.deleted_at, target.spam_status, is_answered = cursor.fetchone()
    return bool(is_answered)


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
