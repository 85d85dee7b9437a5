"""Health checks of agents, voices, inboxes and webhooks for `doctor`."""

from collections.abc import Iterator
from datetime import datetime, timedelta

from dialogue.activations import priorities
from dialogue.agents.models.agent import AgentLocation
from dialogue.agents.models.settings import VoiceKind
from dialogue.errors import VoiceMisconfigured
from dialogue.models import Agent, ModelEndpoint, Notification, Presence, ReadCursor, WakeEvent
from surfaces.health_checks import Finding
from surfaces.models import Message

OVERDUE = timedelta(minutes=5)
NAMED = 5  # agents in one sentence
# Providers with a local default URL, which need no key.
KEYLESS = {"ollama"}


def check_up(*, now: datetime) -> Iterator[Finding]:
    """Yield a finding for the replier, for every agent, and for failed webhook deliveries."""
    yield _replier(now)
    yield _order()
    for agent in Agent.objects.select_related("settings").prefetch_related("brains", "presences"):
        yield _agent(agent, now)
    if failed := WakeEvent.objects.filter(state="failed").count():
        advice = "On the agent's Webhook page, correct the URL, then resend."
        yield Finding("webhooks", f"{failed} events could not be delivered", advice)


def _replier(now: datetime) -> Finding:
    late = Notification.objects.due(now - OVERDUE).filter(agent__lives=AgentLocation.HERE).count()
    live = Presence.objects.live().values("account")
    heard = Message.objects.filter(account__in=live, seen_at__lt=now - OVERDUE)
    newest = heard.order_by("-pk").values_list("pk", flat=True).first()
    mark = ReadCursor.objects.filter(name="messages").first()
    if late or (newest is not None and newest > (mark.candidate if mark else 0)):
        says = f"{late} notifications are overdue" if late else "new messages are not processed"
        return Finding("replier", says, "Start a replier: manage.py reply.")
    return Finding("replier", "no notification is overdue")


def _order() -> Finding:
    if wrong := priorities.differing():
        named = ", ".join(wrong[:NAMED]) + (", …" if len(wrong) > NAMED else "")
        says = f"the counted notifications are wrong of {len(wrong)} agents: {named}"
        return Finding("order of agents", says, "Count them anew: manage.py recount.")
    return Finding("order of agents", "follows their notifications")


def _agent(agent: Agent, now: datetime) -> Finding:
    about = f"agent {agent.slug}"
    if not any(presence.ended_at is None for presence in agent.presences.all()):
        return Finding(about, "has no account", "Connect one: manage.py connect.")
    if agent.lives == AgentLocation.ELSEWHERE:
        return Finding(about, "runs externally, notified by webhook")
    if agent.settings.voice == VoiceKind.MODEL and (trouble := _voice(list(agent.brains.all()))):
        return Finding(about, trouble, "Correct it on the agent's Voice page.")
    if agent.backs_off_until and agent.backs_off_until > now:
        until = f"backs off until {agent.backs_off_until:%H:%M} UTC"
        says = f"failed {agent.failures} times in a row, {until}"
        return Finding(about, says, "Read the transcripts of its last activations.")
    if not agent.settings.is_autonomous:
        return Finding(about, "automatic replies are off")
    return Finding(about, f"replies automatically, voice: {agent.settings.voice}")


def _voice(brains: list[ModelEndpoint]) -> str:
    """Why its models cannot be used; "" if no reason is visible here."""
    if not brains:
        return "has the voice “model” and no model"
    for brain in brains:
        try:
            has_key = bool(brain.key)
        except VoiceMisconfigured as error:
            return str(error)
        provider = brain.model.partition(":")[0]
        if not has_key and not brain.base_url and provider not in KEYLESS:
            return f"{brain.model} has no API key"
    return ""
