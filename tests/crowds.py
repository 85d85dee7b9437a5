"""Many agents at once, each with an account of its own; written in a few statements."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from dialogue.models import Agent, AgentSettings, Notification, Presence
from surfaces.messages.store import take_ids
from surfaces.models import Account, Message
from tests.factories import NOON, make_surface

AT_ONCE = 2_000  # rows in one statement


def make_crowd(number: int, *, tag: str, mode: str = "auto", **settings: Any) -> list[Presence]:
    """Agents that speak, each from an account, on ten surfaces."""
    surfaces = [make_surface() for _ in range(10)]
    places = Account.objects.bulk_create((
        Account(surface=surfaces[n % 10], name=f"{tag}-{n}", handle=f"{tag}{n}", mode=mode,
                next_watch_at=NOON + timedelta(days=999), state_since=NOON)
        for n in range(number)
    ), AT_ONCE)  # fmt: skip
    agents = Agent.objects.bulk_create((
        Agent(slug=f"{tag}-{n}", name=f"{tag} {n}", persona="You ask questions. " * 60)
        for n in range(number)
    ), AT_ONCE)  # fmt: skip
    usual = {"is_autonomous": True, "mode": mode, "spacing_seconds": 0, "replies_per_day": 500}
    AgentSettings.objects.bulk_create(
        (AgentSettings(agent=agent, **(usual | settings)) for agent in agents), AT_ONCE
    )
    return Presence.objects.bulk_create((
        Presence(agent=agent, account=account, since=NOON - timedelta(days=1), mode=mode,
                 obeyed=mode)
        for agent, account in zip(agents, places, strict=True)
    ), AT_ONCE)  # fmt: skip


def ask_all(presences: Sequence[Presence], *, at: datetime = NOON) -> list[Notification]:
    """A comment under a post of each, and its notification, due at once."""
    ids = take_ids(2 * len(presences))
    posts, comments = ids[: len(presences)], ids[len(presences) :]
    common = {"created_at": at, "seen_at": at}
    Message.objects.bulk_create((
        Message(pk=pk, post_id=pk, account_id=place.account_id, remote_id=f"post-{pk}",
                kind="post", direction="outgoing", author="us", title="On tides",
                content="What does the tide table leave out?", **common)
        for pk, place in zip(posts, presences, strict=True)
    ), AT_ONCE)  # fmt: skip
    Message.objects.bulk_create((
        Message(pk=pk, post_id=post, account_id=place.account_id, remote_id=f"comment-{pk}",
                kind="comment", direction="incoming", author=f"stranger {pk}",
                content=f"Is a tide table number {pk} a kind of promise?", **common)
        for pk, post, place in zip(comments, posts, presences, strict=True)
    ), AT_ONCE)  # fmt: skip
    return Notification.objects.bulk_create((
        Notification(agent_id=place.agent_id, presence=place, message_id=pk, kind="reply",
                     made_at=at - timedelta(seconds=n % 7_200), look_at=at)
        for n, (pk, place) in enumerate(zip(comments, presences, strict=True))
    ), AT_ONCE)  # fmt: skip
