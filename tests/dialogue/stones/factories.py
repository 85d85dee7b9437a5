"""A presence that lays stones, a pen to write them, and one round of laying."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

from dialogue.models import Activation, Kernel, Presence
from dialogue.stones import writer
from dialogue.stones.writer import WriteReport
from dialogue.voice.base import Reply
from surfaces.models import Message
from tests.factories import NOON, make_agent, make_message, make_post, make_presence
from tests.surfaces.delivery.scripted_service import Clock

LAYING = {"is_autonomous": True, "lays_stones": True}


class Pen:
    """A voice of a few lines: writes what it is told, or fails as it is told."""

    def __init__(self, *errors: Exception) -> None:
        self.errors = list(errors)
        self.briefs: list[Any] = []
        self.before: Callable[[Activation], None] = lambda woken: None

    def __call__(
        self, woken: Activation, brief: Any, context: Any, *, clock: Any, is_ending: Any
    ) -> tuple[Reply, str]:
        self.briefs.append(brief)
        self.before(woken)
        if self.errors:
            raise self.errors.pop(0)
        words = Reply(
            terms="We look at borders.",
            pointer="The tide table draws one.",
            exit="Or leave it open.",
            title=f"On borders {len(self.briefs)}",
            text=f"We look at borders. The tide table draws one, {woken.pk}. Or leave it open.",
        )
        return words, "a pen"


def lay(worker: str, clock: Clock, pen: Any = None, **given: Any) -> WriteReport:
    return writer.write_due(worker=worker, clock=clock, speak=pen or Pen(), **given)


def make_layer(
    *, kernels: int = 1, settings: dict[str, Any] | None = None, **given: Any
) -> Presence:
    """A presence that lays stones, with thoughts to explore."""
    agent = given.pop("agent", None) or make_agent(
        settings=LAYING | (settings or {}), **given.pop("of_agent", {})
    )
    for number in range(kernels):
        Kernel.objects.get_or_create(agent=agent, words=f"Kernel {number}")
    return make_presence(agent=agent, **given)


def make_talk(presence: Presence, *authors: str, **given: Any) -> Message:
    """A post of ours that these people commented on."""
    post = make_post(
        **({"account": presence.account, "created_at": NOON - timedelta(days=1)} | given)
    )
    for author in authors:
        make_message(post=post, author=author, author_id=f"id-{author}")
    return post
