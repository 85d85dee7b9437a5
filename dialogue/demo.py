"""Let the demo's two voices speak: agents, presences, and answers that wait for a person.

All of it stays in the built-in hub, and everything waits for a person. What is taken away is
what the demo made; an agent that speaks elsewhere too stays.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any

from django.db import transaction

from dialogue import presences, tuning
from dialogue.models import Agent, Presence
from dialogue.voice.base import built
from dialogue.voice.scripted import Scripted
from surfaces import drafting
from surfaces.errors import NotAllowed, RuleBroken
from surfaces.hub import demo
from surfaces.hub.demo import ACTOR
from surfaces.models import Account, AuditEvent, Message
from surfaces.models.draft import What

TOLD = Path(__file__).with_name("demo.toml")
TUNED = ("persona", "topics", "communities", "kernels", "lays_stones")


@cache
def told() -> dict[str, list[dict[str, Any]]]:
    return tomllib.loads(TOLD.read_text("utf-8"))


@transaction.atomic
def make(*, now: datetime) -> list[Account]:
    """Make the community, our accounts in it and who speaks through them, all or nothing."""
    if agent := Agent.objects.first():
        raise NotAllowed(
            f"This database is in use (the agent {agent.slug}); a demo belongs into an empty one."
        )
    accounts = demo.make(now=now)
    by_name = {account.handle: account for account in accounts}
    for person in told()["agent"]:
        _let_speak(person, by_name[person["slug"]], now=now)
    return accounts


def _let_speak(person: dict[str, Any], account: Account, *, now: datetime) -> None:
    agent = presences.make_agent(person["slug"], name=person["name"], by=ACTOR, is_autonomous=True)
    values = {name: person[name] for name in TUNED if name in person}
    tuning.change_agent(agent, values, by=ACTOR, now=now)
    presences.join(agent, account, by=ACTOR, now=now)


def draft_answers(*, now: datetime) -> int:
    """Put the answers that the demo has before the operator; return how many wait."""
    return sum(_draft(answer, now=now) for answer in told()["draft"])


def _draft(answer: dict[str, Any], *, now: datetime) -> bool:
    """One answer, where its question was read and nobody answers it already."""
    parts = (answer["terms"].strip(), answer["pointer"].strip(), answer["exit"].strip())
    for account, question in _asked(answer):
        try:
            drafting.compose(
                account=account,
                what=What.REPLY,
                target=question,
                text=built(*parts),
                by=f"agent:{answer['agent']}",
                now=now,
                agent=answer["agent"],
                origin=Scripted.name,
                parts=parts,
            )
        except RuleBroken:
            return False
        return True
    return False


def _asked(answer: dict[str, Any]) -> Iterator[tuple[Account, Message]]:
    speaks = Presence.objects.live().filter(agent__slug=answer["agent"])
    for account in demo.accounts().filter(presences__in=speaks).select_related("surface"):
        asked = Message.objects.filter(account=account).awaiting_reply()
        if question := asked.filter(content__startswith=answer["answers"]).first():
            yield account, question


@transaction.atomic
def clear() -> None:
    """Take away what `make` made, or nothing."""
    made = AuditEvent.objects.called("agent.made").filter(actor=ACTOR)
    slugs = [line.subject.partition(":")[2] for line in made]
    demo.clear()
    Agent.objects.filter(slug__in=slugs, presences=None).delete()
