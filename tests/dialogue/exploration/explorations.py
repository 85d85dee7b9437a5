"""An agent that explores, with a model that a test answers for."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django.utils import timezone

from dialogue.activations import services as activation_services
from dialogue.exploration import offer
from dialogue.models import ActivationItem, Agent, ModelEndpoint
from dialogue.replies.explore import ExplorationWork
from dialogue.replies.verdicts import ReplyCounts
from surfaces.models import Account
from tests.factories import make_agent, make_presence
from tests.fakes.openai_chat import FakeOpenAI

LATER = timedelta(minutes=10)  # then a post of now may be answered


def clock() -> Any:
    return timezone.now() + LATER


class Exploration:
    """An agent with a model that explores through one account."""

    def __init__(self, account: Account, openai: FakeOpenAI, **settings: Any) -> None:
        kept = {"voice": "model", "topics": ["tides"], "explores": True, "min_confidence": 0.7}
        self.agent: Agent = make_agent(settings=kept | settings)
        self.presence = make_presence(agent=self.agent, account=account)
        ModelEndpoint.objects.create(agent=self.agent, model="openai-chat:one", base_url=openai.url)
        self.begin()

    def begin(self) -> None:
        self.activation = activation_services.start(
            self.presence, purpose="explore", why="activation.explores", worker="w:1",
            now=clock(),
        )  # fmt: skip
        self.item = ActivationItem.objects.get(activation=self.activation)

    def run(self) -> ActivationItem:
        self.work = ExplorationWork(self.activation, self.item, ReplyCounts(), clock)
        self.work.write(lambda: False)
        self.item.refresh_from_db()
        return self.item

    @property
    def offered(self) -> list[dict[str, Any]]:
        return self.item.steps.get(kind=offer.STEP).facts["posts"]
