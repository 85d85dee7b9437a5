"""Go on with activations whose calls are decided, and end those that are overtaken.

Nothing wakes a suspended activation: workers look for those whose calls are all decided. So a
decision before its conversation was stored is not lost either.
"""

import hashlib
from datetime import datetime, timedelta

from django.db import IntegrityError, transaction
from django.db.models import Exists, F, OuterRef, Q, QuerySet, TextField, Value
from django.db.models.functions import MD5, Coalesce

from dialogue.activations import items, priorities, services
from dialogue.activations.models import Activation, ActivationItem, ActivationState, ItemState, Lane
from dialogue.activations.permissions import obstacle
from dialogue.approvals.models import ENDED, ToolCall, ToolCallState
from dialogue.models import Agent, Presence
from surfaces.messages.models import SpamStatus
from surfaces.text.reasons import reason

LOOK_AGAIN = timedelta(minutes=1)  # at one that may not go on yet
AT_ONCE = 200


def digest(text: str | None) -> str:
    """Of a comment as it was read, to tell whether it was edited."""
    return hashlib.md5((text or "").encode(), usedforsecurity=False).hexdigest()


def ready(*, now: datetime, limit: int) -> list[int]:
    """Ids of activations that may go on."""
    return list(_ready(now).order_by("id").values_list("pk", flat=True)[:limit])


def _ready(now: datetime) -> QuerySet[Activation]:
    """Every call is ended, or approved and due; the agent is not awake."""
    due = Q(state=ToolCallState.APPROVED, not_before__lte=now)
    calls = ToolCall.objects.filter(activation=OuterRef("pk"), item__state=ItemState.WAITING)
    # Out of time: a person settles it, and the conversation, which was told, goes on.
    told = Q(state=ToolCallState.UNKNOWN) & ~Q(result="")
    undecided = calls.exclude(Q(state__in=ENDED) | told | due)
    awake = Activation.objects.running().filter(agent=OuterRef("agent"), lane=Lane.WORK)
    rows = Activation.objects.suspended().filter(Q(look_at=None) | Q(look_at__lte=now))
    return rows.filter(~Exists(undecided), ~Exists(awake))


@transaction.atomic(durable=True)
def resume(pk: int, *, worker: str, now: datetime) -> Activation | None:
    """Claim one of them, or None: somebody was faster, or it may not go on and says why."""
    waits = Activation.objects.suspended().select_for_update(of=("self",), skip_locked=True)
    row = waits.select_related("presence__agent__settings", "presence__account__surface").filter(
        pk=pk
    ).first()  # fmt: skip
    if row is None:
        return None
    agents = Agent.objects.filter(pk=row.agent_id).select_for_update(skip_locked=True, no_key=True)
    if not agents or not _ready(now).filter(pk=pk).exists():
        return None
    rows = Activation.objects.filter(pk=pk, state=ActivationState.WAITING)
    presence = Presence.objects.select_related("agent__settings", "account__surface").get(
        pk=row.presence_id
    )
    if why := obstacle(presence, now=now):
        rows.update(outcome=reason("decision.waits", why=why), look_at=now + LOOK_AGAIN)
        return None
    try:
        with transaction.atomic():
            rows.update(
                state=ActivationState.RUNNING, worker=worker,
                number=presence.agent.next_claim(now=now), lease_until=now + services.LEASE,
                resumed_at=now, look_at=None, outcome={},
            )  # fmt: skip
    except IntegrityError as error:
        if "activation_one_live_per_agent" not in str(error):
            raise
        return None
    activation = Activation.objects.select_related("agent__settings", "presence").get(pk=pk)
    services.record_step(activation, "resumed", why="activation.resumed", now=now)
    return activation


def end_overtaken(*, now: datetime) -> int:
    """End items that nothing is to be said about any more, before operators decide on their calls.

    The comment was answered, passed, deleted, marked as spam or edited, or the account is no
    longer the agent's.
    """
    waiting = ActivationItem.objects.filter(
        state=ItemState.WAITING, activation__state=ActivationState.WAITING
    )
    read = MD5(Coalesce(F("notification__message__content"), Value(""), output_field=TextField()))
    overtaken = (
        Q(notification__read_at__isnull=False)
        | Q(notification__message__deleted_at__isnull=False)
        | Q(notification__message__post__deleted_at__isnull=False)
        | Q(notification__message__spam_status__in=[SpamStatus.SPAM, SpamStatus.SUSPECT])
        | Q(activation__presence__ended_at__isnull=False)
        | ~Q(read=F("conversation__read_digest"))
    )
    found = waiting.annotate(read=read).filter(overtaken).order_by("pk")
    return sum(_end(pk, now=now) for pk in found.values_list("pk", flat=True)[:AT_ONCE])


@transaction.atomic
def _end(pk: int, *, now: datetime) -> int:
    item = ActivationItem.objects.select_related("notification", "activation").get(pk=pk)
    priorities.hold([item.activation.agent_id])
    rows = Activation.objects.suspended().filter(pk=item.activation_id)
    row = rows.select_for_update(skip_locked=True).first()
    if row is None:
        return 0  # it goes on, and finds out by itself
    why = reason("activation.overtaken")
    items.release(row.items.filter(pk=pk), why, now=now)
    if item.notification:  # decided anew
        item.notification.note(look_at=now, why=why)
    if not row.items.filter(state=ItemState.WAITING).exists():
        state, outcome = items.outcome(row)
        rows.update(state=state, outcome=outcome, ended_at=now, look_at=None)
    return 1
