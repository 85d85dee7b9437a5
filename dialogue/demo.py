"""Create the demo: two agents, their presences, and drafts that await approval.

All of it stays in the built-in hub: its agents speak through its accounts only, and no other agent
does. Services, triggers of the database and the last check before sending refuse the rest. Clearing
removes what the demo created.
"""

import tomllib
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any

from django.db import transaction

from dialogue.agents import presences
from dialogue.agents import services as agent_services
from dialogue.models import Agent, Presence
from dialogue.voice.base import built
from dialogue.voice.scripted.voice import ScriptedVoice
from surfaces import demo
from surfaces.demo import ACTOR
from surfaces.drafts import services as draft_services
from surfaces.drafts.models import DraftKind
from surfaces.errors import NotAllowed, RuleBroken
from surfaces.extension_points import DraftGuard
from surfaces.models import Account, Message
from surfaces.settings.services import change

TOLD = Path(__file__).with_name("demo.toml")
TUNED = ("persona", "topics", "communities", "kernels", "lays_stones")


# Columns of a draft `d` and its account `a`.
GUARD = DraftGuard(
    forbids="EXISTS (SELECT 1 FROM dialogue_agent g"
    " WHERE g.slug = d.agent AND g.is_demo <> a.is_demo)",
    why="sending.demo_only",
)


@cache
def told() -> dict[str, list[dict[str, Any]]]:
    return tomllib.loads(TOLD.read_text("utf-8"))


@transaction.atomic
def make(*, now: datetime) -> list[Account]:
    if agent := Agent.objects.first():
        used = f"This database is in use (the agent {agent.slug})"
        raise NotAllowed(f"{used}; a demo belongs into an empty one.")
    accounts = demo.make(now=now)
    by_name = {account.handle: account for account in accounts}
    for person in told()["agent"]:
        slug, values = person["slug"], {name: person[name] for name in TUNED if name in person}
        made = agent_services.make_agent(
            slug, name=person["name"], by=ACTOR, is_autonomous=True, is_demo=True
        )
        change(made, values, by=ACTOR, now=now)
        presences.join(made, by_name[slug], by=ACTOR, now=now)
    return accounts


def draft_answers(*, now: datetime) -> int:
    return sum(_draft(answer, now=now) for answer in told()["draft"])


def _draft(answer: dict[str, Any], *, now: datetime) -> bool:
    """Create one draft, if its comment was read and has no reply yet."""
    slug, parts = (
        answer["agent"],
        (answer["terms"].strip(), answer["pointer"].strip(), answer["exit"].strip()),
    )
    speaks = Presence.objects.live().filter(agent__slug=slug)
    for account in demo.accounts().filter(presences__in=speaks).select_related("surface"):
        asked = Message.objects.filter(account=account).awaiting_reply()
        question = asked.filter(content__startswith=answer["answers"]).first()
        if question is None:
            continue
        try:
            draft_services.compose(
                account=account, what=DraftKind.REPLY, target=question, text=built(*parts),
                by=f"agent:{slug}", now=now, agent=slug, origin=ScriptedVoice.name, parts=parts,
            )  # fmt: skip
        except RuleBroken:
            return False
        return True
    return False


@transaction.atomic
def clear() -> None:
    """Remove what `make` created, or nothing."""
    demo.clear()
    Agent.objects.filter(is_demo=True).delete()
