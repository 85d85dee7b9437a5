"""Look over agents, their voices and their inboxes, and say what a person should do."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta

from dialogue.errors import VoiceMisset
from dialogue.models import Agent, Brain, InboxMark, Notification, Presence, WakeEvent
from dialogue.models.agent import Lives
from dialogue.models.settings import VoiceKind
from surfaces.checkup import Finding
from surfaces.models import Message

OVERDUE = timedelta(minutes=5)
# These are asked at an address of their own and need no key.
KEYLESS = {"ollama"}


def check_up(*, now: datetime) -> Iterator[Finding]:
    """Yield a finding for the replier, for every agent, and for what could not be told."""
    yield _replier(now)
    for agent in Agent.objects.select_related("settings").prefetch_related("brains", "presences"):
        yield _agent(agent, now)
    if failed := WakeEvent.objects.filter(state="failed").count():
        advice = "Look at the agent's Wake page: correct the address, then resend."
        yield Finding("waking", f"{failed} events could not be delivered", advice)


def _replier(now: datetime) -> Finding:
    late = Notification.objects.due(now - OVERDUE).filter(agent__lives=Lives.HERE).count()
    if late or _unread(now):
        says = f"{late} notifications are overdue" if late else "new messages are not looked at"
        return Finding("replier", says, "Start one: manage.py reply.")
    return Finding("replier", "no notification is overdue")


def _unread(now: datetime) -> bool:
    """Something came in a while ago, and no inbox was ever brought up to it."""
    heard = Message.objects.filter(
        account__in=Presence.objects.live().values("account"), seen_at__lt=now - OVERDUE
    )
    newest = heard.order_by("-pk").values_list("pk", flat=True).first()
    mark = InboxMark.objects.filter(name="messages").first()
    return newest is not None and newest > (mark.candidate if mark else 0)


def _agent(agent: Agent, now: datetime) -> Finding:
    about = f"agent {agent.slug}"
    if not any(presence.ended_at is None for presence in agent.presences.all()):
        return Finding(about, "speaks through no account", "Connect one: manage.py connect.")
    if agent.lives == Lives.ELSEWHERE:
        return Finding(about, "lives elsewhere")
    if agent.settings.voice == VoiceKind.MODEL and (trouble := _voice(list(agent.brains.all()))):
        return Finding(about, trouble, "Set it right on the agent's Voice page.")
    if agent.backs_off_until and agent.backs_off_until > now:
        says = f"failed {agent.failures} times in a row, rests until {agent.backs_off_until:%H:%M}"
        return Finding(about, f"{says} UTC", "Look at its last activations.")
    if not agent.settings.is_autonomous:
        return Finding(about, "is switched off")
    return Finding(about, f"answers by itself, voice: {agent.settings.voice}")


def _voice(brains: list[Brain]) -> str:
    """What keeps its models from being asked; "" when nothing is seen from here."""
    if not brains:
        return "is to ask a model, and has none"
    for brain in brains:
        try:
            has_key = bool(brain.key)
        except VoiceMisset as error:
            return str(error)
        provider = brain.model.partition(":")[0]
        if not has_key and not brain.base_url and provider not in KEYLESS:
            return f"{brain.model} has no key"
    return ""
