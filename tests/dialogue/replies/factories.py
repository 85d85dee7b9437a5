"""An agent that is asked, a clock that a test moves, and the rounds of its reply loop."""

from __future__ import annotations

from datetime import timedelta

from dialogue.inbox import collect
from dialogue.models import AgentSettings, ModelEndpoint, Notification
from dialogue.replies import loop
from dialogue.replies.verdicts import ReplyCounts
from surfaces.models import Account, Message
from tests.factories import NOON, make_message, make_presence

MINUTE = timedelta(minutes=1)


class World:
    """An agent, its account and a clock that a test moves."""

    def __init__(self, **settings) -> None:
        agent = settings.pop("agent", None)
        self.presence = make_presence(agent=agent) if agent else make_presence(settings=settings)
        self.agent, self.account = self.presence.agent, self.presence.account
        self.now = NOON

    def comment(self, **given) -> Message:
        ordinary = {"account": self.account, "content": "Is a tide table a kind of promise?"}
        return make_message(**(ordinary | given))

    def round(self, after: timedelta = timedelta()):
        self.now += after
        collect.collect(now=self.now)
        loop.release_held(now=self.now)
        return loop.answer_due("a worker", clock=lambda: self.now)


def broken_voice(world: World) -> None:
    """A model at an address where nobody listens."""
    AgentSettings.objects.filter(agent=world.agent).update(voice="model", timeout_seconds=5)
    ModelEndpoint.objects.create(
        agent=world.agent, model="openai-chat:nobody", base_url="http://127.0.0.1:9/v1"
    )


def of(message: Message) -> Notification:
    return Notification.objects.about(message).get()


def change_settings(world, **facts):
    AgentSettings.objects.filter(agent=world.agent).update(**facts)


def change_account(world, **facts):
    Account.objects.filter(pk=world.account.pk).update(**facts)


def change_agent(world, **facts):
    world.agent.note(**facts)


def answer_due() -> ReplyCounts:
    return loop.answer_due("a worker", clock=lambda: NOON)
