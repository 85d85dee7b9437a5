"""Stones of every kind for their pages, and what a reader sees there."""

from __future__ import annotations

import re
from datetime import timedelta
from itertools import count
from typing import Any

from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from dialogue.models import Stone
from dialogue.stones.choice import ChoiceFacts, PostFacts, choose, drawn
from dialogue.stones.choice import CommentFacts as Said
from dialogue.stones.choice import KernelFacts as Thought
from tests.dialogue.stones.choice_facts import SLOT
from tests.factories import NOON, make_draft, make_message, make_post, make_presence

LIST = "/stones/"
_slots = count(1)


def text(response: Any) -> str:
    """The page on one line, as a reader sees its spaces."""
    return " ".join(response.content.decode().split())


def words(response: Any) -> str:
    """What stands on it, without its tags."""
    without = re.sub(r"<[^>]+>", " ", re.sub(r"</?bdi>", "", text(response)))
    return " ".join(without.split())


def page_of(stone: Stone) -> str:
    return f"{LIST}{stone.pk}/"


def make_stone(**given: Any) -> Stone:
    """A stone of today that is being written."""
    presence = given.pop("presence", None) or make_presence(settings={"lays_stones": True})
    now = timezone.now()
    ordinary = {
        "slot": f"2026-11-21#{next(_slots)}",
        "kind": "explore",
        "why": "Explore: the random number 0.10 is below the setting 0.25. The topic seed is new.",
        "draw": 0.1,
        "share": 0.25,
        "chosen_at": now,
        "look_at": now,
    }
    return Stone.objects.create(presence=presence, **(ordinary | given))


def make_laid(*authors: str, **given: Any) -> Stone:
    """A stone that was sent, and what these people said under it."""
    presence = given.pop("presence", None) or make_presence(settings={"lays_stones": True})
    post = make_post(account=presence.account)
    for author in authors:
        make_message(post=post, author=author, author_id=f"id-{author}")
    draft = make_draft(
        what="post", account=presence.account, title="On borders", state="sent", sent_at=NOON,
        message=post,
    )  # fmt: skip
    return make_stone(presence=presence, state="written", draft=draft, **given)


def make_exploit(**given: Any) -> Stone:
    """A stone as the choice makes it, that grew from one of two threads."""
    presence = make_presence(settings={"lays_stones": True})
    posts = [make_post(account=presence.account, title=f"Thread {number}") for number in (1, 2)]
    said = [Said(author="ann", is_question=True), Said(author="ben")]
    facts = ChoiceFacts(
        presence=presence.pk,
        slot=SLOT,
        share=drawn(presence.pk, SLOT) / 2,
        posts=[
            PostFacts(
                id=posts[0].pk, title="Thread 1", created_at=NOON - timedelta(days=2), comments=said
            ),
            PostFacts(id=posts[1].pk, title="Thread 2", created_at=NOON, comments=said[1:]),
        ],
        kernels=[Thought(id=1)],
    )
    choice = choose(facts, now=NOON)
    table = [{name: getattr(row, name) for name in row.__slots__} for row in choice.table]
    return make_stone(
        presence=presence, slot=facts.slot, kind="exploit", why=choice.why, table=table,
        draw=choice.draw, share=facts.share, thread_id=choice.post_id, **given,
    )  # fmt: skip


def queries(desk: Any, path: str) -> int:
    desk.get(path)
    with CaptureQueriesContext(connection) as asked:
        assert desk.get(path).status_code == 200
    return len(asked)
