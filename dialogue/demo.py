"""Create the demo: two agents, their presences, drafts and a tool call that await approval.

All of it stays in the built-in hub: its agents speak through its accounts only, and no other agent
does. Services, triggers of the database and the last check before sending refuse the rest. Clearing
removes what the demo created.
"""

import json
import tomllib
from datetime import datetime
from functools import cache, partial
from pathlib import Path
from typing import Any

from asgiref.sync import async_to_sync
from django.db import transaction

from dialogue.activations import items
from dialogue.activations import services as activation_services
from dialogue.activations.models import Activation, ItemState, Purpose
from dialogue.agents import presences
from dialogue.agents import services as agent_services
from dialogue.approvals.execution import in_thread
from dialogue.models import Agent, Presence, ToolCall
from dialogue.replies import runner
from dialogue.replies.post import TaskWork
from dialogue.replies.verdicts import ReplyCounts
from dialogue.tools.belt import AgentBelt
from dialogue.voice.base import SuspendedConversation, built
from dialogue.voice.scripted.voice import ScriptedVoice
from surfaces import demo
from surfaces.demo import ACTOR
from surfaces.drafts import services as draft_services
from surfaces.drafts.models import DraftKind
from surfaces.errors import NotAllowed, RuleBroken
from surfaces.extension_points import DraftGuard
from surfaces.models import Account, Message
from surfaces.settings.services import change
from surfaces.text.reasons import reason

WORKER = f"{ACTOR}:0"
TOLD = Path(__file__).with_name("demo.toml")
TUNED = (
    "persona", "topics", "communities", "kernels", "lays_stones", "grants", "has_memory",
    "on_publish",
)  # fmt: skip


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


def activate(*, now: datetime) -> None:
    """One exploration and one task with tools. Reads the hub, so hold no transaction."""
    for told_of in told()["activation"]:
        slug = told_of["agent"]
        _explore(slug, now=now)
        _do_task(slug, told_of["task"], told_of["call"], now=now)


def _explore(slug: str, *, now: datetime) -> Activation:
    """Look at the posts of the demo; the scripted voice chooses none."""
    activation = _start(slug, Purpose.EXPLORE, now=now)
    counts = ReplyCounts()
    runner.run(
        activation, counts, clock=lambda: now, until=lambda: False, is_ending=lambda: False
    )  # fmt: skip
    return activation


def _do_task(slug: str, task: str, calls: list[dict[str, Any]], *, now: datetime) -> Activation:
    """Make the calls of the demo. It waits for an operator, if one of them does.

    No model is asked: what one might choose stands in demo.toml. Everything after the choice is the
    usual way: grants and policy decide on each call, what is allowed runs, and one call waits.
    """
    activation = _start(slug, Purpose.TASK, task=task, now=now)
    item = activation.items.get()
    work = TaskWork(activation, item, ReplyCounts(), lambda: now)
    activation_services.record_step(
        activation, "asked", why="activation.demo_calls", now=now, item=item
    )
    belt = AgentBelt(item, lambda: now)
    for number, call in enumerate(calls):
        arguments, call_id = json.dumps(call["arguments"]), f"{ACTOR}-{number}"
        # In a thread without an event loop, whoever runs the demo.
        made = in_thread(
            partial(async_to_sync(belt.call), call["tool"], arguments, call_id=call_id)
        )
        made.result()
    with transaction.atomic():
        if ToolCall.objects.waiting().filter(item=item).exists():
            conversation = SuspendedConversation(model=ScriptedVoice.name, messages="[]")
            work.suspend(conversation, now=now)
            activation_services.suspend(activation, "activation.suspended", now=now)
        else:
            work.end(ItemState.NOTHING, "activation.demo_calls", now=now)
            activation_services.finish(activation, *items.outcome(activation), now=now)
    return activation


def _start(slug: str, purpose: str, *, task: str = "", now: datetime) -> Activation:
    presence = Presence.objects.live().select_related("agent__settings", "account__surface").get(
        agent__slug=slug, agent__is_demo=True
    )  # fmt: skip
    why = reason(f"activation.requested_{purpose}", by=ACTOR)
    return activation_services.start(
        presence, purpose=purpose, why=why, task=task, worker=WORKER, now=now
    )


@transaction.atomic
def clear() -> None:
    """Remove what `make` created, or nothing."""
    demo.clear()
    Agent.objects.filter(is_demo=True).delete()
