"""A model with tools, through the whole loop: round, decision, voice, belt, operator, draft.

However a conversation ends, its transcript tells all of it in order, no reservation is held, and
activation, item, calls and notification say the same.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest

from dialogue import replier
from dialogue.approvals import services as approvals
from dialogue.models import (
    Activation,
    ActivationItem,
    AgentSettings,
    Conversation,
    Memory,
    ModelEndpoint,
    Notification,
    Reservation,
    ToolCall,
)
from dialogue.tools.registry import TOOLS
from surfaces.errors import StaleState
from surfaces.models import AuditEvent, Draft, Message
from tests.dialogue.approvals.factories import tools
from tests.factories import NOON, make_message, make_presence
from tests.fakes.openai_chat import FakeOpenAI, Outcome

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.story]
MIRA = "operator:mira"
SECOND, HOUR = timedelta(seconds=1), timedelta(hours=1)
BEGUN = ["asked", "answered"]
CALL = ["called", "returned"]
CHECKED = [*BEGUN, "checked"]
SUSPENDED = [*BEGUN, "called", "suspended"]


@pytest.fixture
def openai() -> Iterator[FakeOpenAI]:
    with FakeOpenAI() as fake, tools():
        yield fake


def calls(*asked: tuple[str, Any], name: str = "calls") -> Outcome:
    return Outcome(name, calls=[(tool, _arguments(given)) for tool, given in asked])


def _arguments(given: Any) -> Any:
    return {"text": given[1:]} if isinstance(given, str) and given.startswith("=") else given


class Talk:
    """An agent with every tool, one comment, and a clock that a test moves."""

    def __init__(self, openai: FakeOpenAI, *, streams: bool = True, **settings: Any) -> None:
        ordinary = {
            "voice": "model", "grants": ["*:*"], "has_memory": True, "spacing_seconds": 0,
            "timeout_seconds": 5, "mode": "review",
        }  # fmt: skip
        self.presence = make_presence(settings=ordinary | settings)
        self.agent, self.account = self.presence.agent, self.presence.account
        ModelEndpoint.objects.create(
            agent=self.agent, model="openai-chat:fake", base_url=openai.url, streams=streams
        )
        self.openai, self.now = openai, NOON
        self.comment = make_message(account=self.account, author="ana",
                                    content="Is a tide table a kind of promise?")  # fmt: skip

    def clock(self) -> datetime:
        self.now += timedelta(milliseconds=1)
        return self.now

    def round(self, *outcomes: Any, after: timedelta = timedelta()) -> replier.RoundReport:
        self.now += after
        # As if the watcher had read it: nothing answers at its account.
        Message.objects.filter(kind="post").update(thread_read_at=self.now)
        self.openai.script(*outcomes)
        with replier.ReplierPool() as crew:
            return replier.run_round(crew, clock=self.clock)

    def set(self, **settings: Any) -> None:
        AgentSettings.objects.filter(agent=self.agent).update(**settings)

    # ── what came of it ────────────────────────────────────────────────────

    @property
    def call(self) -> ToolCall:
        return ToolCall.objects.get()

    @property
    def notification(self) -> Notification:
        return Notification.objects.get()

    def kinds(self) -> list[str]:
        steps = [*Activation.objects.latest("id").steps.all()]
        assert [step.number for step in steps] == [*range(1, len(steps) + 1)]
        assert all(step.item_id for step in steps if step.kind != "resumed")
        return [step.kind for step in steps]

    def states(self) -> tuple[str, str, list[str]]:
        """Of the activation, its item and its calls."""
        activation = Activation.objects.latest("id")
        item = activation.items.get()
        return activation.state, item.state, [call.state for call in item.tool_calls.order_by("pk")]

    def ended(self, *states: Any) -> None:
        """Nothing is under way any more, and nothing is held."""
        assert self.states() == (states[0], states[1], list(states[2:]))
        assert not Reservation.objects.filter(settled_at=None).exists()
        is_over = states[0] != "waiting"
        assert Conversation.objects.exists() is not is_over
        activation, item = Activation.objects.latest("id"), ActivationItem.objects.latest("id")
        assert (activation.ended_at is not None) is (item.ended_at is not None) is is_over
        assert activation.outcome
        assert item.why
        assert ToolCall.objects.filter(ended_at=None).exists() is not is_over
        spent = sum((step.cost for step in activation.steps.all()), Decimal(0))
        assert activation.cost == spent
        assert activation.requests == self.kinds().count("asked") or not is_over

    def answered(self, *calls: str) -> None:
        """One draft that waits, and the notification has it."""
        self.ended("done", "drafted", *calls)
        draft = Draft.objects.get(target=self.comment)
        assert (draft.state, self.notification.draft) == ("waiting", draft)
        assert self.notification.read_at is None
        assert Activation.objects.latest("id").draft == draft

    def unanswered(self) -> None:
        """It is looked at again later."""
        assert not Draft.objects.exists()
        note = self.notification
        assert (note.draft, note.read_at) == (None, None)
        assert note.look_at is not None
        assert note.look_at >= NOON

    def told(self, number: int = -1) -> list[str]:
        return self.openai.requests[number].results

    def ran(self) -> list[str]:
        return [*Memory.objects.order_by("pk").values_list("words", flat=True)]


# ── answers and calls ─────────────────────────────────────────────────────


@pytest.mark.parametrize("streams", [True, False])
def test_an_answer_at_once(openai, streams):
    talk = Talk(openai, streams=streams)
    done = talk.round()
    assert (done.new, done.drafted, done.failed, done.suspended) == (1, 1, 0, 0)
    assert set(openai.requests[0].offered) >= {"look", "shell", "post", "write"}
    assert talk.kinds() == CHECKED
    talk.answered()


@pytest.mark.parametrize("streams", [True, False])
def test_a_tool_then_an_answer(openai, streams):
    talk = Talk(openai, streams=streams)
    talk.round(calls(("save", "=low water")))
    assert talk.kinds() == [*BEGUN, *CALL, *CHECKED]
    assert "kept low water" in talk.told()[0]
    assert talk.ran() == ["low water"]
    talk.answered("done")


def test_several_tools_at_once(openai):
    talk = Talk(openai)
    talk.round(calls(("save", "=a"), ("peek", "=b"), ("save", "=c"), ("peek", "=d")))
    kinds = talk.kinds()
    assert sorted(kinds) == sorted([*BEGUN, *CALL * 4, *CHECKED])
    assert kinds[:2] + kinds[-3:] == [*BEGUN, *CHECKED]
    assert [f"kept {word}" in told for word, told in zip("abcd", talk.told(), strict=True)] == [
        True
    ] * 4
    assert sorted(talk.ran()) == ["a", "b", "c", "d"]
    talk.answered(*["done"] * 4)


def test_an_unknown_tool(openai):
    talk = Talk(openai)
    talk.round(calls(("rm_rf", {"path": "/"})))
    assert talk.kinds() == [*BEGUN, *CALL, *CHECKED]
    assert "rm_rf" in talk.told()[0]
    assert AuditEvent.objects.filter(action="tool_call.refused").count() == 1
    talk.answered("denied")


def test_a_tool_that_is_not_granted(openai):
    talk = Talk(openai, grants=["fs:write"])
    talk.round(calls(("shell", "=ls")))
    assert openai.requests[0].offered == ["save", "write"]
    assert talk.kinds() == [*BEGUN, *CALL, *CHECKED]
    assert "grant" in talk.told()[0]
    assert AuditEvent.objects.filter(action="tool_call.refused").count() == 1
    assert talk.ran() == []
    talk.answered("denied")


@pytest.mark.parametrize(
    "given",
    ['{"text": ', "[]", {"text": 5}, {}, {"text": "x", "sudo": True}, '{"text": "\\ud800"}'],
)
def test_bad_arguments(openai, given):
    talk = Talk(openai)
    talk.round(calls(("save", given)))
    assert talk.kinds() == [*BEGUN, *CALL, *CHECKED]
    assert len(talk.told()) == 1
    assert talk.ran() in ([], ["?"])
    talk.answered("failed" if talk.ran() == [] else "done")


def test_a_tool_that_takes_too_long(openai):
    talk = Talk(openai)
    talk.round(calls(("peek", {"text": "slow", "community": "0.9"})))
    assert talk.kinds() == [*BEGUN, *CALL, *CHECKED]
    assert "took longer than 0.5 seconds" in talk.told()[0]
    talk.answered("failed")


@pytest.mark.parametrize("text", ["gone", "ours", "rule"])
def test_a_tool_that_fails(openai, text):
    talk = Talk(openai)
    talk.round(calls(("break", f"={text}")))
    assert talk.kinds() == [*BEGUN, *CALL, *CHECKED]
    assert "secret of ours" not in talk.told()[0]
    assert talk.ran() == [], "what a failed tool wrote is undone"
    talk.answered("failed")


def test_a_fatal_error_ends_the_loop(openai):
    talk = Talk(openai)
    done = talk.round(calls(("break", "=fatal"), ("save", "=beside it")))
    assert (done.drafted, done.failed) == (0, 1)
    assert len(openai.requests) == 1
    kinds = talk.kinds()
    assert kinds[:2] == BEGUN
    assert kinds.count("called") == kinds.count("returned")
    assert "credential is refused" in str(Activation.objects.get().outcome)
    assert talk.states()[:2] == ("failed", "failed")
    assert talk.states()[2][0] == "failed"
    assert not Reservation.objects.filter(settled_at=None).exists()
    talk.unanswered()
    talk.round(after=HOUR)
    talk.answered()


# ── what a person decides ─────────────────────────────────────────────────


def waiting(openai: FakeOpenAI, **settings: Any) -> Talk:
    """A call of the shell that waits for an operator."""
    talk = Talk(openai, **settings)
    done = talk.round(calls(("shell", "=ls")))
    assert (done.suspended, done.drafted) == (1, 0)
    assert talk.kinds() == SUSPENDED
    talk.ended("waiting", "waiting", "waiting")
    assert (talk.notification.draft, talk.notification.look_at) == (None, None)
    again = talk.round(after=SECOND)
    assert (again.resumed, again.drafted, len(openai.requests)) == (0, 0, 1), "nobody decided"
    return talk


def went_on(talk: Talk, *, state: str) -> None:
    done = talk.round(after=SECOND)
    assert (done.resumed, done.drafted) == (1, 1)
    assert talk.kinds() == [*SUSPENDED, "resumed", "returned", *CHECKED]
    assert Activation.objects.count() == 1
    talk.answered(state)
    assert talk.round(after=SECOND).did == 0


def test_an_approved_call_runs_once_and_the_conversation_goes_on(openai):
    talk = waiting(openai)
    approvals.approve(talk.call, digest=talk.call.digest, by=MIRA, now=talk.clock())
    went_on(talk, state="done")
    assert talk.ran() == ["ls"]
    assert "kept ls" in talk.told()[0]
    assert talk.call.decided_by == MIRA


def test_an_edited_call_runs_as_it_was_edited(openai):
    talk = waiting(openai)
    approvals.approve(
        talk.call, digest=talk.call.digest, by=MIRA, now=talk.clock(), arguments={"text": "pwd"}
    )
    went_on(talk, state="done")
    assert talk.ran() == ["pwd"]
    assert talk.call.asked_arguments["text"] == "ls"


def test_a_denied_call_does_not_run_and_the_model_reads_why(openai):
    talk = waiting(openai)
    approvals.deny(talk.call, words="Ask Tomas first.", by=MIRA, now=talk.clock())
    went_on(talk, state="denied")
    assert talk.ran() == []
    assert "Ask Tomas first." in talk.told()[0]


def test_an_expired_call_counts_as_denied(openai):
    talk = waiting(openai, approval_hours=1)
    talk.now += 2 * HOUR
    went_on(talk, state="expired")
    assert talk.ran() == []
    assert "Nothing was done." in talk.told()[0]


def test_a_call_that_can_no_longer_run_is_stale_and_the_model_is_told(openai):
    talk = waiting(openai)
    talk.set(on_execute="deny")
    with pytest.raises(StaleState):
        approvals.approve(talk.call, digest=talk.call.digest, by=MIRA, now=talk.clock())
    went_on(talk, state="stale")
    assert talk.ran() == []


def test_a_call_that_changed_between_its_approval_and_its_run_is_stale(openai, monkeypatch):
    talk = waiting(openai)
    approvals.approve(talk.call, digest=talk.call.digest, by=MIRA, now=talk.clock())
    talk.set(grants=["fs:write"])
    went_on(talk, state="stale")
    assert talk.ran() == []


def test_a_comment_that_was_edited_meanwhile_is_decided_anew(openai):
    talk = waiting(openai)
    approvals.approve(talk.call, digest=talk.call.digest, by=MIRA, now=talk.clock())
    words = "Is a tide table a kind of threat?"
    Message.objects.filter(pk=talk.comment.pk).update(content=words, edited_at=talk.clock())
    talk.round(after=SECOND)
    first, second = Activation.objects.order_by("id")
    assert (first.state, first.items.get().state) == ("released", "released")
    assert (talk.call.state, talk.ran()) == ("stale", [])
    assert [step.kind for step in first.steps.all()] == SUSPENDED
    assert words in openai.requests[-1].user
    assert talk.kinds() == CHECKED
    talk.answered()
    assert second.number == first.number + 1


def test_two_calls_wait_for_both_decisions(openai):
    talk = Talk(openai)
    talk.round(calls(("shell", "=one"), ("call_out", "=two"), ("save", "=three")))
    talk.ended("waiting", "waiting", "waiting", "waiting", "done")
    one, two, _ = ToolCall.objects.order_by("pk")
    approvals.approve(one, digest=one.digest, by=MIRA, now=talk.clock())
    assert talk.round(after=SECOND).resumed == 0
    approvals.approve(two, digest=two.digest, by=MIRA, now=talk.clock())
    assert talk.round(after=SECOND).resumed == 1
    assert talk.ran() == ["three", "one", "two"]
    told = talk.told()
    assert [word in said for word, said in zip(["one", "two", "three"], told, strict=True)] == [
        True
    ] * 3
    talk.answered("done", "done", "done")


# ── limits ────────────────────────────────────────────────────────────────


def at_its_limit(talk: Talk, why: str) -> None:
    activation = Activation.objects.get()
    assert (activation.state, activation.items.get().state) == ("exhausted", "failed")
    assert activation.outcome.code == f"activation.{why}"
    assert not Reservation.objects.filter(settled_at=None).exists()
    kinds = talk.kinds()
    assert kinds.count("called") == kinds.count("returned")
    assert kinds.count("asked") == kinds.count("answered")
    talk.unanswered()


def test_the_limit_of_requests(openai):
    talk = Talk(openai, max_iterations=3)
    talk.round(*[calls(("save", f"={n}")) for n in range(9)])
    assert talk.kinds() == [*BEGUN, *CALL] * 3
    assert talk.ran() == ["0", "1", "2"], "what was done so far stays done"
    at_its_limit(talk, "iterations_used")


def test_the_limit_of_tool_calls_holds_for_calls_of_one_answer_too(openai):
    talk = Talk(openai, max_tool_calls=3)
    talk.round(calls(*[("save", f"={n}") for n in range(100)]))
    assert talk.kinds().count("called") == 3
    assert len(talk.ran()) == 3
    assert len(openai.requests) == 1
    at_its_limit(talk, "calls_used")


def test_the_limit_of_tokens(openai):
    talk = Talk(openai, tokens_per_run=4_500)
    talk.round(*[calls(("save", f"={n}")) for n in range(9)])
    assert 1 <= talk.kinds().count("asked") < 5
    assert Activation.objects.get().tokens_in <= 4_500
    at_its_limit(talk, "tokens_used")


def test_the_limit_of_money(openai):
    talk = Talk(openai, money_per_run=Decimal("0.06"), price_in=10, price_out=20)
    talk.round(*[calls(("save", f"={n}")) for n in range(9)])
    assert 1 <= talk.kinds().count("asked") < 9
    assert Activation.objects.get().cost <= Decimal("0.06")
    at_its_limit(talk, "money_used")


def test_the_limit_of_time(openai):
    talk = Talk(openai, seconds_per_run=10)
    lengthy = replace(TOOLS["save"], name="lengthy", run=lambda context, given: later(talk, given))
    with tools(lengthy):
        talk.round(*[calls(("lengthy", f"={n}")) for n in range(9)])
    assert talk.kinds().count("asked") == 2
    at_its_limit(talk, "time_used")


def later(talk: Talk, given: Any) -> Any:
    from dialogue.tools.base import ToolResult

    talk.now += 6 * SECOND
    return ToolResult(text="at last")


# ── the model ─────────────────────────────────────────────────────────────


def test_a_context_that_is_too_long_is_shortened_without_repeating_a_call(openai):
    talk = Talk(openai)
    talk.round(calls(("save", "=" + "tide " * 2_000)), "context_too_long")
    kinds = talk.kinds()
    assert kinds == [*BEGUN, *CALL, "asked", "failed", *CHECKED]
    assert len(talk.ran()) == 1
    talk.answered("done")


def test_a_context_that_stays_too_long_is_a_failed_attempt(openai):
    talk = Talk(openai)
    done = talk.round(calls(("save", "=low water")), *["context_too_long"] * 9)
    assert done.failed == 1
    kinds = talk.kinds()
    assert kinds[:4] == [*BEGUN, *CALL]
    assert kinds.count("asked") == kinds.count("answered") + kinds.count("failed")
    talk.ended("failed", "failed", "done")
    talk.unanswered()


@pytest.mark.parametrize("streams", [True, False])
@pytest.mark.parametrize("cut", ["cut", "cut-before", "calls-cut"])
def test_a_cut_connection_is_a_failed_attempt_and_the_next_one_answers(openai, cut, streams):
    talk = Talk(openai, streams=streams)
    talk.round(calls(("save", "=low water")), calls(("save", "=never"), name=cut))
    assert talk.kinds() == [*BEGUN, *CALL, "asked", "failed"]
    assert talk.ran() == ["low water"]
    talk.ended("failed", "failed", "done")
    talk.unanswered()
    openai._next.clear()
    talk.round(after=HOUR)
    talk.answered()
    assert Message.objects.get(pk=talk.comment.pk).reply_attempts == 2


def test_a_connection_cut_after_an_approval_runs_nothing_twice(openai):
    talk = waiting(openai)
    approvals.approve(talk.call, digest=talk.call.digest, by=MIRA, now=talk.clock())
    talk.round("cut", after=SECOND)
    assert talk.kinds() == [*SUSPENDED, "resumed", "returned", "asked", "failed"]
    talk.ended("failed", "failed", "done")
    talk.round(after=HOUR)
    talk.answered()
    assert talk.ran() == ["ls"]
