"""Create the demo: two agents, their presences, and drafts that await approval.

All of it stays in the built-in hub. Clearing removes only what the demo created; an agent with
other accounts is kept.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any

from django.db import transaction

from dialogue.agents import presences
from dialogue.agents import services as agent_services
from dialogue.agents.models.agent import Agent
from dialogue.agents.models.presence import Presence
from dialogue.voice.base import built
from dialogue.voice.scripted.voice import ScriptedVoice
from surfaces import demo
from surfaces.demo import ACTOR
from surfaces.drafts import services as draft_services
from surfaces.drafts.models import DraftKind
from surfaces.errors import NotAllowed, RuleBroken
from surfaces.models import Account, AuditEvent, Message
from surfaces.settings.services import change

TOLD = Path(__file__).with_name("demo.toml")
TUNED = ("persona", "topics", "communities", "kernels", "lays_stones")


@cache
def told() -> dict[str, list[dict[str, Any]]]:
    return tomllib.loads(TOLD.read_text("utf-8"))


@transaction.atomic
def make(*, now: datetime) -> list[Account]:
    """Create the community, accounts, agents and presences in one transaction."""
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
    agent = agent_services.make_agent(
        person["slug"], name=person["name"], by=ACTOR, is_autonomous=True
    )
    values = {name: person[name] for name in TUNED if name in person}
    change(agent, values, by=ACTOR, now=now)
    presences.join(agent, account, by=ACTOR, now=now)


def draft_answers(*, now: datetime) -> int:
    """Create the demo's drafts; return how many await approval."""
    return sum(_draft(answer, now=now) for answer in told()["draft"])


def _draft(answer: dict[str, Any], *, now: datetime) -> bool:
    """Create one draft, if its comment was read and has no reply yet."""
    parts = (answer["terms"].strip(), answer["pointer"].strip(), answer["exit"].strip())
    for account, question in _asked(answer):
        try:
            draft_services.compose(
                account=account,
                what=DraftKind.REPLY,
                target=question,
                text=built(*parts),
                by=f"agent:{answer['agent']}",
                now=now,
                agent=answer["agent"],
                origin=ScriptedVoice.name,
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
    """Remove what `make` created, or nothing."""
    made = AuditEvent.objects.called("agent.made").filter(actor=ACTOR)
    slugs = [line.subject.partition(":")[2] for line in made]
    demo.clear()
    Agent.objects.filter(slug__in=slugs, presences=None).delete()
