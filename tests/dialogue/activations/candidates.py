"""Agents that may have work, and which of them are chosen."""

from __future__ import annotations

from datetime import datetime

from dialogue.activations import choosing
from dialogue.activations import services as activation_services
from dialogue.models import Agent, AgentSettings, Presence
from surfaces.models import Account
from tests.factories import NOON, make_presence


def due(now: datetime = NOON, **given) -> list[int]:
    return choosing.notification_work(now=now, limit=100, **given)


def stale(now: datetime = NOON) -> list[int]:
    return choosing.exploration_work(now=now, limit=100)


def explorer(**given) -> Presence:
    settings = {"explores": True, **given.pop("settings", {})}
    return make_presence(settings=settings, **given)


def set_of(presence: Presence, **facts) -> None:
    AgentSettings.objects.filter(agent=presence.agent).update(**facts)


def agent_of(presence: Presence, **facts) -> None:
    Agent.objects.filter(pk=presence.agent_id).update(**facts)


def account_of(presence: Presence, **facts) -> None:
    Account.objects.filter(pk=presence.account_id).update(**facts)


def wake(presence: Presence) -> None:
    activation_services.start(
        presence, purpose="explore", why="activation.reply", worker="w", now=NOON
    )
    agent_of(presence, last_activated_at=None)
