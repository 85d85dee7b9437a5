"""Promises that are guarded twice: each guard holds alone, when the other is late."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import time
from typing import Any

import pytest
from django.db import IntegrityError, transaction

from dialogue import replier
from dialogue.activations import services as activation_services
from dialogue.activations.models import ActivationState, Purpose
from dialogue.errors import LeaseLost
from dialogue.inbox import collect
from dialogue.models import (
    Activation,
    AgentSettings,
    Kernel,
    ModelEndpoint,
    Notification,
    Presence,
    Reservation,
    Stone,
    WakeEvent,
    WakeHook,
)
from dialogue.replies import answer, loop
from dialogue.replies.decision import decide
from dialogue.stones import scheduler, writer
from dialogue.voice.base import Reply
from dialogue.wake_hooks import delivery as wake_hook_delivery
from surfaces.models import AuditEvent, Draft, Message
from tests.dialogue.replies.factories import answer_due
from tests.factories import (
    NOON,
    make_agent,
    make_draft,
    make_message,
    make_notification,
    make_presence,
)
from tests.fakes.openai_chat import FakeOpenAI, Outcome

pytestmark = [pytest.mark.django_db, pytest.mark.engine]


@pytest.fixture
def openai() -> Iterator[FakeOpenAI]:
    with FakeOpenAI() as fake:
        yield fake


# ── at most one reply ─────────────────────────────────────────────────────


def test_an_answer_that_the_inbox_did_not_see_yet_is_seen_by_the_loop():
    comment = make_notification().comment
    make_message(post=comment.post, parent=comment, direction="outgoing", author="iris")
    answer_due()
    told, comment = Notification.objects.about(comment).get(), Message.objects.get(pk=comment.pk)
    assert (str(told.outcome), told.verdict, comment.reply_status) == (
        "answered",
        "answered",
        "sent",
    )
    assert not Activation.objects.exists()


@pytest.mark.parametrize(
    "moved",
    [{"reply_status": "failed"}, {"reply_status": "sent"}, {"reply_attempts": 10}],
    ids=["given up", "sent", "tried out"],
)
def test_what_is_settled_in_the_moment_of_deciding_wakes_nobody(monkeypatch, moved):
    """Somebody else moves the comment between our look at it and the waking."""
    comment = make_notification().comment

    def decide_late(*given: Any, **more: Any) -> Any:
        verdict = decide(*given, **more)
        Message.objects.filter(pk=comment.pk).update(**moved)
        return verdict

    monkeypatch.setattr(loop, "decide", decide_late)
    answer_due()
    assert not Activation.objects.exists()
    assert not Draft.objects.exists()


def test_two_agents_never_speak_through_one_account():
    presence = make_presence()
    with pytest.raises(IntegrityError, match="presence_one_live_per_account"), transaction.atomic():
        Presence.objects.create(agent=make_agent(), account=presence.account, since=NOON)


def test_a_stone_whose_try_another_counted_meanwhile_keeps_no_words(clock_at_noon):
    def write(woken: Activation, *given: Any, **more: Any) -> tuple[Reply, str]:
        Stone.objects.update(tries=2)  # another worker took it up again
        words = Reply(terms="A.", pointer="B.", title="On borders", text="A.\n\nB.")
        return words, "a pen"

    agent = make_agent(settings={"lays_stones": True})
    Kernel.objects.create(agent=agent, words="Where does a border begin?")
    make_presence(agent=agent)
    laid = writer.write_due(worker="a worker", clock=clock_at_noon, speak=write)
    assert (laid.written, laid.later) == (0, 1)
    assert Stone.objects.get().state == "chosen"
    assert not Draft.objects.exists()


def test_a_stone_chosen_in_its_hours_is_not_written_outside_them(clock_at_noon):
    def write(*given: Any, **more: Any) -> tuple[Reply, str]:
        raise AssertionError("the voice was asked")

    agent = make_agent(settings={"lays_stones": True})
    Kernel.objects.create(agent=agent, words="Where does a border begin?")
    assert scheduler.choose(make_presence(agent=agent), now=NOON)
    agent.note(active_from=time(20), active_to=time(22))
    laid = writer.write_due(worker="a worker", clock=clock_at_noon, speak=write)
    assert laid.did == 0
    assert Stone.objects.get().tries == 0


# ── bounded tries ─────────────────────────────────────────────────────────


def test_a_voice_that_was_asked_has_used_its_try_though_money_for_the_rewrite_was_short(openai):
    """Or a voice whose words never pass is asked once a day for ever."""
    presence = make_presence(settings={"voice": "model"})
    ModelEndpoint.objects.create(agent=presence.agent, model="openai-chat:one", base_url=openai.url)
    note = make_notification(presence=presence)
    openai.script(Outcome("401"), Outcome("good", words={"pointer": "Ask @nobody_here about it."}))
    answer_due()
    (one_request,) = Reservation.objects.values_list("tokens", flat=True)
    AgentSettings.objects.update(tokens_per_day=one_request)

    Notification.objects.update(look_at=NOON, not_before=None)
    assert answer_due().waits == 1

    assert len(openai.requests) == 2
    note.refresh_from_db()
    assert (note.verdict, note.comment.reply_attempts) == ("spent", 2)


@pytest.mark.parametrize("tries", [0, 11])
def test_no_agent_has_more_tries_for_a_comment_than_ten_or_fewer_than_one(tries):
    make_agent()
    with pytest.raises(IntegrityError, match="tries_1_to_10"), transaction.atomic():
        AgentSettings.objects.update(tries=tries)


# ── nothing is marked handled that was not ────────────────────────────────


@pytest.mark.parametrize(
    ("state", "facts"),
    [
        ("composed", {}),
        ("approved", {}),
        ("sending", {"lease_until": NOON}),
        ("unknown", {}),
    ],
)
def test_what_is_not_known_to_be_out_leaves_its_notification_unread(state, facts):
    if state in {"approved", "sending"}:
        facts = facts | {"approved_digest": "as it is", "not_before": NOON}
    note = make_notification()
    note.note(draft=make_draft(target=note.comment, state=state, **facts), look_at=None)
    collect.collect(now=NOON)
    note.refresh_from_db()
    assert (note.read_at, str(note.outcome), note.look_at) == (None, "", None)


def test_a_failed_try_is_written_down_as_a_whole_or_not_at_all(monkeypatch):
    """Whoever dies on the way leaves a waking that its lease frees."""

    def die(*given: Any) -> Any:
        raise MemoryError

    note = make_notification(presence=make_presence(settings={"voice": "model"}))
    monkeypatch.setattr(answer, "retry_delay", die)
    with pytest.raises(MemoryError):
        answer_due()
    assert Activation.objects.get().state == "running"
    assert not AuditEvent.objects.about(note.comment).called("message.try_failed").exists()


def test_what_was_read_meanwhile_is_not_written_over():
    late = make_notification()
    Notification.objects.get(pk=late.pk).note(read_at=NOON, outcome="passed", why="No reply: spam.")
    assert not late.note(verdict="ready", why="Answers.", look_at=None)
    late.refresh_from_db()
    assert (str(late.why), late.verdict) == ("No reply: spam.", "")


def test_what_an_event_did_not_tell_of_is_told_by_the_next(monkeypatch):
    monkeypatch.setattr(wake_hook_delivery, "MOST_AT_ONCE", 2)
    presence = make_presence(agent=make_agent(lives="elsewhere"))
    WakeHook.objects.create(agent=presence.agent, url="https://agent.example.org/wake")
    for _ in range(3):
        make_notification(presence=presence)
    for _ in range(3):
        wake_hook_delivery.announce(now=NOON)
    told = [event.body["data"]["count"] for event in WakeEvent.objects.order_by("id")]
    assert told == [2, 1]


# ── a dead worker frees its work ──────────────────────────────────────────


def test_a_round_takes_back_what_a_dead_worker_left_and_answers_it():
    note = make_notification()
    left = activation_services.start(
        note.presence, purpose=Purpose.REPLY, why="a comment", worker="killed", now=NOON,
        notification=note,
    )  # fmt: skip
    note.note(look_at=None)
    done = replier.run_round(replier.ReplierPool(), clock=lambda: NOON)
    left.refresh_from_db()
    assert (done.taken_back, left.state, done.drafted) == (1, "abandoned", 1)


def test_who_was_overtaken_has_no_account_to_speak_from():
    woken = activation_services.start(
        make_presence(), purpose=Purpose.REPLY, why="a comment", worker="a worker", now=NOON
    )
    activation_services.reclaim_abandoned(now=woken.lease_until)
    with pytest.raises(LeaseLost):
        activation_services.account_to_speak_from(woken)


def test_a_fencing_number_is_given_once():
    presence = make_presence()
    facts = {"purpose": Purpose.REPLY, "why": "a comment", "worker": "a worker", "now": NOON}
    woken = activation_services.start(presence, **facts)
    activation_services.finish(woken, ActivationState.DONE, "It ended.", now=NOON)
    presence.agent.note(claims=0)
    with pytest.raises(IntegrityError, match="number_grows_once"), transaction.atomic():
        activation_services.start(presence, **facts)
