"""Calls of a model that wait, die or come again: nothing runs twice, and nothing waits forever."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, time, timedelta
from typing import Any

import pytest
from django.utils import timezone

from dialogue import replier
from dialogue.activations import services as activations
from dialogue.activations.models import Activation, Conversation
from dialogue.agents import presences
from dialogue.approvals import services as approvals
from dialogue.approvals.execution import ToolRun
from dialogue.approvals.policy import CallFacts, CallReason, MatchingRule, decide
from dialogue.errors import LeaseLost
from dialogue.models import Agent, AgentSettings, Memory, ModelEndpoint, ToolCall
from surfaces.models import Account, Message
from tests.dialogue.approvals.factories import MIRA, tools
from tests.factories import make_account, make_agent, make_message, make_post, make_presence
from tests.fakes.openai_chat import FakeOpenAI, Outcome

pytestmark = pytest.mark.django_db(transaction=True)
MINUTE, SECOND = timedelta(minutes=1), timedelta(seconds=1)
SHELL = ("shell", {"text": "ls"})


@pytest.fixture
def fake() -> Iterator[FakeOpenAI]:
    with FakeOpenAI() as server, tools():
        yield server


class House:
    """An agent whose every tool is granted, and rounds of the replier."""

    def __init__(self, fake: FakeOpenAI, **settings: Any) -> None:
        self.later = timedelta()
        self.account = make_account()
        given = {"voice": "model", "grants": ["*:*"], "has_memory": True, "spacing_seconds": 0}
        self.agent = make_agent(settings=given | settings)
        self.presence = make_presence(
            agent=self.agent, account=self.account, since=timezone.now() - timedelta(days=1)
        )
        ModelEndpoint.objects.create(
            agent=self.agent, model="openai-chat:fake", base_url=fake.url
        )  # fmt: skip

    def clock(self) -> datetime:
        return timezone.now() + self.later

    def comment(self) -> Message:
        moment = {"created_at": self.clock(), "seen_at": self.clock()}
        post = make_post(account=self.account, **moment)
        return make_message(post=post, content="What does the report leave out?", **moment)

    def round(self, after: timedelta = timedelta()) -> None:
        self.later += after
        with replier.ReplierPool() as crew:
            replier.run_round(crew, clock=self.clock)

    def approve(self) -> ToolCall:
        call = ToolCall.objects.get(state="waiting")
        approvals.approve(call, digest=call.digest, by=MIRA, now=self.clock())
        return call

    def set(self, **settings: Any) -> None:
        AgentSettings.objects.filter(agent=self.agent).update(**settings)

    def die_in(self, name: str, fake: FakeOpenAI, monkeypatch: pytest.MonkeyPatch) -> None:
        """The worker dies while a slow tool runs, and its lease runs out."""
        self.comment()
        fake.script(_calls((name, {"text": "pay"})))
        with monkeypatch.context() as patch:
            patch.setattr(ToolRun, "end", _die)
            self.round()
        self.later += 6 * MINUTE

    def ran(self) -> int:
        return Memory.objects.filter(agent=self.agent).count()


def _die(*_: Any, **__: Any) -> None:
    raise LeaseLost("the worker died")


def _calls(*asked: tuple[str, Any]) -> Outcome:
    return Outcome("calls", calls=asked)


def _state(call: ToolCall) -> str:
    return ToolCall.objects.values_list("state", flat=True).get(pk=call.pk)


def test_a_call_that_may_have_run_is_asked_when_another_activation_makes_it_again(
    fake, monkeypatch
):
    house = House(fake, on_external="allow")
    house.die_in("call_out", fake, monkeypatch)
    fake.script(_calls(("call_out", {"text": "pay"})))
    house.round()
    first, again = ToolCall.objects.order_by("pk")
    assert (first.state, again.state) == ("unknown", "waiting")
    assert again.why.code == CallReason.MAY_HAVE_RUN.value
    assert house.ran() <= 1


@pytest.mark.django_db(transaction=False)
def test_no_rule_and_no_mode_repeats_what_may_have_run():
    facts = {"risk": "external", "policy": "allow", "may_have_run": True}
    rules = [MatchingRule(pk=1, asks_when_untrusted=False)]
    assert decide(CallFacts(**facts, rules=rules)).answer == "ask"
    assert decide(CallFacts(**facts, rules=rules, approval_mode="policy")).answer == "deny"
    assert decide(CallFacts(**facts, approval_mode="skip")).answer == "skip"
    assert decide(CallFacts(**facts | {"risk": "read"})).answer == "allow"


def test_a_reading_that_a_death_interrupted_is_no_question_for_operators(fake, monkeypatch):
    house = House(fake)
    house.set(on_read="allow")
    house.die_in("peek", fake, monkeypatch)
    house.round()
    assert ToolCall.objects.get().state == "failed"


def test_a_task_that_waits_ends_when_its_account_is_taken_away(fake):
    house = House(fake)
    activations.run_now(house.presence, purpose="task", task="Look", by=MIRA, now=house.clock())
    fake.script(_calls(SHELL))
    house.round()
    presences.leave(house.presence, by=MIRA, now=house.clock())
    house.round()
    assert Activation.objects.get().state == "released"
    assert ToolCall.objects.get().state == "stale"
    assert not Conversation.objects.exists()


def test_a_task_whose_post_is_refused_has_failed_and_is_not_left_for_later(fake):
    house = House(fake, posts_per_day=0)
    activations.run_now(house.presence, purpose="task", task="Look", by=MIRA, now=house.clock())
    house.round()
    activation = Activation.objects.get()
    assert (activation.state, activation.items.get().state) == ("failed", "failed")
    assert "0 of 0 posts allowed" in str(activation.outcome)
    assert Agent.objects.get().failures == 1


@pytest.mark.parametrize("what", ["hours", "mode"])
def test_an_approved_call_says_what_keeps_its_agent_from_going_on(fake, what):
    house = House(fake)
    house.comment()
    fake.script(_calls(SHELL))
    house.round()
    if what == "hours":
        begin = time((timezone.now().hour + 12) % 24)
        Agent.objects.update(active_from=begin, active_to=begin.replace(minute=30))
    else:
        Account.objects.update(mode="off")
    call = house.approve()
    house.round()
    call.refresh_from_db()
    assert (call.state, call.why.code) == ("approved", "approval.approved_waits")
    assert house.ran() == 0


def test_a_second_decision_in_a_conversation_is_followed_at_once(fake):
    house = House(fake)
    house.comment()
    fake.script(_calls(SHELL), _calls(("shell", {"text": "pwd"})))
    house.round()
    house.approve()
    house.round()
    second = house.approve()
    house.round(after=SECOND)
    assert _state(second) == "done"
    assert Activation.objects.get().state == "done"


def test_an_attempt_whose_voice_was_asked_before_it_waited_stays_counted(fake):
    house = House(fake)
    comment = house.comment()
    fake.script(_calls(SHELL))
    house.round()
    house.approve()
    spent = Activation.objects.get().cost
    house.set(money_per_day=spent + spent / 100)
    house.round()
    comment.refresh_from_db()
    assert (Activation.objects.get().state, comment.reply_attempts) == ("exhausted", 1)


def test_an_approved_call_does_not_run_where_no_model_is_left(fake):
    house = House(fake)
    house.comment()
    fake.script(_calls(SHELL))
    house.round()
    ModelEndpoint.objects.all().delete()
    call = house.approve()
    house.round()
    assert (_state(call), house.ran()) == ("stale", 0)
