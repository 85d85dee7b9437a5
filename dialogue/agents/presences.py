"""Create, change and end presences. All changes go through this module.

Delivery follows the account's mode; this module keeps it equal to the presence's mode.
"""

from collections import Counter
from datetime import datetime
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import F
from django.utils.translation import gettext_lazy as _lazy

from dialogue.models import Agent, AgentSettings, Notification, Presence
from surfaces.accounts.models.account import ReplyMode
from surfaces.errors import BadInput, NotAllowed
from surfaces.extension_points import end_waits
from surfaces.models import Account, AuditEvent, Message
from surfaces.settings.changes import Values
from surfaces.settings.services import SettingsSpec, change

USUAL = 20  # latest posts that tell where an account usually posts


@transaction.atomic
def join(agent: Agent, account: Account, *, mode: str = "", by: str, now: datetime) -> Presence:
    """Assign `account` to `agent`. Idempotent; `mode` "" keeps the current mode."""
    if mode and mode not in ReplyMode.values:
        message = _lazy("There is no mode %(mode)s. Modes: %(value)s.")
        raise BadInput(message, mode=repr(mode), value=", ".join(ReplyMode.values))
    _check_demo(agent, account)
    live = Presence.objects.live().select_related("agent").filter(account=account).first()
    if live is not None and live.agent_id != agent.pk:
        message = _lazy("%(account)s is already assigned to %(agent)s. Unassign it there first.")
        raise NotAllowed(message, agent=live.agent, account=account)
    presence = live or _begin(agent, account, by=by, now=now)
    if mode and presence.mode != mode:
        change(presence, {"mode": mode}, by=by, now=now)
    obey(agent, now=now)
    return presence


def _check_demo(agent: Agent, account: Account) -> None:
    """The demo speaks in the demo, and nobody else does."""
    if agent.is_demo and not account.is_demo:
        message = _lazy(
            "%(agent)s is an agent of the demo and can only use its accounts. Use another name, or"
            " remove the demo first: manage.py demo --clear."
        )
        raise NotAllowed(message, agent=agent.slug)
    if account.is_demo and not agent.is_demo:
        message = _lazy("%(account)s belongs to the demo. Only agents of the demo can use it.")
        raise NotAllowed(message, account=account)


def _begin(agent: Agent, account: Account, *, by: str, now: datetime) -> Presence:
    try:
        with transaction.atomic():
            presence = Presence.objects.create(agent=agent, account=account, since=now)
    except IntegrityError as error:
        message = _lazy("Somebody else just took %(account)s. Look again.")
        raise NotAllowed(message, account=account) from error
    # Unread notifications of an earlier presence on this account belong to it again.
    left = Notification.objects.unread().filter(agent=agent, presence__account=account)
    left.update(presence=presence)
    end_waits(presence, "began")
    facts = {"agent": agent.slug, "account": account.name}
    AuditEvent.objects.record("presence.began", actor=by, subject=account, **facts)
    return presence


class PresenceSpec(SettingsSpec[Presence]):
    """Its events are about its account, and name the agent."""

    model = Presence
    action = "presence.changed"
    fields = ("mode", "stones_per_day", "explore_share", "stone_community")

    def lock(self, row: Presence) -> Presence:
        held = Presence.objects.live().select_for_update().filter(pk=row.pk).first()
        if held is None:
            raise NotAllowed(
                _lazy(
                    "This account is no longer assigned to the agent. Assign it again to change"
                    " its settings."
                )
            )
        return held

    def write(self, row: Presence, new: Values, *, by: str, now: datetime) -> None:
        super().write(row, new, by=by, now=now)
        if "mode" in new:
            _write_mode(row, row.effective_mode)

    def subject(self, row: Presence) -> Account:
        return row.account

    def facts(self, row: Presence) -> dict[str, Any]:
        return {"agent": row.agent.slug}


@transaction.atomic
def leave(presence: Presence, *, by: str, now: datetime) -> None:
    """End the presence. The account stays, without automatic replies."""
    if not Presence.objects.live().filter(pk=presence.pk).update(ended_at=now):
        raise NotAllowed(_lazy("The account was already unassigned."))
    presence.ended_at = now
    account, slug = presence.account, presence.agent.slug
    AuditEvent.objects.record("presence.ended", actor=by, subject=account, agent=slug)


def adopt(*, now: datetime) -> int:
    """Copy modes that operators set on accounts to the presences: the last change wins."""
    rows = Presence.objects.live().select_related("agent__settings", "account")
    moved = list(rows.exclude(obeyed="").exclude(account__mode=F("obeyed")))
    for presence in moved:
        _adopt(presence, now=now)
    return len(moved)


def _adopt(presence: Presence, *, now: datetime) -> None:
    change(presence, {"mode": presence.account.mode}, by="colloquy", now=now)


def obey(agent: Agent, *, now: datetime) -> None:
    """Bring the mode of each of the agent's accounts to what its presence says."""
    default = AgentSettings.objects.values_list("mode", flat=True).get(agent=agent)
    for presence in Presence.objects.live().filter(agent=agent).select_related("account"):
        is_moved = presence.obeyed and presence.account.mode != presence.obeyed
        if is_moved and presence.mode != presence.account.mode:
            _adopt(presence, now=now)
        else:
            _write_mode(presence, presence.mode or default)


def _write_mode(presence: Presence, mode: str) -> None:
    Account.objects.filter(pk=presence.account_id).exclude(mode=mode).update(mode=mode)
    Presence.objects.filter(pk=presence.pk).exclude(obeyed=mode).update(obeyed=mode)
    presence.account.mode = presence.obeyed = mode


def community_of(presence: Presence) -> str:
    """Community of a new post that names none: as set, or where the account usually posts."""
    if presence.stone_community:
        return presence.stone_community
    ours = Message.objects.stones().filter(account=presence.account_id).filter(submolt__gt="")
    latest = ours.order_by("-created_at", "-id").values_list("submolt", flat=True)[:USUAL]
    return next((name or "" for name, _ in Counter(latest).most_common(1)), "")
