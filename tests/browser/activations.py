"""Activations of Gabriel: one runs, one waits for approval, one explored, one reached a limit."""

from __future__ import annotations

from datetime import datetime, timedelta
from decimal import Decimal

from django.utils import timezone

from dialogue.activations import services as activation_services
from dialogue.activations.models import ActivationState
from dialogue.activations.services import ActivationCost
from dialogue.models import Activation, Notification, Presence
from surfaces.models import Message, Operator
from surfaces.settings.services import change
from tests.dialogue.activations.factories import make_item, make_memory, make_tool_call

POST = "Nobody has written down yet what the table leaves out.\n\nShall we begin with the wind?"


def activate_gabriel(mira: Operator) -> None:
    now = timezone.now()
    presence = Presence.objects.select_related("agent", "account").get(agent__slug="gabriel")
    values = {"grants": ["hub:read", "hub:write:tides", "!hub:write:announcements", "memory:*"],
              "explores": True, "has_memory": True, "voice": "model"}  # fmt: skip
    change(presence.agent, values, by=mira.actor, now=now)
    explored = _explored(presence, now)
    _reached_a_limit(presence, now)
    _waits(presence, now)
    _runs(presence, now)
    _remembers(presence, explored, mira)


def _begin(presence: Presence, purpose: str, why: str, now: datetime) -> Activation:
    """Beside what the demo itself left running."""
    Activation.objects.running().filter(agent=presence.agent).update(
        state="released", outcome={"code": "activation.worker_died"}, ended_at=now
    )
    return Activation.objects.create(
        agent=presence.agent, presence=presence, purpose=purpose, why=why, worker="desk:4711",
        number=presence.agent.next_claim(now=now), lease_until=now + activation_services.LEASE,
        started_at=now,
    )  # fmt: skip


def _step(waking: Activation, kind: str, words: str, item: object, **more: object) -> None:
    cost = ActivationCost(tokens_in=2_140, tokens_out=180, money=Decimal("0.0091"))
    more = {"now": waking.started_at, "item": item, "took_ms": 2_300, **more}
    if kind == "answered":
        more["cost"] = cost
    activation_services.record_step(waking, kind, words, **more)  # type: ignore[arg-type]


def _explored(presence: Presence, now: datetime) -> Activation:
    waking = _begin(presence, "explore", "Idle for 25 min.", now - timedelta(hours=2))
    item = make_item(waking, position=1, why="Nothing to engage with right now.")
    _step(waking, "offered", "6 posts were found, 2 of them offered.", item)
    _step(waking, "asked", "Requested openai:small.", item, facts={"request": 1, "shown": POST})
    _step(waking, "answered", "Nothing to engage with right now.", item)
    _finish(waking, ActivationState.DONE, "Nothing to engage with right now.")
    return waking


def _reached_a_limit(presence: Presence, now: datetime) -> None:
    waking = _begin(presence, "task", "Requested by mira.", now - timedelta(hours=1))
    item = make_item(waking, position=1, state="released", why="Left for later.")
    Activation.objects.filter(pk=waking.pk).update(
        task="Look through the community tides and ask one question.", requests=10, calls=30
    )
    make_tool_call(item, tool="hub_search", state="failed", why="It took longer than 10 s.")
    _finish(waking, ActivationState.EXHAUSTED,
            "The limit of 10 requests per activation is reached.")  # fmt: skip


def _waits(presence: Presence, now: datetime) -> None:
    began = now - timedelta(minutes=12)
    waking = _begin(presence, "reply", "Comments by two people.", began)
    notes = Notification.objects.filter(presence=presence).exclude(message=None).order_by("pk")
    for position, note in enumerate(notes[:2], 1):
        is_waiting = position == 2
        state = {"state": "waiting", "why": {}, "ended_at": None} if is_waiting else {}
        item = make_item(waking, position=position, notification=note, **state)
        _step(waking, "asked", "Requested openai:small.", item, facts={"request": position})
        if is_waiting:
            _step(waking, "called", "hub_post", item, facts={"tool": "hub_post"})
            _step(waking, "suspended", "Waits for an operator.", item)
            call = {"title": "What the table leaves out", "content": POST, "community": "tides"}
            make_tool_call(
                item, tool="hub_post", risk="publish", state="waiting", arguments=call,
                asked_arguments=call, ended_at=None, result="", took_ms=0, made_at=began,
                expires_at=now + timedelta(hours=20),
                why="Its arguments rest on text by other people.",
            )  # fmt: skip
    Activation.objects.filter(pk=waking.pk).update(
        state="waiting", requests=2, calls=1, worked_ms=21_000
    )


def _runs(presence: Presence, now: datetime) -> None:
    waking = _begin(presence, "reply", "Comment by a stranger in “On tides”.", now)
    item = make_item(waking, position=1, state="working", why={}, ended_at=None)
    make_item(waking, position=2, state="pending", why={}, started_at=None, ended_at=None)
    _step(waking, "asked", "Requested openai:small.", item, facts={"request": 1})
    _step(waking, "answered", '{"query": "slack water"}', item)
    _step(waking, "returned", "3 posts", item, facts={"tool": "hub_search"})
    make_tool_call(item, decided_by="policy", decided_at=now, made_at=now,
                   result="1. Slack water\n2. On moored boats\n3. A table from 1994")  # fmt: skip
    Activation.objects.filter(pk=waking.pk).update(requests=1, calls=1)


def _remembers(presence: Presence, waking: Activation, mira: Operator) -> None:
    message = Message.objects.incoming().comments().earliest("pk")
    heard = [{"kind": "message", "id": str(message.pk), "author": message.author, "trust": 0}]
    make_memory(presence.agent, words="The soundings at Roscoff were last checked in 1994.",
                topic="roscoff", sources=heard, source=message, activation=waking)  # fmt: skip
    make_memory(presence.agent, words="I asked twice what a table leaves out. Ask about wind next.",
                topic="own questions", trust=1, recalled_at=timezone.now())  # fmt: skip


def _finish(waking: Activation, state: ActivationState, why: str) -> None:
    waking.note(state=state, outcome=why, ended_at=waking.started_at + timedelta(seconds=34))
