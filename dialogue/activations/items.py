"""What becomes of each thing that an activation looks at.

    pending ──begin──> working ──end──> drafted | nothing | decided | failed | released
                       │    ^
                    suspend  begin, when its calls are decided
                       └> waiting

Every write follows the fencing of its activation: call it in a transaction that `note`d it.
"""

from collections import Counter
from collections.abc import Iterable
from datetime import datetime

from django.db.models import F, QuerySet

from dialogue.activations.models import (
    UNFINISHED,
    Activation,
    ActivationItem,
    ActivationState,
    Conversation,
    ItemState,
)
from dialogue.agents.models.settings import ToolRisk
from dialogue.approvals.models import ToolCall, ToolCallState
from surfaces.errors import StaleState
from surfaces.text.reasons import StoredReason, as_reason, reason

Call = ToolCallState
# What becomes of a call whose conversation is over. What ran may have had its effect; of what
# nobody knows, a person says whether it ran.
LEFT: dict[str, ToolCallState] = {
    Call.PROPOSED: Call.FAILED,
    Call.WAITING: Call.STALE,
    Call.APPROVED: Call.STALE,
    Call.RUNNING: Call.UNKNOWN,
}


def begin(activation: Activation, item: ActivationItem, *, now: datetime) -> None:
    """Take up an item: it is what the activation works on now."""
    activation.note(notification=item.notification)
    free = [ItemState.PENDING, ItemState.WAITING]
    _move(item, free, state=ItemState.WORKING, started_at=item.started_at or now)


def end(
    activation: Activation,
    item: ActivationItem,
    state: ItemState,
    why: StoredReason | str,
    *,
    now: datetime,
    draft_id: int | None = None,
) -> None:
    """Store the result of an item, count it, and let go of its open calls."""
    activation.note(draft_id=draft_id or activation.draft_id)
    handled = F("notifications") + int(item.notification_id is not None)
    activation.mine().update(notifications=handled)
    facts = {"state": state, "why": as_reason(why), "ended_at": now, "draft_id": draft_id}
    _move(item, UNFINISHED, **facts)
    # As where the agent was given a voice without tools while its call waited.
    is_written = state in {ItemState.DRAFTED, ItemState.NOTHING}
    _forget([item], "approval.not_needed" if is_written else why, now=now)


def suspend(
    activation: Activation,
    item: ActivationItem,
    *,
    model: str,
    messages: str,
    read_digest: str,
    why: StoredReason | str,
    now: datetime,
) -> None:
    """Keep the conversation, so that any worker can go on with it."""
    activation.note(notification=item.notification)
    facts = {"model": model[:200], "messages": messages, "kept_at": now, "read_digest": read_digest}
    Conversation.objects.update_or_create(item=item, defaults=facts)
    _move(item, [ItemState.WORKING], state=ItemState.WAITING, why=as_reason(why))


def release(
    items: QuerySet[ActivationItem], why: StoredReason | str, *, now: datetime
) -> list[ActivationItem]:
    """Leave unfinished items for later; return them. The activation is locked or over."""
    left = list(items.filter(state__in=UNFINISHED).select_related("notification"))
    over = ActivationItem.objects.filter(pk__in=[item.pk for item in left])
    over.update(state=ItemState.RELEASED, why=as_reason(why), ended_at=now)
    _forget(left, why, now=now)
    return left


def outcome(activation: Activation) -> tuple[ActivationState, StoredReason]:
    """What the results of its items make of an activation that worked through all of them.

    It failed where every item that was worked on failed: one text that was written says that the
    voice works.
    """
    found = list(activation.items.all())
    counts = Counter(ItemState(item.state) for item in found)
    if counts[ItemState.DRAFTED] or counts[ItemState.NOTHING]:
        state = ActivationState.DONE
    else:
        failed = counts[ItemState.FAILED]
        state = ActivationState.FAILED if failed else ActivationState.RELEASED
    if len(found) == 1:
        return state, found[0].why
    wrote, failed = counts[ItemState.DRAFTED], counts[ItemState.FAILED]
    others = len(found) - wrote - failed
    return state, reason("activation.of_items", wrote=wrote, failed=failed, others=others)


def _forget(items: Iterable[ActivationItem], why: StoredReason | str, *, now: datetime) -> None:
    Conversation.objects.filter(item__in=items).delete()
    for call in ToolCall.objects.filter(item__in=items, state__in=LEFT).order_by("pk"):
        to = LEFT[call.state]
        if to == Call.UNKNOWN and call.risk == ToolRisk.READ:
            to = Call.FAILED  # whether it was read matters to nobody
        ended = {} if to == Call.UNKNOWN else {"ended_at": now}
        try:
            call.advance(to, why=as_reason(why), **ended)
        except StaleState:
            continue  # decided at this moment; it finds its activation over


def _move(item: ActivationItem, states: Iterable[str], **facts: object) -> None:
    rows = ActivationItem.objects.filter(pk=item.pk, state__in=states)
    if not rows.update(**facts):
        raise StaleState("activation.item_moved")
    for name, value in facts.items():
        setattr(item, name, value)
