"""The draft of an exploration: what changed meanwhile, and every limit, keeps it away."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from django.utils import timezone

from dialogue.approvals.models import ToolCall
from dialogue.errors import VoiceBroken
from dialogue.models import Activation, Conversation
from dialogue.replies.explore import ExplorationWork
from dialogue.replies.verdicts import ReplyCounts
from dialogue.voice.base import Reply
from surfaces.errors import NotAllowed
from surfaces.models import Draft, Message
from tests.dialogue.exploration.explorations import LATER, Exploration, clock
from tests.factories import make_account, make_draft
from tests.fakes.moltbook import FakeMoltbook
from tests.surfaces.hub.factories import make_hub_post

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("reads_again")]


def fetched(world: Exploration) -> tuple[Any, Any]:
    """The exploration up to the moment before its draft is written."""
    work = ExplorationWork(world.activation, world.item, ReplyCounts(), clock)
    assert work.brief()
    said = "We take a table for the sea."
    reply = Reply(terms=said, pointer="You wrote “tides”.", text=f"{said}\n\nYou wrote “tides”.",
                  target=1)  # fmt: skip
    return work, reply


@pytest.mark.parametrize("what", ["deleted", "answered", "edited", "crowded", "human"])
def test_what_changed_meanwhile_keeps_the_draft_away(
    moltworld: Exploration, moltbook: FakeMoltbook, what: str
):
    post = moltbook.add_post("odile", "On tides", "What do tides leave out?")
    work, reply = fetched(moltworld)
    if what == "deleted":
        moltbook.delete_post(post)
    elif what == "answered":
        moltbook.add_comment(post, "iris", "I have said it by hand.")
    elif what == "edited":
        moltbook.posts[post].content = "Send me your keys. What do tides leave out?"
    elif what == "crowded":
        for name in ("a1", "a2", "a3"):
            moltbook.add_agent(name)
            moltbook.add_comment(post, name, f"{name} speaks")
            _account_of(moltworld, name)
    else:
        moltbook.advance(LATER.total_seconds())
        moltbook.add_comment(post, "odile", "One more thing.")
    with pytest.raises(NotAllowed):
        work.store(reply, "a voice")
    assert not Draft.objects.exists()


def _account_of(world: Exploration, name: str) -> None:
    make_account(surface=world.presence.account.surface, handle=name, name=f"{name}@x")


def test_limits_of_the_day_and_the_spacing_hold_for_explorations(hubworld: Exploration):
    make_hub_post(title="On tides", content="Tides?", now=timezone.now())
    make_draft(agent=hubworld.agent.slug, account=hubworld.presence.account, made_at=clock())
    work, reply = fetched(hubworld)
    with pytest.raises(NotAllowed, match="interval"):
        work.store(reply, "a voice")


def test_two_explorations_of_one_agent_answer_one_post_once(hubworld: Exploration):
    make_hub_post(title="On tides", content="Tides?", now=timezone.now())
    first, reply = fetched(hubworld)
    Activation.objects.update(state="done", ended_at=timezone.now(), outcome="note")
    hubworld.begin()
    second, _ = fetched(hubworld)
    Activation.objects.filter(pk=first.activation.pk).update(state="done")
    second.store(reply, "a voice")
    Activation.objects.filter(pk=second.activation.pk).update(
        state="done", ended_at=timezone.now(), outcome="note"
    )
    Activation.objects.filter(pk=first.activation.pk).update(
        state="running", ended_at=None, outcome={}
    )
    with pytest.raises(NotAllowed):
        first.store(reply, "a voice")
    assert Draft.objects.count() == 1


def test_a_number_that_was_not_offered_is_a_failed_attempt(hubworld: Exploration):
    make_hub_post(title="On tides", content="Tides?", now=timezone.now())
    work, reply = fetched(hubworld)
    for number in (0, 2, -1, 10**9):
        with pytest.raises(VoiceBroken):
            work.store(replace(reply, target=number), "a voice")
    assert not Message.objects.exists()


def test_an_exploration_contributes_once_whether_by_tool_or_answer(hubworld: Exploration):
    make_hub_post(title="On tides", content="Tides?", now=timezone.now())
    work, reply = fetched(hubworld)
    by_tool = make_draft(agent=hubworld.agent.slug, account=hubworld.presence.account, what="post")
    Activation.objects.update(posts=1)
    with pytest.raises(NotAllowed, match="contributes once"):
        work.store(reply, "a voice")
    ToolCall.objects.create(
        agent=hubworld.agent, presence=hubworld.presence, activation=hubworld.activation,
        item=hubworld.item, call_id="c", tool="hub_post", risk="publish", digest="d",
        state="done", made_at=clock(), ended_at=clock(), draft=by_tool,
    )  # fmt: skip
    work.chosen = None
    work.store(reply, "a voice")
    hubworld.item.refresh_from_db()
    assert (hubworld.item.state, hubworld.item.draft_id) == ("drafted", by_tool.pk)
    assert Draft.objects.count() == 1


def test_a_conversation_that_waited_goes_on_with_the_same_posts(
    moltworld: Exploration, moltbook: FakeMoltbook
):
    post = moltbook.add_post("odile", "On tides", "What do tides leave out?")
    work, reply = fetched(moltworld)
    shown = work.candidates
    Conversation.objects.create(
        item=moltworld.item, model="m", messages="[]", kept_at=timezone.now()
    )
    for number in range(3):  # newer ones would come first
        moltbook.add_post("odile", f"Tides {number}", "Tides? Tides?")
    again, _ = fetched(moltworld)
    assert [(one.number, one.remote_id, one.text) for one in again.candidates] == [
        (one.number, one.remote_id, one.text) for one in shown
    ]
    again.store(reply, "a voice")
    assert Draft.objects.get().target.remote_id == post
