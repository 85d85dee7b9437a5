"""Preflight: the last checks before a draft is sent.

One statement checks claim, pauses, account and target, marks the delivery as begun, and is
committed before the request.
"""

from datetime import datetime, timedelta
from functools import cache
from typing import Any

from django.conf import settings
from django.db import connection, transaction

from surfaces.accounts.models.account import Account, AccountState, ReplyMode
from surfaces.audit.models import AuditEvent
from surfaces.delivery.outcomes import BREATH
from surfaces.delivery.record import prepared_cursor
from surfaces.drafts.attempts import give_up, start_attempt
from surfaces.drafts.models import Draft, DraftKind, DraftState, DraftWait
from surfaces.drafts.text_checks import find_text_problems
from surfaces.extension_points import draft_guards
from surfaces.messages import reply_state
from surfaces.messages.models import MAX_ATTEMPTS, SpamStatus
from surfaces.pauses import services as pause_services
from surfaces.pauses.models import Pause
from surfaces.text.reasons import StoredReason, as_reason, reason, several

TURN_PASSED = "sending.turn_passed"


def lease() -> timedelta:
    """How long a claim lasts without a heartbeat; longer than any request."""
    return timedelta(seconds=settings.SEND_LEASE_SECONDS)


def start_sending(draft: Draft, *, now: datetime) -> bool:
    """Mark the delivery as begun; False if a check fails."""
    if draft.sendings == 0:
        return _marked(draft, now) or _stop(draft, now)
    with transaction.atomic():
        if not _marked(draft, now):
            return _stop(draft, now)
        if start_attempt(draft):
            return True
        why = reason("sending.tried_out", most_tries=MAX_ATTEMPTS, why=draft.why)
        give_up(draft, why, now=now, permanent=False)
        return False


def _stop(draft: Draft, now: datetime) -> bool:
    if why := _never(draft):
        give_up(draft, why, now=now, permanent=True)
        if draft.target and draft.target.spam_status == SpamStatus.SPAM:
            reply_state.reopen(draft.comment())  # unmarked, it is open like any other
    elif draft.digest() != draft.approved_digest:
        # What was approved has changed: the draft waits for approval again.
        why = "sending.approval_stale"
        with transaction.atomic():
            draft.advance(DraftState.WAITING, approved_digest="", why=why, lease_until=None)
            AuditEvent.objects.record("draft.lapsed", actor="sender", subject=draft, why=why)
    else:
        _hold_back(draft, now=now)
    return False


def may_publish(draft: Draft, *, now: datetime) -> bool:
    """Whether a text that is on the surface, hidden until a challenge is answered, may be shown.

    All that stops a sending stops this, too, except a rate limit: answers have one of their own.
    """
    facts: dict[str, Any] = {"id": draft.pk, "number": draft.claim_number, "now": now}
    answers = draft.target.content if draft.target else ""
    with connection.cursor() as cursor:
        cursor.execute(_sql(CHECK), {**facts, "state": draft.state, "answers": answers})
        return cursor.fetchone() is not None and draft.digest() == draft.approved_digest


def obstacle(draft: Draft) -> StoredReason:
    """Why `may_publish` says no."""
    if why := _never(draft):
        return as_reason(why)
    if draft.digest() != draft.approved_digest:
        return as_reason("sending.approval_stale")
    return _held_by(Account.objects.select_related("surface").get(pk=draft.account_id), draft)


# `able_to_write`, the pauses and `_never` in one statement, built and planned once, because it
# runs for every delivery. A test compares them.
MARK = """
UPDATE surfaces_draft d SET asked_at = %(now)s, lease_until = %(lease)s, sendings = sendings + 1
FROM surfaces_account a JOIN surfaces_surface s ON s.id = a.surface_id
WHERE d.id = %(id)s AND d.state = 'sending' AND d.claim_number = %(number)s
  AND d.lease_until > %(now)s AND a.id = d.account_id
  AND (a.quiet_until IS NULL OR a.quiet_until <= %(now)s) AND ALLOWED
"""
CHECK = """
SELECT true FROM surfaces_draft d JOIN surfaces_account a ON a.id = d.account_id
JOIN surfaces_surface s ON s.id = a.surface_id
WHERE d.id = %(id)s AND d.state = %(state)s AND d.claim_number = %(number)s AND ALLOWED
"""
ALLOWED = """
  a.is_on AND s.is_on
  AND a.mode IN ('auto', 'review') AND a.state <> 'auth_failed'
  AND NOT (a.state = 'suspended' AND (a.state_until IS NULL OR a.state_until > %(now)s))
  AND NOT EXISTS (PAUSES) AND NOT (GUARDS)
  AND (d.target_id IS NULL OR EXISTS (SELECT 1 FROM messages m WHERE m.id = d.target_id
    AND m.deleted_at IS NULL AND COALESCE(m.content, '') = %(answers)s
    AND m.spam_status IS DISTINCT FROM 'spam' AND (d.what <> 'reply' OR NOT EXISTS (
      SELECT 1 FROM messages o WHERE o.parent_id = m.id AND o.direction = 'outgoing'
        AND o.remote_id <> d.remote_id))))
"""


@cache
def _sql(statement: str) -> str:
    pauses = Pause.objects.sql_over(surface="s.slug", account="a.name", agent="d.agent")
    guards = " OR ".join(guard.forbids for guard in draft_guards()) or "false"
    allowed = ALLOWED.replace("PAUSES", pauses).replace("GUARDS", guards)
    return statement.replace("ALLOWED", allowed)


def _marked(draft: Draft, now: datetime) -> bool:
    """Mark the delivery as begun; False if something changed since the claim."""
    if _problems(draft) or draft.digest() != draft.approved_digest:
        return False
    until, answers = now + lease(), draft.target.content if draft.target else ""
    facts: dict[str, Any] = {"id": draft.pk, "number": draft.claim_number, "now": now}
    with prepared_cursor() as cursor:
        cursor.execute(_sql(MARK), {**facts, "lease": until, "answers": answers})
        if not cursor.rowcount:
            return False
    draft.asked_at, draft.lease_until, draft.sendings = now, until, draft.sendings + 1
    return True


def _problems(draft: Draft) -> list[StoredReason]:
    return find_text_problems(
        text=draft.text,
        title=draft.title,
        is_post=draft.what == DraftKind.POST,
        traits=draft.account.surface.traits,
    )


def _never(draft: Draft) -> StoredReason | str:
    if found := _problems(draft):
        return several(found)
    if why := _forbidden(draft):
        return why
    if draft.target is None:
        return ""
    target = draft.target
    with connection.cursor() as cursor:
        cursor.execute(TARGET_NOW, [draft.remote_id, draft.target_id])
        target.content, target.deleted_at, target.spam_status, is_answered = cursor.fetchone()
    if target.deleted_at:
        return reply_state.TARGET_DELETED
    if target.spam_status == SpamStatus.SPAM:
        return "sending.target_spam"
    if draft.what == DraftKind.REPLY and is_answered:
        return "sending.answered_meanwhile"
    return ""


def _forbidden(draft: Draft) -> str:
    """The first rule of an upper floor that forbids it."""
    of_draft = "SELECT FROM surfaces_draft d JOIN surfaces_account a ON a.id = d.account_id"
    with connection.cursor() as cursor:
        for guard in draft_guards():
            cursor.execute(f"{of_draft} WHERE d.id = %s AND {guard.forbids}", [draft.pk])
            if cursor.rowcount:
                return guard.why
    return ""


TARGET_NOW = """
SELECT COALESCE(content, ''), deleted_at, spam_status, EXISTS (
    SELECT 1 FROM messages o WHERE o.parent_id = m.id AND o.direction = 'outgoing'
    AND o.remote_id <> %s)
FROM messages m WHERE id = %s
"""


def _hold_back(draft: Draft, *, now: datetime) -> None:
    """Stop after the claim: shadow mode keeps the draft, a pause lets it wait."""
    account = Account.objects.select_related("surface").get(pk=draft.account_id)
    if account.mode == ReplyMode.SHADOW:
        draft.advance(DraftState.SHADOWED, why="sending.shadowed", lease_until=None)
        reply_state.reopen(draft.comment())
        AuditEvent.objects.record("draft.shadowed", actor="sender", subject=draft)
        return
    obstacle = _held_by(account, draft)
    facts: dict[str, Any] = {"why": reason("sending.held", obstacle=obstacle)}
    is_ours_still = Draft.objects.filter(pk=draft.pk, lease_until__gt=now)
    if obstacle.code == TURN_PASSED and is_ours_still.exists():
        # Nothing is seen that could end, so it must not be claimed again before all others.
        facts["not_before"] = now + BREATH
    draft.advance(DraftState.APPROVED, lease_until=None, waits_for=DraftWait.HOLD, **facts)


def _held_by(account: Account, draft: Draft) -> StoredReason:
    if pauses := pause_services.reasons(account, draft.agent):
        return reason("sending.paused", pauses=pauses[0].subject_name)
    if account.mode == ReplyMode.SHADOW:
        return reason("sending.in_shadow")
    if not account.is_on or not account.surface.is_on or account.mode == ReplyMode.OFF:
        return reason("sending.account_off")
    if account.state != AccountState.OK:
        state = reason(f"account_state.{account.state}")
        return reason("sending.account_state", get_state_display=state)
    return reason(TURN_PASSED)
