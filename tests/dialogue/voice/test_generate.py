"""A conversation on the books: its steps, its limits, its costs, and the one rewrite."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from decimal import Decimal

import pytest

from dialogue.activations import services as activation_services
from dialogue.errors import LimitReached, ToolBroken, VoiceBroken, VoiceDown
from dialogue.models import Activation, AgentSettings, ModelEndpoint, Reservation, Spending
from dialogue.voice import briefs, generate
from dialogue.voice.base import CallOutcome, Ending, NothingToSay, Reply, SuspendedConversation
from surfaces import crypto
from tests.dialogue.voice.belts import NotedBelt, found, hangs, waits
from tests.factories import NOON, make_message, make_notification, make_presence
from tests.fakes.openai_chat import FakeOpenAI, Outcome

pytestmark = [pytest.mark.django_db]
SEARCH = ("hub_search", {"query": "tides"})
KEY = "sk-a-key-that-nobody-may-ever-see"


@pytest.fixture
def openai() -> Iterator[FakeOpenAI]:
    with FakeOpenAI() as fake:
        yield fake


class Run:
    """One item of one activation, with a clock that a test moves."""

    def __init__(self, openai: FakeOpenAI, purpose: str = "reply", **settings) -> None:
        self.presence = make_presence(settings={"voice": "model", "timeout_seconds": 5} | settings)
        ModelEndpoint.objects.create(
            agent=self.presence.agent, model="openai-chat:model", base_url=openai.url,
            sealed_key=crypto.encrypt(KEY),
        )  # fmt: skip
        comment = make_message(account=self.presence.account, content="Is a table a promise?")
        self.notification = make_notification(presence=self.presence, message=comment)
        self.activation = activation_services.start(
            self.presence, purpose=purpose, why="activation.running", worker="a worker", now=NOON,
            notification=self.notification,
        )  # fmt: skip
        self.item = self.activation.items.get()
        self.now = NOON
        self.belt = NotedBelt()

    def clock(self) -> datetime:
        return self.now

    def generate(self, suspended: SuspendedConversation | None = None) -> Ending:
        brief, context = briefs.reply_brief(self.notification, now=self.now)
        written, voice = generate.generate(
            self.activation, brief, context, clock=self.clock, item=self.item, tools=self.belt,
            suspended=suspended,
        )  # fmt: skip
        assert voice == "openai-chat:model"
        return written

    @property
    def kinds(self) -> list[str]:
        return [step.kind for step in self.activation.steps.all()]

    def is_settled(self) -> bool:
        held = Spending.objects.values_list("held_tokens", "held_money")
        return set(held) <= {(0, 0)} and not Reservation.objects.filter(settled_at=None).exists()


def test_every_request_of_the_loop_is_a_step_of_the_item(openai: FakeOpenAI):
    run = Run(openai)
    openai.script(Outcome("calls", calls=[SEARCH]), "good")
    assert isinstance(run.generate(), Reply)
    assert run.kinds == ["asked", "answered", "asked", "answered", "checked"]
    assert {step.item_id for step in run.activation.steps.all()} == {run.item.pk}
    steps = list(run.activation.steps.all())
    assert "hub_search" in steps[1].words
    assert "Found three posts about tides." in steps[2].facts["shown"]
    row = Activation.objects.get()
    assert row.requests == 2
    assert row.tokens_in == 1_800
    assert run.is_settled()


@pytest.mark.parametrize(
    ("settings", "code", "requests"),
    [
        ({"max_iterations": 2}, "activation.iterations_used", 2),
        ({"tokens_per_run": 5_000}, "activation.tokens_used", 1),
        ({"money_per_run": Decimal("0.03")}, "activation.money_used", 1),
    ],
    ids=["iterations", "tokens", "money"],
)
def test_each_limit_is_kept_before_the_request_that_would_pass_it(
    openai: FakeOpenAI, settings, code, requests
):
    openai.always(Outcome("calls", calls=[SEARCH]))
    run = Run(openai, **settings)
    with pytest.raises(LimitReached) as caught:
        run.generate()
    assert caught.value.reason.code == code
    assert 1 <= len(openai.requests) <= requests
    row = Activation.objects.get()
    assert row.requests == len(openai.requests), "a refused request is not counted"
    assert run.kinds == ["asked", "answered"] * len(openai.requests)
    kept = AgentSettings.objects.get()
    assert row.tokens_in + row.tokens_out <= kept.tokens_per_run
    assert row.cost <= kept.money_per_run
    assert run.is_settled()


def test_the_time_is_used_while_a_tool_runs(openai: FakeOpenAI):
    run = Run(openai)

    def late(made) -> CallOutcome:
        run.now += timedelta(seconds=400)
        return found(made)

    run.belt.does = {"hub_search": late}
    openai.script(Outcome("calls", calls=[SEARCH]), "good")
    with pytest.raises(LimitReached, match="300 seconds"):
        run.generate()
    assert run.kinds == ["asked", "answered"]
    assert len(openai.requests) == 1


def test_a_tool_that_hangs_is_cancelled_when_the_time_is_used(openai: FakeOpenAI):
    run = Run(openai)

    def moving() -> datetime:
        run.now += timedelta(seconds=60) if run.belt.made else timedelta()
        return run.now

    run.clock = moving
    run.belt.does = {"hub_search": hangs}
    openai.script(Outcome("calls", calls=[SEARCH]), "good")
    with pytest.raises(LimitReached):
        run.generate()
    assert run.belt.ended == ["call-1"]


def test_a_request_that_hangs_is_cancelled_recorded_and_settled_when_the_time_is_used(
    openai: FakeOpenAI,
):
    run = Run(openai)

    def moving() -> datetime:
        run.now += timedelta(seconds=20) if openai.requests else timedelta()
        return run.now

    run.clock = moving
    openai.script(Outcome("hang", seconds=20))
    with pytest.raises(LimitReached):
        run.generate()
    assert run.kinds == ["asked", "failed"]
    assert "300 seconds" in str(run.activation.steps.last().why)
    assert run.is_settled()


def test_a_fatal_tool_leaves_the_transcript_whole(openai: FakeOpenAI):
    run = Run(openai)
    fatal = CallOutcome(is_fatal=True, why="activation.moved")
    run.belt.does = {"hub_search": lambda made: fatal}
    openai.script(Outcome("calls", calls=[SEARCH]))
    with pytest.raises(ToolBroken):
        run.generate()
    assert run.kinds == ["asked", "answered"]
    assert run.is_settled()


def test_when_every_model_fails_in_the_middle_the_transcript_is_complete(openai: FakeOpenAI):
    run = Run(openai)
    openai.script(Outcome("calls", calls=[SEARCH]), "cut")
    with pytest.raises(VoiceDown):
        run.generate()
    assert run.kinds == ["asked", "answered", "asked", "failed"]
    assert run.is_settled()


def test_a_conversation_waits_without_a_check_and_goes_on_counting(openai: FakeOpenAI):
    run = Run(openai, max_iterations=2)
    run.belt.does = {"hub_search": waits}
    openai.script(Outcome("calls", calls=[SEARCH]), Outcome("calls", calls=[SEARCH]))
    kept = run.generate()
    assert isinstance(kept, SuspendedConversation)
    assert run.kinds == ["asked", "answered"]
    assert KEY not in kept.messages
    assert run.is_settled()

    run.belt.outcomes = {"call-1": CallOutcome(text="Approved: it ran.")}
    again = run.generate(kept)
    assert isinstance(again, SuspendedConversation)
    run.belt.outcomes = {"call-2": CallOutcome(text="Denied.", is_error=True)}
    with pytest.raises(LimitReached):
        run.generate(again)
    assert run.kinds == ["asked", "answered"] * 2
    assert "Approved: it ran." in run.activation.steps.all()[2].facts["shown"]


def test_a_faulty_answer_is_rewritten_once_without_calling_tools_again(openai: FakeOpenAI):
    run = Run(openai)
    bad = Outcome(words={"pointer": "As @somebody-else said, so."})
    openai.script(Outcome("calls", calls=[SEARCH]), bad, "good")
    assert isinstance(run.generate(), Reply)
    assert run.kinds == ["asked", "answered"] * 2 + ["checked", "asked", "answered", "checked"]
    last = openai.requests[-1]
    assert last.offered == ["write"]
    assert "As @somebody-else said, so." in last.user
    assert "The last words were not good" in last.system
    assert len(run.belt.made) == 1


def test_words_without_the_form_are_kept_and_mended_by_the_rewrite(openai: FakeOpenAI):
    run = Run(openai)
    openai.script("prose", "prose", "good")
    written = run.generate()
    assert isinstance(written, Reply)
    assert written.terms
    assert "is no promise" not in written.text
    assert "The terms are empty" in openai.requests[-1].system
    assert run.kinds == ["asked", "answered"] * 2 + ["checked", "asked", "answered", "checked"]


def test_an_answer_that_is_faulty_twice_is_one_failed_try(openai: FakeOpenAI):
    run = Run(openai)
    openai.always(Outcome(words={"pointer": "As @somebody-else said, so."}))
    with pytest.raises(VoiceBroken, match="failed the checks twice"):
        run.generate()


def test_a_task_without_a_model_says_that_it_needs_one():
    presence = make_presence()
    activation = activation_services.start(
        presence, purpose="task", why="activation.running", worker="a worker", now=NOON
    )
    item = activation.items.get()
    brief, context = briefs.task_brief(activation, item, now=NOON)
    written, voice = generate.generate(activation, brief, context, clock=lambda: NOON, item=item)
    assert isinstance(written, NothingToSay)
    assert "language model" in written.words
    assert voice == "scripted"
    assert not activation.steps.exists()
