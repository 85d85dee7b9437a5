"""What operators ask of activations: run an agent now, stop what runs.

run_now   replies: what waits is due; an exploration or a task: the next free worker takes it
ask_stop  running: heard within two seconds; waiting for approval: ended at once
"""

from collections.abc import Iterable
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from dialogue.activations import items, priorities
from dialogue.activations.models import LIVE, ActivationState, ItemState, Purpose
from dialogue.activations.permissions import obstacle
from dialogue.models import Activation, ActivationItem, Notification, Presence
from surfaces.audit.models import AuditSubject
from surfaces.errors import BadInput, NotAllowed, StaleState
from surfaces.messages import reply_state
from surfaces.models import AuditEvent, Message
from surfaces.text.reasons import StoredReason, reason

LONGEST_TASK = 4_000  # characters
REST = timedelta(minutes=10)  # before other notifications of a stopped activation are looked at
REQUESTED = {Purpose.REPLY, Purpose.EXPLORE, Purpose.TASK}


@transaction.atomic
def run_now(presence: Presence, *, purpose: str, task: str = "", by: str, now: datetime) -> None:
    """Let the next free worker run this agent, or raise with what keeps it from running."""
    task = task.replace("\0", "").strip()
    if purpose not in REQUESTED:
        raise BadInput(_("There is no purpose %(purpose)s."), purpose=repr(purpose))
    if purpose != Purpose.TASK:
        task = ""
    elif not task:
        raise BadInput(_("Say what the agent should do."))
    if len(task) > LONGEST_TASK:
        message = _("The task has %(length)s characters. Enter at most %(most)s.")
        raise BadInput(message, length=len(task), most=LONGEST_TASK)
    row = _locked(presence)
    if why := obstacle(row, now=now):
        raise NotAllowed(_("%(agent)s cannot run now: %(why)s."), agent=row.agent, why=why)
    if purpose == Purpose.REPLY:
        _make_due(row, now=now)
    elif row.run_asked_at:
        message = _("%(by)s already asked for a run. It begins when a worker is free.")
        raise StaleState(message, by=row.run_asked_by.rpartition(":")[2])
    else:
        _ask(row, purpose, task, by=by, now=now)
    _record("agent.run_asked", row, actor=by, purpose=purpose, **({"task": task} if task else {}))


def _locked(presence: Presence) -> Presence:
    rows = Presence.objects.select_related("agent__settings", "account__surface")
    return rows.select_for_update(of=("self",)).get(pk=presence.pk)


def _make_due(presence: Presence, *, now: datetime) -> None:
    """Everything unread is decided again, without the wait between two attempts."""
    unread = Notification.objects.unread().filter(presence=presence, draft=None)
    suspended = Q(items__state=ItemState.WAITING)
    free = unread.exclude(pk__in=unread.filter(suspended).values("pk"))
    if not priorities.move(free, look_at=now, not_before=None):
        raise NotAllowed(_("Nothing waits for a reply through this account."))


def _ask(presence: Presence, purpose: str, task: str, *, by: str, now: datetime) -> None:
    facts = {"run_purpose": purpose, "run_task": task, "run_asked_at": now, "run_asked_by": by}
    Presence.objects.filter(pk=presence.pk).update(**facts)


def ask_again(activation: Activation, *, now: datetime) -> None:
    """Put back what an operator asked for, because a process ended before it was done."""
    by = str(activation.why.get("actor", ""))
    free = Presence.objects.live().filter(pk=activation.presence_id, run_asked_at=None)
    if by and free.exists():
        _ask(activation.presence, activation.purpose, activation.task, by=by, now=now)


def clear(presence: Presence) -> None:
    """The request is taken up, or dropped."""
    nothing = {"run_purpose": "", "run_task": "", "run_asked_at": None, "run_asked_by": ""}
    Presence.objects.filter(pk=presence.pk).update(**nothing)


def drop(presence: Presence, why: StoredReason) -> None:
    """End a request that cannot be met any more; the audit log says why."""
    clear(presence)
    _record("agent.run_dropped", presence, actor="colloquy", why=why, purpose=presence.run_purpose)


def _record(
    action: str, presence: Presence, *, actor: str, why: StoredReason | str = "", **facts: str
) -> None:
    agent = presence.agent
    subject = AuditSubject(agent.ledger_name, presence.account_id, agent.slug)
    AuditEvent.objects.record(action, actor=actor, subject=subject, why=why, **facts)


@transaction.atomic
def ask_stop(activation: Activation, *, by: str, now: datetime) -> None:
    """Stop an activation. What it wrote stays.

    The comment under way is held until somebody asks for a reply or its author edits it; what
    was not begun is looked at again after ten minutes.
    """
    priorities.hold([activation.agent_id])
    row = Activation.objects.select_for_update().get(pk=activation.pk)
    if row.state not in LIVE:
        raise NotAllowed(_("This activation has already ended."))
    if row.stop_asked_at:
        first = row.stop_asked_by.rpartition(":")[2]
        raise StaleState(_("%(by)s is stopping it already."), by=first)
    rows = Activation.objects.filter(pk=row.pk)
    rows.update(stop_asked_at=now, stop_asked_by=by[:120])
    subject = AuditSubject(f"activation:{row.pk}", row.presence.account_id, row.agent.slug)
    AuditEvent.objects.record("activation.stop_asked", actor=by, subject=subject)
    if row.state == ActivationState.WAITING:
        why = stopped(by)
        rows.update(state=ActivationState.RELEASED, outcome=why, ended_at=now, look_at=None)
        rest(items.release(row.items.all(), why, now=now), by=by, now=now)


def stopped(by: str) -> StoredReason:
    return reason("activation.stopped_by", by=by.rpartition(":")[2])


def rest(left: Iterable[ActivationItem], *, by: str, now: datetime) -> None:
    """What an operator stopped is not answered again at once."""
    why = stopped(by)
    for item in left:
        if item.notification is None:
            continue
        lead, until = "decision.held", None
        if not item.started_at:
            lead, until = "decision.waits_until", now + REST
        said = reason(lead, why=why, **({"until": until} if until else {}))
        item.notification.note(verdict="stopped", why=said, look_at=until, considered_at=now)
        about = Message.objects.filter(pk=item.notification.message_id or 0)
        reply_state.note_reason(about, said)
