"""Decide on tool calls. All changes of a call by operators go through this module.

The first decision wins: whoever comes second is told who decided. What was decided runs later, in
the worker that takes the conversation up again (`dialogue.tools.belt`).
"""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.utils.translation import gettext_lazy as _lazy

from dialogue.activations.models import LIVE, Activation
from dialogue.approvals.arguments import BadArguments, built, digest_of, edited
from dialogue.approvals.endings import end_undone, storable
from dialogue.approvals.expiry import end_overdue as end_overdue
from dialogue.approvals.models import ToolCall, ToolCallState
from dialogue.approvals.preconditions import CallObstacle, find_obstacle, is_granted, read_call
from dialogue.tools import results
from dialogue.tools.registry import TOOLS
from surfaces.errors import BadInput, FoundOver, NotAllowed, StaleState
from surfaces.models import AuditEvent
from surfaces.settings import instance
from surfaces.text.reasons import StoredReason, reason

LONGEST_WORDS = 1_000  # characters that an operator says to the model
AT_ONCE = timedelta()
UNDECIDED: dict[str, Any] = {
    "decided_by": "", "decided_at": None, "approved_digest": "", "not_before": None, "said": "",
    "result": "", "ended_at": None,
}  # fmt: skip


def approve(
    call: ToolCall,
    *,
    digest: str,
    by: str,
    now: datetime,
    delay: timedelta = AT_ONCE,
    arguments: Mapping[str, Any] | None = None,
) -> None:
    """Approve exactly this call, or with `arguments` instead, to run after `delay`.

    A call that can no longer run ends as stale or expired, and `FoundOver` says so.
    """
    with transaction.atomic():
        row = _undecided(call)
        if digest != row.digest:
            raise StaleState(_lazy("This call changed since you looked. Look again."))
        obstacle = find_obstacle(row, now=now)
        ended = _end_if_over(row, obstacle, now=now)
        if not ended:
            values = row.arguments if arguments is None else _checked(row, arguments)
            _approve(row, values, obstacle, by=by, now=now, not_before=now + delay)
    call.refresh_from_db()
    if ended:
        raise FoundOver(ended)


def _approve(
    row: ToolCall, arguments: dict[str, Any], obstacle: CallObstacle | None, *, by: str,
    now: datetime, not_before: datetime,
) -> None:  # fmt: skip
    before = {"before": row.arguments} if arguments != row.arguments else {}
    digest = digest_of(row, arguments=arguments)
    # What passes by itself keeps it waiting, and the row says so.
    why = reason("approval.approved_waits", why=obstacle.why) if obstacle else "approval.approved"
    row.advance(
        ToolCallState.APPROVED, why=why, arguments=arguments, digest=digest,
        approved_digest=digest, decided_by=by, decided_at=now, not_before=not_before,
    )  # fmt: skip
    AuditEvent.objects.record(
        "tool_call.approved", actor=by, subject=row, tool=row.tool, digest=digest, **before
    )


def _checked(row: ToolCall, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """What an operator wrote instead: of the schema, and granted like what was asked."""
    tool = TOOLS[row.tool]
    try:
        values = edited(tool, arguments)
    except BadArguments as error:
        why = reason("approval.bad_arguments", tool=row.tool, problems=str(error))
        raise BadInput(why) from error
    if not is_granted(row.agent.settings, tool, row.presence.account, built(tool, values)):
        raise NotAllowed(reason("approval.not_granted", tool=row.tool))
    return values


def _undecided(call: ToolCall) -> ToolCall:
    """The row, locked, or `StaleState` with who was first."""
    row = read_call(call.pk)
    if row.state == ToolCallState.WAITING:
        return row
    if not row.decided_by:
        raise StaleState(
            _lazy("This call is %(state)s; there is nothing to decide."), state=row.state_name
        )
    raise StaleState(
        _lazy("%(by)s was first: this call is %(state)s."),
        by=row.decided_by.rpartition(":")[2], state=row.state_name,
    )  # fmt: skip


def _end_if_over(
    row: ToolCall, obstacle: CallObstacle | None, *, now: datetime
) -> StoredReason | None:
    """End what nobody can approve any more; why, or None."""
    if row.expires_at and row.expires_at <= now:
        state, why = ToolCallState.EXPIRED, reason("approval.expired")
    elif obstacle and not obstacle.passes:
        state, why = ToolCallState.STALE, obstacle.why
    else:
        return None
    end_undone(row, state, why, now=now)
    action = "tool_call.expired" if state == ToolCallState.EXPIRED else "tool_call.went_stale"
    AuditEvent.objects.record(action, actor="colloquy", subject=row, why=why, tool=row.tool)
    return why


@transaction.atomic
def deny(call: ToolCall, *, words: str, by: str, now: datetime) -> None:
    """Deny a call; the model reads `words`, if any, and goes on."""
    row = _undecided(call)
    said = storable(words).strip()
    if len(said) > LONGEST_WORDS:
        message = _lazy("Shorten this to %(most)s characters; it has %(length)s.")
        raise BadInput(message, most=LONGEST_WORDS, length=len(said))
    why = reason("approval.denied", by=by.rpartition(":")[2])
    facts = {"decided_by": by, "decided_at": now, "said": said}
    end_undone(row, ToolCallState.DENIED, why, now=now, **facts)
    AuditEvent.objects.record("tool_call.denied", actor=by, subject=row, tool=row.tool, said=said)
    call.refresh_from_db()


@transaction.atomic
def undo(call: ToolCall, *, by: str, now: datetime) -> None:
    """Take a decision back before anything runs, and before the model was told."""
    waiting = Activation.objects.select_for_update().suspended().filter(pk=call.activation_id)
    is_untold = waiting.exists()  # the activation first, like the workers
    row = read_call(call.pk)
    undone = row.state
    if undone not in {ToolCallState.APPROVED, ToolCallState.DENIED} or not row.expires_at:
        raise StaleState(_lazy("Too late to undo: this call is %(state)s."), state=row.state_name)
    is_over = bool(row.not_before and row.not_before <= now)
    if undone == ToolCallState.DENIED:
        until = (row.decided_at or now) + instance.current().time_to_undo
        is_over = until < now or not is_untold
    if is_over:
        raise StaleState(_lazy("Too late to undo: the agent goes on already."))
    asked = {"arguments": row.asked_arguments}
    facts = UNDECIDED | asked | {"digest": digest_of(row, **asked)}
    row.advance(ToolCallState.WAITING, why="approval.undone", **facts)
    AuditEvent.objects.record(
        "tool_call.taken_back", actor=by, subject=row, tool=row.tool, undid=undone
    )
    call.refresh_from_db()


@transaction.atomic
def settle_as_run(call: ToolCall, *, result: str, by: str, now: datetime) -> None:
    """An operator saw that an unconfirmed call ran; the model is told their words."""
    row = _unconfirmed(call)
    words = results.present_words(result.strip(), secrets=results.secrets_of(row.agent))
    told = f"It ran, as an operator found. {words}".strip()
    row.advance(
        ToolCallState.DONE, why=reason("approval.settled", by=by.rpartition(":")[2]), result=told,
        decided_by=by, decided_at=now, ended_at=now,
    )  # fmt: skip
    AuditEvent.objects.record(
        "tool_call.settled", actor=by, subject=row, why=row.why, tool=row.tool
    )
    call.refresh_from_db()


@transaction.atomic
def run_again(call: ToolCall, *, by: str, now: datetime) -> None:
    """An operator saw that an unconfirmed call did not run, or may run twice. There is no undo.

    Where its activation has ended or goes on without it, nobody would run it: then the agent may
    make it again.
    """
    row = _unconfirmed(call)
    if row.activation.state not in LIVE or row.result:
        _settle_as_not_run(row, by=by, now=now)
        call.refresh_from_db()
        return
    row.advance(
        ToolCallState.APPROVED, why="approval.run_again", approved_digest=row.digest, decided_by=by,
        decided_at=now, not_before=now, worker="", started_at=None,
    )  # fmt: skip
    AuditEvent.objects.record(
        "tool_call.run_again", actor=by, subject=row, tool=row.tool, digest=row.digest
    )
    call.refresh_from_db()


def _settle_as_not_run(row: ToolCall, *, by: str, now: datetime) -> None:
    why = reason("approval.did_not_run", by=by.rpartition(":")[2])
    end_undone(row, ToolCallState.FAILED, why, now=now, decided_by=by, decided_at=now)
    AuditEvent.objects.record("tool_call.settled", actor=by, subject=row, why=why, tool=row.tool)


def _unconfirmed(call: ToolCall) -> ToolCall:
    row = read_call(call.pk)
    if row.state != ToolCallState.UNKNOWN:
        raise StaleState(
            _lazy("This call is %(state)s; nothing is unconfirmed."), state=row.state_name
        )
    return row
