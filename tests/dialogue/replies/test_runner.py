"""An activation answers several notifications, each with its own result."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from dialogue import errors
from dialogue.activations import services as activation_services
from dialogue.inbox import collect
from dialogue.models import Activation, ActivationItem, Agent, Notification
from dialogue.replies import loop
from dialogue.replies.claims import FreeWorkers
from dialogue.replies.verdicts import ReplyCounts
from dialogue.voice import generate
from dialogue.voice.base import NothingToSay
from surfaces.models import Draft, Message
from tests.dialogue.replies.factories import MINUTE, World, change_settings, of

pytestmark = [pytest.mark.django_db, pytest.mark.engine]


@pytest.fixture
def world() -> World:
    return World(spacing_seconds=0, replies_per_thread=50, replies_per_day=100)


def failing(monkeypatch: Any, *outcomes: Any) -> None:
    """The voice raises these, one for each item; None writes a text."""
    speak, left = generate.generate, list(outcomes)

    def once(activation: Activation, *given: Any, **more: Any) -> Any:
        outcome = left.pop(0) if left else None
        if callable(outcome):
            outcome = outcome(activation)
        if isinstance(outcome, Exception):
            raise outcome
        return outcome or speak(activation, *given, **more)

    monkeypatch.setattr(generate, "generate", once)


def items() -> list[tuple[int, str]]:
    rows = ActivationItem.objects.order_by("activation_id", "position")
    return [(item.position, item.state) for item in rows]


def test_up_to_five_notifications_are_answered_by_one_activation(world):
    for _ in range(7):
        world.comment()
    assert world.round().drafted == 7
    assert [found.items.count() for found in Activation.objects.order_by("id")] == [5, 2]
    first = Activation.objects.earliest("id")
    assert (first.state, first.notifications, first.posts) == ("done", 5, 5)
    assert str(first.outcome) == "5 drafts written, 0 failed, 0 without a reply."
    assert {item.state for item in ActivationItem.objects.all()} == {"drafted"}
    assert {message.reply_attempts for message in Message.objects.comments()} == {1}
    assert Agent.objects.get().last_activated_at == world.now


def test_the_number_of_notifications_is_a_setting(world):
    change_settings(world, notifications_per_run=1)
    world.comment()
    world.comment()
    world.round()
    assert [found.items.count() for found in Activation.objects.all()] == [1, 1]


def test_one_that_fails_stops_no_other_and_is_no_failure_of_the_agent(world, monkeypatch):
    comments = [world.comment() for _ in range(3)]
    failing(monkeypatch, None, errors.VoiceDown("voice.nonsense"), None)
    counts = world.round()
    assert (counts.drafted, counts.failed) == (2, 1)
    assert items() == [(1, "drafted"), (2, "failed"), (3, "drafted")]
    assert Activation.objects.get().state == "done"
    assert Agent.objects.get().failures == 0
    assert of(comments[1]).verdict == "between_tries"


def test_where_all_fail_the_activation_failed(world, monkeypatch):
    for _ in range(2):
        world.comment()
    failing(monkeypatch, *[errors.VoiceDown("voice.nonsense")] * 2)
    assert world.round().failed == 2
    assert (Activation.objects.get().state, Agent.objects.get().failures) == ("failed", 1)


def test_each_item_is_decided_again_at_its_turn(world):
    change_settings(world, spacing_seconds=60)
    for _ in range(3):
        world.comment()
    world.round()
    assert items() == [(1, "drafted"), (2, "decided"), (3, "decided")]
    waits = Notification.objects.filter(verdict="too_soon")
    assert [row.look_at - world.now for row in waits] == [MINUTE, MINUTE]
    assert set(Message.objects.filter(drafts=None).comments().values_list(
        "reply_attempts", flat=True)) == {0}  # fmt: skip


def test_what_was_settled_before_its_turn_is_left_alone(world, monkeypatch):
    first, second = world.comment(), world.comment()

    def settle(activation: Activation) -> None:
        of(second).note(read_at=world.now, outcome="passed", why="verdict.ours")

    failing(monkeypatch, settle)
    assert world.round().drafted == 1
    assert items() == [(1, "drafted"), (2, "decided")]
    assert Draft.objects.get().target == first


def test_a_limit_ends_the_activation_and_what_was_not_begun_is_due_again(world, monkeypatch):
    comments = [world.comment() for _ in range(3)]

    def limit(activation: Activation) -> Exception:
        item = activation.items.get(state="working")
        activation_services.record_step(activation, "asked", now=world.now, item=item)
        return errors.LimitReached("activation.time_used")

    failing(monkeypatch, None, limit)
    collect.collect(now=world.now)
    counts = ReplyCounts()
    loop.answer_next("w", counts, free=FreeWorkers(), clock=lambda: world.now, until=lambda: False,
                     is_ending=lambda: False)  # fmt: skip
    assert items() == [(1, "drafted"), (2, "failed"), (3, "released")]
    found = Activation.objects.get()
    assert (found.state, found.outcome.code) == ("exhausted", "activation.time_used")
    assert Agent.objects.get().failures == 1
    assert of(comments[1]).not_before is not None
    assert of(comments[2]).look_at <= world.now
    assert (counts.drafted, counts.failed) == (1, 1)


def test_a_limit_that_others_used_up_costs_the_next_no_attempt(world, monkeypatch):
    comments = [world.comment() for _ in range(2)]
    failing(monkeypatch, None, errors.LimitReached("activation.iterations_used"))
    assert world.round().drafted == 2
    assert [found.state for found in Activation.objects.order_by("id")] == ["exhausted", "done"]
    assert Agent.objects.get().failures == 0
    comments[1].refresh_from_db()
    assert comments[1].reply_attempts == 1


def test_a_limit_before_the_first_request_is_a_failure_and_does_not_turn_round(world, monkeypatch):
    comment = world.comment()
    failing(monkeypatch, *[errors.LimitReached("activation.tokens_used")] * 9)
    assert world.round().failed == 1
    assert Activation.objects.get().state == "exhausted"
    assert of(comment).look_at > world.now
    assert Agent.objects.get().failures == 1


def test_a_tool_that_failed_for_good_ends_the_activation(world, monkeypatch):
    for _ in range(3):
        world.comment()
    failing(monkeypatch, errors.ToolBroken("activation.no_answers"))
    counts = world.round()
    assert items()[:3] == [(1, "failed"), (2, "released"), (3, "released")]
    first = Activation.objects.earliest("id")
    assert (first.state, first.outcome.code) == ("failed", "activation.no_answers")
    assert counts.drafted == 2


def test_an_empty_budget_is_no_failure(world, monkeypatch):
    comment, other = world.comment(), world.comment()
    until = world.now + timedelta(hours=3)
    failing(monkeypatch, *[errors.OutOfBudget("budget.tokens_spent_day", until=until)] * 2)
    world.round()
    assert {of(comment).verdict, of(other).verdict} == {"spent"}
    assert {of(comment).look_at, of(other).look_at} == {until}
    assert Agent.objects.get().failures == 0
    assert set(Message.objects.comments().values_list("reply_attempts", flat=True)) == {0}


def test_told_to_stop_between_two_items_the_rest_is_due(world):
    for _ in range(3):
        world.comment()
    collect.collect(now=world.now)
    asked = iter([False, True])
    loop.answer_due("w", clock=lambda: world.now, until=lambda: next(asked, True),
                    is_ending=lambda: False)  # fmt: skip
    assert items() == [(1, "drafted"), (2, "released"), (3, "released")]
    assert Activation.objects.get().state == "released"
    assert Notification.objects.due(world.now).count() == 2
    assert world.round().drafted == 2


def test_a_dead_worker_leaves_its_unfinished_items_due_and_its_drafts_written(world, monkeypatch):
    comments = [world.comment() for _ in range(3)]

    def once(activation: Activation, *given: Any, **more: Any) -> Any:
        if Draft.objects.exists():
            raise KeyboardInterrupt
        return speak(activation, *given, **more)

    speak = generate.generate
    monkeypatch.setattr(generate, "generate", once)
    with pytest.raises(KeyboardInterrupt):
        world.round()
    monkeypatch.setattr(generate, "generate", speak)
    assert items() == [(1, "drafted"), (2, "working"), (3, "pending")]
    assert activation_services.reclaim_abandoned(now=world.now + MINUTE) == 1
    assert items() == [(1, "drafted"), (2, "released"), (3, "released")]
    assert [of(row).look_at for row in comments[1:]] == [world.now + MINUTE] * 2
    assert world.round(2 * MINUTE).drafted == 2
    assert Draft.objects.count() == 3


def test_a_late_worker_ends_no_item(world, monkeypatch):
    world.comment()

    def late(activation: Activation) -> None:
        activation_services.reclaim_abandoned(now=world.now + timedelta(hours=1))

    failing(monkeypatch, late)
    collect.collect(now=world.now)
    counts = ReplyCounts()
    loop.answer_next("w", counts, free=FreeWorkers(), clock=lambda: world.now, until=lambda: False,
                     is_ending=lambda: False)  # fmt: skip
    assert items() == [(1, "released")]
    assert not Draft.objects.exists()
    assert Activation.objects.get().state == "abandoned"


def test_a_voice_with_nothing_to_reply_failed(world, monkeypatch):
    world.comment()
    failing(monkeypatch, (NothingToSay(words="no"), "a voice"))
    assert world.round().failed == 1
    assert str(ActivationItem.objects.get().why) == "The voice ended without a reply."


def test_a_notification_of_an_unknown_kind_about_no_message_is_kept_and_stops_nothing(world):
    world.comment()
    Notification.objects.create(
        agent=world.agent, presence=world.presence, kind="badge", made_at=world.now,
        look_at=world.now,
    )  # fmt: skip
    assert world.round().drafted == 1
    row = Notification.objects.get(kind="badge")
    assert (row.verdict, row.read_at, row.look_at) == ("unknown_kind", None, None)
