"""What holds the conversation about a notification that waits for approval, as it is now.

The decision is stored once, when the conversation is suspended; its agent may be paused or switched
off later. Then an approval alone changes nothing, and the pages say what does.
"""

from collections.abc import Collection
from datetime import datetime

from django.db.models import Exists, OuterRef

from dialogue.activations.models import ActivationState, ItemState
from dialogue.activations.permissions import overspent, read_pauses, unable
from dialogue.approvals.models import ToolCall
from dialogue.models import ActivationItem
from dialogue.replies.decision import Reason
from surfaces.text.reasons import StoredReason, reason

SUSPENDED = Reason.TOOL_WAITS.code
WAITS = "decision.waits"


def holds(notifications: Collection[int], *, now: datetime) -> dict[int, StoredReason]:
    """By notification, where it is something else than the approval.

    Two queries, one more with pauses, and two for each agent with a model; none without
    notifications.
    """
    if not notifications:
        return {}
    rows = ActivationItem.objects.filter(
        notification__in=notifications, state=ItemState.WAITING,
        activation__state=ActivationState.WAITING,
    ).select_related(
        "activation__presence__agent__settings", "activation__presence__account__surface"
    )  # fmt: skip
    asks = Exists(ToolCall.objects.waiting().filter(item=OuterRef("pk")))
    items = list(rows.annotate(asks=asks))
    pauses = read_pauses({item.activation.presence_id for item in items})
    agents = {item.activation.presence.agent_id: item.activation.presence.agent for item in items}
    spent = {pk: overspent(agent, now=now) for pk, agent in agents.items()}
    found = {}
    for item in items:
        presence = item.activation.presence
        why = unable(presence, pauses.get(presence.pk), now=now) or spent[presence.agent_id]
        said = _said(why, asks=item.asks, last=item.why)
        if item.notification_id and said:
            found[item.notification_id] = said
    return found


def _said(why: StoredReason | None, *, asks: bool, last: StoredReason) -> StoredReason | None:
    if why:
        return reason(WAITS, why=reason("verdict.tool_waits_held", why=why) if asks else why)
    if asks:
        return None
    # Decided: it went on and a limit held it, or nobody took it up yet.
    is_held = last.base == WAITS
    return last if is_held else reason(WAITS, why=reason("verdict.tool_decided"))
