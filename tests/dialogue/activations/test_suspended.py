"""A conversation whose tool calls wait is stored, frees the agent, and goes on when decided."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from dialogue import replier
from dialogue.activations import services as activation_services
from dialogue.activations import suspended
from dialogue.models import (
    Activation,
    ActivationItem,
    Agent,
    Conversation,
    Notification,
    ToolCall,
)
from dialogue.voice import generate
from dialogue.voice.base import Reply, SuspendedConversation
from surfaces.messages import reply_state
from surfaces.models import Draft, Message
from tests.dialogue.replies.factories import MINUTE, World, change_settings, of

pytestmark = [pytest.mark.django_db, pytest.mark.engine]
WORDS = Reply(terms="A.", pointer="B.", text="A.\n\nB.")
KEPT = SuspendedConversation(model="openai-chat:one", messages="[]")


class Scene:
    """A voice that asks for approval of one call, and answers when it goes on."""

    def __init__(self, monkeypatch: Any) -> None:
        self.world = World(spacing_seconds=0, replies_per_thread=50)
        self.heard: list[SuspendedConversation | None] = []
        self.ending: Any = KEPT
        self.meanwhile: Callable[[], object] = lambda: None
        monkeypatch.setattr(generate, "generate", self.speak)

    def speak(self, activation: Activation, *given: Any, **more: Any) -> Any:
        self.heard.append(more["suspended"])
        if more["suspended"] or more["item"].position > 1:
            number = len(self.heard)
            text = f"A {number}.\n\nB."
            return Reply(terms=f"A {number}.", pointer="B.", text=text), "a voice"
        self.call = ToolCall.objects.create(
            agent=activation.agent, presence=activation.presence, activation=activation,
            item=more["item"], call_id=f"c{len(self.heard)}", tool="hub_post", risk="publish",
            digest="x", state="waiting", made_at=self.world.now,
            expires_at=self.world.now + timedelta(hours=24),
        )  # fmt: skip
        self.meanwhile()
        return self.ending, "a voice"

    def decide(self, state: str = "denied", **facts: Any) -> None:
        ended = {} if state == "approved" else {"ended_at": self.world.now}
        ToolCall.objects.filter(pk=self.call.pk).update(state=state, **ended, **facts)

    def round(self, after: timedelta = MINUTE) -> replier.RoundReport:
        self.world.now += after
        return replier.run_round(replier.ReplierPool(), clock=lambda: self.world.now)


@pytest.fixture
def scene(monkeypatch: Any) -> Scene:
    return Scene(monkeypatch)


def test_it_waits_with_its_conversation_and_frees_the_agent(scene: Scene):
    comment = scene.world.comment()
    done = scene.round()
    activation, item = Activation.objects.get(), ActivationItem.objects.get()
    assert (activation.state, item.state, done.suspended) == ("waiting", "waiting", 1)
    assert Conversation.objects.get().messages == "[]"
    assert (of(comment).verdict, of(comment).look_at) == ("tool_waits", None)
    assert activation.steps.last().kind == "suspended"
    other = scene.world.comment()
    scene.ending = WORDS
    scene.round()
    assert Activation.objects.count() == 2
    assert of(other).draft is not None


def test_decided_it_goes_on_under_a_new_number_and_counts_no_second_attempt(scene: Scene):
    comment = scene.world.comment()
    scene.round()
    first = Activation.objects.get()
    scene.world.now += timedelta(hours=2)
    scene.decide()
    done = scene.round()
    activation = Activation.objects.get()
    assert (done.resumed, activation.state, scene.heard) == (1, "done", [None, KEPT])
    assert (activation.number, activation.resumed_at) == (first.number + 1, scene.world.now)
    assert [step.kind for step in activation.steps.all()] == ["suspended", "resumed"]
    comment.refresh_from_db()
    assert comment.reply_attempts == 1
    assert of(comment).draft == Draft.objects.get()
    assert not Conversation.objects.exists()


def test_the_time_that_it_waited_is_not_worked(scene: Scene):
    scene.world.comment()
    scene.meanwhile = lambda: setattr(scene.world, "now", scene.world.now + timedelta(seconds=7))
    scene.round()
    assert Activation.objects.get().worked_ms == 7_000


def test_a_decision_before_the_conversation_is_stored_is_not_lost(scene: Scene):
    scene.world.comment()
    scene.meanwhile = scene.decide
    assert scene.round().drafted == 1
    assert Activation.objects.get().state == "done"


def test_an_approved_call_goes_on_after_the_undo_time_only(scene: Scene):
    scene.world.comment()
    scene.round()
    facts = {"approved_digest": "x", "decided_by": "operator:mira"}
    scene.decide("approved", not_before=scene.world.now + 3 * MINUTE, **facts)
    assert scene.round().resumed == 0
    assert scene.round(3 * MINUTE).resumed == 1


@pytest.mark.parametrize("state", ["running", "unknown"])
def test_what_nobody_decided_on_does_not_go_on(scene: Scene, state: str):
    scene.world.comment()
    scene.round()
    ToolCall.objects.update(state=state, worker="w", started_at=scene.world.now)
    assert scene.round().resumed == 0


@pytest.mark.parametrize(
    ("block", "why"),
    [
        ({"is_autonomous": False}, "automatic replies are off"),
        ({"voice": "model", "money_per_day": 0}, "The money budget for today is used up"),
    ],
    ids=["switched off", "spent"],
)
def test_it_stays_waiting_and_says_why_while_the_agent_may_not_work(
    scene: Scene, block: dict[str, Any], why: str
):
    scene.world.comment()
    scene.round()
    scene.decide()
    change_settings(scene.world, **block)
    assert scene.round().resumed == 0
    activation = Activation.objects.get()
    assert activation.state == "waiting"
    assert why in str(activation.outcome)
    change_settings(scene.world, is_autonomous=True, voice="scripted")
    assert scene.round(2 * MINUTE).resumed == 1


@pytest.mark.parametrize(
    ("change", "then"),
    [
        (lambda m: m.update(deleted_at=m.get().created_at), "deleted"),
        (lambda m: m.update(spam_status="spam"), "spam"),
        (reply_state.mark_sent, "answered"),
    ],
    ids=["deleted", "spam", "answered"],
)
def test_a_comment_that_changed_meanwhile_ends_the_item_and_its_calls(
    scene: Scene, change: Any, then: str
):
    comment = scene.world.comment()
    scene.round()
    change(Message.objects.filter(pk=comment.pk))
    of(comment).note(look_at=scene.world.now)
    if then == "answered":
        scene.decide()
    scene.round()
    scene.round()
    assert of(comment).verdict == then
    assert Activation.objects.get().state == "released"
    assert ToolCall.objects.get().state in {"stale", "denied"}
    assert not Draft.objects.exists()


def test_an_edited_comment_is_decided_anew_and_its_calls_are_stale(scene: Scene):
    comment = scene.world.comment()
    scene.round()
    first = scene.call
    Message.objects.filter(pk=comment.pk).update(content="Is a lighthouse a promise?")
    scene.round()
    assert ToolCall.objects.get(pk=first.pk).state == "stale"
    old = Activation.objects.earliest("id")
    assert (old.state, old.outcome.code) == ("released", "activation.overtaken")
    assert Activation.objects.count() == 2


def test_a_conversation_that_waits_is_not_answered_a_second_time(scene: Scene):
    comment = scene.world.comment()
    scene.round()
    of(comment).note(look_at=scene.world.now)
    scene.round()
    assert (Activation.objects.count(), of(comment).verdict) == (1, "tool_waits")


def test_a_conversation_that_is_too_long_fails_its_item(scene: Scene):
    comment = scene.world.comment()
    scene.ending = SuspendedConversation(model="m", messages="x" * 2_000_001)
    assert scene.round().failed == 1
    assert ActivationItem.objects.get().why.code == "activation.conversation_too_long"
    assert ToolCall.objects.get().state == "stale"
    assert of(comment).verdict == "between_tries"


def test_other_items_are_answered_before_it_waits(scene: Scene):
    scene.world.comment()
    second = scene.world.comment()
    assert scene.round().drafted == 1
    assert of(second).draft is not None
    assert Activation.objects.get().state == "waiting"
    scene.decide()
    scene.round()
    assert Draft.objects.count() == 2
    assert Activation.objects.get().state == "done"


def test_one_worker_resumes_it(scene: Scene):
    scene.world.comment()
    scene.round()
    scene.decide()
    [pk] = suspended.ready(now=scene.world.now, limit=5)
    taken = Activation.objects.filter(pk=pk)
    taken.update(state="running", worker="another")
    assert suspended.ready(now=scene.world.now, limit=5) == []


def test_a_worker_that_dies_after_it_went_on_loses_nothing(scene: Scene):
    comment = scene.world.comment()
    scene.round()
    running = {"state": "running", "worker": "w", "started_at": scene.world.now}
    Activation.objects.update(state="running", worker="nobody:1:dead")
    ToolCall.objects.update(**running)
    assert activation_services.reclaim_abandoned(now=scene.world.now) == 1
    assert ToolCall.objects.get().state == "unknown"
    assert of(comment).look_at == scene.world.now
    assert Activation.objects.get().steps.exists()
    assert not Conversation.objects.exists()
    assert Agent.objects.get().failures == 1
    assert Notification.objects.due(scene.world.now).exists()


def test_what_a_limit_of_the_day_holds_is_looked_at_again_after_a_minute(scene: Scene):
    scene.world.comment()
    scene.round()
    scene.decide()
    change_settings(scene.world, replies_per_day=0)
    assert scene.round().resumed == 1
    activation = Activation.objects.get()
    assert activation.state == "waiting"
    assert "replies allowed per day are used" in str(activation.outcome)
    assert scene.round(MINUTE / 2).resumed == 0
    change_settings(scene.world, replies_per_day=9)
    assert scene.round(MINUTE).drafted == 1
