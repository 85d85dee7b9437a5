"""End tool calls that nobody decided in time, that can no longer run, or whose worker is gone.

waiting, approved ─> expired | stale        proposed ─> failed        running ─> unknown | failed
"""

from collections.abc import Callable
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import Exists, F, OuterRef, Q

from dialogue.activations.models import LIVE, ActivationState, Purpose
from dialogue.agents.models.agent import AgentLocation
from dialogue.agents.models.settings import ToolRisk
from dialogue.approvals.endings import end_undone
from dialogue.approvals.models import ToolCall, ToolCallState
from dialogue.approvals.preconditions import find_obstacle, read_call
from surfaces.errors import StaleState
from surfaces.messages.models import Direction, MessageKind, SpamStatus
from surfaces.models import AuditEvent, Message
from surfaces.text.reasons import StoredReason, reason

MOST_AT_ONCE = 200  # of each kind
APPROVED_FOR = timedelta(days=1)  # an approved call that could not run for so long expires
WAITING, APPROVED = ToolCallState.WAITING, ToolCallState.APPROVED

_COMMENT = "item__notification__message"
_ANSWERS = Message.objects.filter(parent=OuterRef(_COMMENT), direction=Direction.OUTGOING)
# What `find_obstacle` may find to last, as a query; an edit that it shows no time of is found
# when the call is approved or run.
MAY_BE_STALE = (
    ~Q(activation__state__in=LIVE)
    | Q(presence__ended_at__isnull=False)
    | Q(agent__lives=AgentLocation.ELSEWHERE)
    | (Q(agent__settings__is_autonomous=False) & ~Q(activation__purpose=Purpose.TASK))
    | Q(thread__deleted_at__isnull=False)
    | Q(**{f"{_COMMENT}__deleted_at__isnull": False})
    | Q(**{f"{_COMMENT}__edited_at__gt": F("made_at")})
    | Q(**{f"{_COMMENT}__spam_status": SpamStatus.SPAM})
    | (Q(**{f"{_COMMENT}__kind": MessageKind.COMMENT}) & Q(Exists(_ANSWERS)))
)
LOST = ~Q(activation__state=ActivationState.RUNNING)


def end_overdue(*, now: datetime) -> int:
    """Return how many calls ended or were marked."""
    calls = ToolCall.objects.all()
    kinds: tuple[tuple[Q, Callable[[ToolCall, datetime], bool]], ...] = (
        (Q(state=WAITING, expires_at__lte=now), _expire),
        (Q(state=APPROVED, not_before__lte=now - APPROVED_FOR), _expire),
        (Q(state__in=[WAITING, APPROVED]) & MAY_BE_STALE, _go_stale),
        (Q(state=APPROVED, not_before__lte=now), _say_what_it_waits_for),
        (Q(state=ToolCallState.PROPOSED) & LOST, _fail),
        (Q(state=ToolCallState.RUNNING) & LOST, _lose),
    )
    ended = 0
    for condition, end in kinds:
        found = calls.filter(condition).order_by("pk").values_list("pk", flat=True)
        ended += sum(_end(pk, end, now) for pk in found[:MOST_AT_ONCE])
    return ended


@transaction.atomic
def _end(pk: int, end: Callable[[ToolCall, datetime], bool], now: datetime) -> bool:
    try:
        return end(read_call(pk), now)
    except (StaleState, ToolCall.DoesNotExist):
        return False  # somebody decided meanwhile


def _expire(call: ToolCall, now: datetime) -> bool:
    ends = {WAITING: call.expires_at, APPROVED: (call.not_before or now) + APPROVED_FOR}
    if (ends.get(ToolCallState(call.state)) or now + APPROVED_FOR) > now:
        return False
    why = "approval.expired" if call.state == WAITING else "approval.expired_approved"
    return _record(call, ToolCallState.EXPIRED, "tool_call.expired", reason(why), now)


def _go_stale(call: ToolCall, now: datetime) -> bool:
    found = find_obstacle(call, now=now)
    if call.state not in {WAITING, APPROVED} or found is None or found.passes:
        return False
    return _record(call, ToolCallState.STALE, "tool_call.went_stale", found.why, now)


def _say_what_it_waits_for(call: ToolCall, now: datetime) -> bool:
    """Approved and due, but nobody may take it up: say why in the row."""
    found = find_obstacle(call, now=now)
    if call.state != APPROVED or found is None or not found.passes:
        return False
    why = reason("approval.approved_waits", why=found.why)
    same = ToolCall.objects.filter(pk=call.pk, state=APPROVED).exclude(why=why)
    return bool(same.update(why=why))


def _fail(call: ToolCall, now: datetime) -> bool:
    if call.state != ToolCallState.PROPOSED:
        return False
    end_undone(call, ToolCallState.FAILED, "approval.not_begun", now=now)
    return True


def _lose(call: ToolCall, now: datetime) -> bool:
    """Its worker stopped while it ran. What only read can be done again by the next run."""
    if call.state != ToolCallState.RUNNING:
        return False
    if call.risk == ToolRisk.READ:
        end_undone(call, ToolCallState.FAILED, "approval.stopped", now=now)
        return True
    call.advance(ToolCallState.UNKNOWN, why="approval.unknown")
    AuditEvent.objects.record(
        "tool_call.unknown", actor="colloquy", subject=call, why=call.why, tool=call.tool
    )
    return True


def _record(
    call: ToolCall, state: ToolCallState, action: str, why: StoredReason, now: datetime
) -> bool:
    end_undone(call, state, why, now=now)
    AuditEvent.objects.record(action, actor="colloquy", subject=call, why=why, tool=call.tool)
    return True
