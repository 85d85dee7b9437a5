"""Whether an agent may work now, and if not, why. About the agent, not about a comment."""

from collections.abc import Collection
from datetime import datetime

from django.db.models import Subquery

from dialogue.agents.active_hours import next_opening
from dialogue.agents.models.agent import AgentLocation
from dialogue.agents.models.settings import VoiceKind
from dialogue.budgets import services as budget_services
from dialogue.models import Agent, Presence
from surfaces.accounts.models.account import AccountState, ReplyMode
from surfaces.models import Account, Pause
from surfaces.text.reasons import StoredReason, reason


def obstacle(presence: Presence, *, now: datetime) -> StoredReason | None:
    """Why the agent may not work through this account now, or None.

    Asked where no comment is decided on: explorations, tasks, what an operator wants to run, and
    conversations that go on.
    """
    pause = read_pauses([presence.pk]).get(presence.pk)
    return unable(presence, pause, now=now) or overspent(presence.agent, now=now)


def read_pauses(presences: Collection[int]) -> dict[int, Pause]:
    """By presence, the newest pause that keeps it from speaking. One query, two with pauses."""
    over = Pause.objects.over_rows(agent="agent__slug").values("pk")
    held = Presence.objects.filter(pk__in=presences).annotate(pause=Subquery(over[:1]))
    found = dict(held.exclude(pause=None).values_list("pk", "pause"))
    pauses = Pause.objects.in_bulk(found.values())
    return {presence: pauses[pause] for presence, pause in found.items()}


def unable(presence: Presence, pause: Pause | None, *, now: datetime) -> StoredReason | None:
    """The same without budgets."""
    agent, account = presence.agent, presence.account
    start, end = agent.active_from, agent.active_to
    for applies, why in (
        (presence.ended_at is not None, "verdict.presence_ended"),
        (agent.lives != AgentLocation.HERE, "verdict.elsewhere"),
        (not agent.settings.is_autonomous, "verdict.switched_off"),
        (account.mode == ReplyMode.OFF, "verdict.mode_off"),
        (next_opening(now, zone=agent.zone, start=start, end=end), "verdict.hours"),
        ((agent.backs_off_until or now) > now, "verdict.backed_off"),
    ):
        if applies:
            return reason(why)
    if trouble := account_trouble(account, now):
        return reason(trouble) if isinstance(trouble, str) else trouble
    return paused_by(pause) if pause else None


def overspent(agent: Agent, *, now: datetime) -> StoredReason | None:
    if agent.settings.voice != VoiceKind.MODEL:
        return None
    spent = budget_services.spent(agent.slug, agent.settings, now=now)
    return spent[0] if spent else None


def account_trouble(account: Account, now: datetime) -> StoredReason | str:
    if not account.is_on or not account.surface.is_on:
        return "reply.account_off"
    lasts = account.state_until is None or account.state_until > now
    if account.state == AccountState.AUTH_FAILED:
        return reason("reply.account_sign_in", state_why=account.state_why)
    if account.state == AccountState.SUSPENDED and lasts:
        return reason("reply.account_suspended", state_why=account.state_why)
    return ""


def paused_by(pause: Pause) -> StoredReason:
    said = {"what": pause.subject_name, "by": pause.by.rpartition(":")[2]}
    if not pause.why:
        return reason("reply.paused_by", **said)
    return reason("reply.paused", why=pause.why, **said)
