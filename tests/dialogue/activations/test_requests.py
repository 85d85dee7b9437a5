"""Run now and Stop: what operators ask of activations."""

from __future__ import annotations

import time
from datetime import timedelta
from typing import Any

import pytest

from dialogue import replier
from dialogue.activations import services as activation_services
from dialogue.activations.stop_signal import StopSignal
from dialogue.errors import VoiceBroken, VoiceStopping
from dialogue.models import Activation, ActivationItem, Presence
from dialogue.replies import runner
from dialogue.voice import generate
from dialogue.voice.base import NothingToSay, Reply
from surfaces.errors import BadInput, NotAllowed, StaleState
from surfaces.models import AuditEvent, Draft
from surfaces.pauses import services as pause_services
from tests.dialogue.replies.factories import MINUTE, World, change_agent, change_settings, of
from tests.factories import NOON, make_presence

pytestmark = [pytest.mark.django_db, pytest.mark.engine]
MIRA = "operator:mira"
POST = Reply(terms="A.", pointer="B.", text="A.\n\nB.", title="On tides")


def run(world: World, pool: str = "hybrid", after: timedelta = MINUTE) -> replier.RoundReport:
    world.now += after
    return replier.run_round(replier.ReplierPool(), clock=lambda: world.now, pool=pool)


def ask(world: World, purpose: str = "task", task: str = "Write about tides.") -> None:
    presence = Presence.objects.get(pk=world.presence.pk)
    activation_services.run_now(presence, purpose=purpose, task=task, by=MIRA, now=world.now)


def voice(monkeypatch: Any, ending: Any) -> None:
    def speak(activation: Activation, *given: Any, **more: Any) -> Any:
        outcome = ending(activation) if callable(ending) else ending
        if isinstance(outcome, Exception):
            raise outcome
        return outcome, "a voice"

    monkeypatch.setattr(generate, "generate", speak)


# ── run now ───────────────────────────────────────────────────────────────


def test_a_task_becomes_a_post_by_the_mode(world, monkeypatch):
    voice(monkeypatch, POST)
    ask(world)
    assert run(world).tasks == 1
    draft = Draft.objects.get()
    assert (draft.what, draft.title, draft.state) == ("post", "On tides", "waiting")
    activation = Activation.objects.get()
    assert (activation.purpose, activation.task) == ("task", "Write about tides.")
    assert str(activation.why) == "mira asked for a task."
    assert (activation.state, activation.draft) == ("done", draft)
    assert Presence.objects.get().run_asked_at is None
    assert AuditEvent.objects.called("agent.run_asked").get().facts["task"] == "Write about tides."
    assert run(world).tasks == 0


def test_a_task_keeps_the_limit_of_posts(world, monkeypatch):
    voice(monkeypatch, POST)
    Presence.objects.update(stones_per_day=0)
    ask(world)
    assert run(world).tasks == 1
    assert not Draft.objects.exists()
    assert "posts allowed per day" in str(Activation.objects.get().outcome)
    assert run(world).tasks == 0, "a limit that is reached is no reason to write again"


def test_nothing_to_say_is_the_outcome_of_a_task(world, monkeypatch):
    voice(monkeypatch, NothingToSay(words="Nothing to engage with right now."))
    ask(world)
    run(world)
    assert ActivationItem.objects.get().state == "nothing"
    said = "Nothing to say: Nothing to engage with right now."
    assert (Activation.objects.get().state, str(Activation.objects.get().outcome)) == ("done", said)


def test_a_task_that_failed_is_shown_and_not_repeated(world, monkeypatch):
    voice(monkeypatch, VoiceBroken("voice.nonsense"))
    ask(world)
    assert run(world).failed == 1
    assert Activation.objects.get().state == "failed"
    assert run(world).tasks == 0


def test_a_task_of_a_dead_worker_is_taken_up_again(world, monkeypatch):
    def die(activation: Activation) -> Exception:
        raise KeyboardInterrupt

    voice(monkeypatch, die)
    ask(world)
    with pytest.raises(KeyboardInterrupt):
        run(world)
    voice(monkeypatch, POST)
    assert run(world).tasks == 1
    assert Draft.objects.count() == 1


@pytest.mark.parametrize(
    ("moves", "why"),
    [
        (lambda w: change_settings(w, is_autonomous=False), "automatic replies are off"),
        (lambda w: change_agent(w, lives="elsewhere"), "an external agent"),
        (lambda w: change_agent(w, backs_off_until=NOON + MINUTE), "backing off"),
        (lambda w: pause_services.pause("all", "", why="x", by=MIRA, now=NOON), "is paused"),
        (lambda w: Presence.objects.update(ended_at=NOON), "no longer assigned"),
    ],
)
def test_what_cannot_run_is_refused_with_the_reason(world, moves, why):
    moves(world)
    with pytest.raises(NotAllowed, match=why):
        ask(world)
    assert Presence.objects.get().run_asked_at is None


def test_what_can_no_longer_run_when_its_turn_comes_is_dropped_with_the_reason(world):
    ask(world)
    change_settings(world, is_autonomous=False)
    assert run(world).tasks == 0
    assert Presence.objects.get().run_asked_at is None
    assert AuditEvent.objects.called("agent.run_dropped").get().why.code == "verdict.switched_off"


def test_a_second_request_is_told_of_the_first(world):
    ask(world)
    with pytest.raises(StaleState, match="mira already asked"):
        ask(world, task="Another one.")


@pytest.mark.parametrize(
    ("purpose", "task"), [("task", " \0 "), ("task", "x" * 4_001), ("stone", ""), ("x", "")]
)
def test_a_request_that_makes_no_sense_is_refused(world, purpose, task):
    with pytest.raises(BadInput):
        ask(world, purpose, task)


def test_run_now_for_replies_makes_what_waits_due_and_permissions_hold(world):
    change_settings(world, spacing_seconds=3600)
    world.comment()
    second = world.comment()
    run(world)
    of(second).note(verdict="between_tries", not_before=world.now + MINUTE * 60)
    change_settings(world, spacing_seconds=0)
    ask(world, "reply", "")
    assert of(second).look_at == world.now
    assert run(world).drafted == 1
    with pytest.raises(NotAllowed, match="Nothing waits"):
        ask(world, "reply", "")


def test_a_request_waits_while_the_agent_is_awake(world, monkeypatch):
    voice(monkeypatch, POST)
    ask(world)
    other = activation_services.start(
        world.presence, purpose="stone", why="a test", worker="w", now=world.now
    )
    Activation.objects.filter(pk=other.pk).update(lease_until=world.now + timedelta(hours=1))
    assert replier.claims.claim_requested("w", ["task"], now=world.now) is None
    assert Presence.objects.get().run_asked_at is not None


# ── stop ──────────────────────────────────────────────────────────────────


def test_a_running_activation_is_stopped_and_its_comment_is_held(world, monkeypatch):
    comments = [world.comment() for _ in range(2)]
    change_settings(world, spacing_seconds=0)

    def stop(activation: Activation) -> Exception:
        activation_services.ask_stop(activation, by=MIRA, now=world.now)
        return VoiceStopping("voice.stopped")

    voice(monkeypatch, stop)
    run(world)
    activation = Activation.objects.get()
    assert (activation.state, str(activation.outcome)) == (
        "released", "mira stopped the activation.",
    )  # fmt: skip
    held, later = of(comments[0]), of(comments[1])
    assert (held.verdict, held.look_at, held.read_at) == ("stopped", None, None)
    assert str(held.why) == "On hold: mira stopped the activation."
    assert later.look_at == world.now + timedelta(minutes=10)
    voice(monkeypatch, POST)
    assert run(world).drafted == 0
    ask(world, "reply", "")
    assert run(world).drafted == 2


def test_what_was_written_before_the_stop_stays(world, monkeypatch):
    change_settings(world, spacing_seconds=0)
    for _ in range(2):
        world.comment()

    def write(activation: Activation) -> Reply:
        activation_services.ask_stop(activation, by=MIRA, now=world.now)
        return POST

    voice(monkeypatch, write)
    run(world)
    assert Draft.objects.count() == 1
    states = ActivationItem.objects.order_by("position").values_list("state", flat=True)
    assert list(states) == ["drafted", "released"]
    assert Activation.objects.get().state == "released"


def test_a_stop_is_asked_once_and_not_of_what_has_ended(world):
    woken = activation_services.start(
        world.presence, purpose="reply", why="a test", worker="w", now=NOON
    )
    activation_services.ask_stop(woken, by=MIRA, now=NOON)
    with pytest.raises(StaleState, match=r"^mira is stopping"):
        activation_services.ask_stop(woken, by="operator:ada", now=NOON)
    activation_services.finish(woken, "failed", "a test", now=NOON)
    with pytest.raises(NotAllowed, match="already ended"):
        activation_services.ask_stop(woken, by=MIRA, now=NOON)


@pytest.mark.django_db(transaction=True)
def test_a_stop_is_heard_within_two_seconds():
    woken = activation_services.start(
        make_presence(), purpose="reply", why="a test", worker="w", now=NOON
    )
    stop = StopSignal(woken, lambda: False)
    assert not stop()
    activation_services.ask_stop(woken, by=MIRA, now=NOON)
    began = time.monotonic()
    while not stop():
        time.sleep(0.05)
        assert time.monotonic() - began < 2
    assert stop.by == MIRA


# ── pools ─────────────────────────────────────────────────────────────────


def test_a_pool_takes_its_kind_only(world, monkeypatch):
    comment = world.comment()
    change_settings(world, explores=True)
    explored: list[str] = []

    class Look(runner.ItemWork):
        def write(self, is_ending: Any) -> None:
            explored.append(self.activation.purpose)
            self.end_silent(NothingToSay(words="Nothing to engage with."), now=self.clock())

    monkeypatch.setitem(runner.WORKS, "explore", Look)
    done = run(world, "exploration")
    assert (done.drafted, done.explored, explored) == (0, 1, ["explore"])
    assert run(world, "notification").drafted == 1
    assert of(comment).draft is not None
    assert run(world, "notification", timedelta(hours=2)).explored == 0
    assert run(world, "hybrid").explored == 1
    assert run(world, "hybrid").explored == 0  # not idle for long enough
