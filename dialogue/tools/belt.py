"""The tools of one item: what is offered, and what becomes of each call.

    counted ─> understood ─> recorded ─> decided ─> runs | waits | is refused ─> told
               (schema)      (a row)     (policy)

Each step commits before the next. Whatever the model did ends as a text that it is told.
"""

import time
from asyncio import wait_for, wrap_future
from collections.abc import Callable, Coroutine, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, ParamSpec, TypeVar

from asgiref.sync import sync_to_async
from django.db import IntegrityError, transaction

from dialogue.activations import limits
from dialogue.activations import services as activation_services
from dialogue.activations.models import ActivationItem
from dialogue.agents.models.settings import ToolRisk, VoiceKind
from dialogue.approvals.arguments import BadArguments, built, digest_of, parsed
from dialogue.approvals.conversation_sources import shown_so_far, with_prompt
from dialogue.approvals.endings import end_undone, marked, storable
from dialogue.approvals.execution import ToolRun, record_return, told_again
from dialogue.approvals.models import ENDED, ToolCall, ToolCallState
from dialogue.approvals.policy import CallAction, CallReason
from dialogue.approvals.preconditions import find_obstacle, is_granted, is_usable, read_call
from dialogue.approvals.verdicts import HARMLESS, earlier_calls, verdict_of
from dialogue.errors import LeaseLost
from dialogue.models import AgentSettings
from dialogue.tools.base import LONGEST_ARGUMENTS, Tool, ToolContext
from dialogue.tools.provenance import says, trace
from dialogue.tools.registry import TOOLS
from dialogue.tools.results import masked, secrets_of
from dialogue.voice.base import Brief, CallOutcome, ToolBelt, ToolOffer
from surfaces.models import Account, AuditEvent
from surfaces.text.reasons import StoredReason, as_reason, reason

Clock = Callable[[], datetime]
P = ParamSpec("P")
T = TypeVar("T")
MOST_SHOWN = 4_000  # characters of arguments in the transcript; the row has all of them
RAN_BEFORE = "This call ran in an earlier attempt and is not repeated. It returned:"
UNKNOWN_RISK = ToolRisk.EXTERNAL  # of a tool that does not exist
AUDITED = {
    ToolCallState.DENIED: "tool_call.refused",
    ToolCallState.STALE: "tool_call.went_stale",
}


def belt_of(item: ActivationItem, *, clock: Clock) -> "AgentBelt | None":
    """The tools of an item, or None where its agent has none and no call of it is left to tell.

    What an operator approved runs with every voice.
    """
    belt = AgentBelt(item, clock)
    if item.tool_calls.exists():
        return belt
    settings = AgentSettings.objects.get(agent=item.activation.agent_id)
    return belt if settings.voice == VoiceKind.MODEL and belt.offered() else None


@dataclass(frozen=True, kw_only=True, slots=True)
class AskedCall:
    """What a model asked for, as far as it can be understood."""

    name: str
    tool: Tool | None = None
    arguments: dict[str, Any] = field(default_factory=dict)
    sources: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    problem: StoredReason | None = None  # why it cannot even be decided on
    ends_as: ToolCallState = ToolCallState.DENIED  # with a problem


class AgentBelt(ToolBelt):
    """Thread-safe as far as calls of one answer go: each step runs in the voice's own thread."""

    def __init__(self, item: ActivationItem, clock: Clock) -> None:
        self.item, self.clock = item, clock
        self.activation = item.activation

    def offered(self) -> list[ToolOffer]:
        settings, account = self._settings(), self._account()
        return [
            ToolOffer(
                name=tool.name, description=tool.description,
                schema=tool.arguments.model_json_schema(),
            )
            for tool in TOOLS.values()
            if is_usable(tool, settings, account)
        ]  # fmt: skip

    def show(self, brief: Brief) -> None:
        """Keep what the prompt shows the model of other people's words."""
        ActivationItem.objects.filter(pk=self.item.pk).update(shown=with_prompt(self.item, brief))

    async def call(self, name: str, arguments: str, *, call_id: str) -> CallOutcome:
        run = await _here(self._begin)(name, arguments, call_id)
        if isinstance(run, ToolRun) and run.tool.prepare:
            began = time.monotonic()
            done = await _waited(run.prepare(), run.tool)
            if isinstance(done, Exception):
                return await _here(run.end)(done, clock=self.clock, began=began)
        if isinstance(run, ToolRun):
            run = await _here(self._decide)(run.call.pk)
        if isinstance(run, ToolRun):  # a slow one, which is running from now on
            began = time.monotonic()
            run = await _here(run.end)(
                await _waited(run.start(), run.tool), clock=self.clock, began=began
            )
        return run

    def decided(self) -> Mapping[str, CallOutcome]:
        asked = self.item.tool_calls.exclude(expires_at=None).order_by("pk")
        steps = self.activation.steps.filter(kind="returned", item=self.item)
        told = set(steps.values_list("facts__call", flat=True))
        outcomes = {}
        for pk, call_id in asked.values_list("pk", "call_id"):
            outcome = self._after_decision(pk, is_told=pk in told)
            if isinstance(outcome, ToolRun):
                outcome = outcome.wait(self.clock)
            outcomes[call_id] = outcome
        return outcomes

    # ── a call ────────────────────────────────────────────────────────────

    def _begin(self, name: str, text: str, call_id: str) -> CallOutcome | ToolRun:
        """Count the call and make its row: to be decided on, or told at once why not."""
        secrets = secrets_of(self.activation.agent)
        asked = self._understood(masked(storable(name), secrets)[:80], text, secrets)
        return self._propose(asked, text, call_id[:100])

    def _understood(self, name: str, text: str, secrets: Sequence[str]) -> AskedCall:
        tool = TOOLS.get(name)
        if tool is None:
            return AskedCall(name=name, problem=reason("approval.unknown_tool", tool=name))
        try:
            arguments = parsed(tool, text)
            if any(says(arguments, secret) for secret in secrets):
                raise BadArguments("They hold a credential. Leave it out, in every form.")
        except BadArguments as error:
            why = reason("approval.bad_arguments", tool=name, problems=str(error))
            return AskedCall(name=name, tool=tool, problem=why, ends_as=ToolCallState.FAILED)
        given = built(tool, arguments)
        if not is_granted(self._settings(), tool, self._account(), given):
            why = reason("approval.not_granted", tool=name)
            return AskedCall(name=name, tool=tool, problem=why, arguments=arguments)
        sources = marked(trace(arguments, shown_so_far(self.item)))
        return AskedCall(name=name, tool=tool, arguments=arguments, sources=sources)

    @transaction.atomic
    def _propose(self, asked: AskedCall, text: str, call_id: str) -> CallOutcome | ToolRun:
        now, activation = self.clock(), self.activation
        limits.count_call(activation, self._settings(), now=now)
        about = self.item.notification
        call = ToolCall(
            agent=activation.agent, presence=activation.presence, activation=activation,
            item=self.item, call_id=call_id, tool=asked.name, made_at=now,
            risk=asked.tool.risk if asked.tool else UNKNOWN_RISK, arguments=asked.arguments,
            asked_arguments=asked.arguments, sources=asked.sources,
            thread=about.message.post if about and about.message else None,
        )  # fmt: skip
        call.digest = digest_of(call)
        try:
            with transaction.atomic():
                call.save(force_insert=True)
        except IntegrityError as error:
            if "tool_call_once_per_item" not in str(error):
                raise
            return self._made_before(call)
        shown = masked(text[:LONGEST_ARGUMENTS], secrets_of(activation.agent))
        facts = {"call": call.pk, "tool": call.tool, "arguments": shown[:MOST_SHOWN]}
        activation_services.record_step(activation, "called", now=now, facts=facts, item=self.item)
        if asked.problem or asked.tool is None:
            return self._refuse(call, asked.ends_as, as_reason(asked.problem), now=now)
        return self._run_of(call, asked.tool, self._account(), now=now)

    def _made_before(self, call: ToolCall) -> CallOutcome:
        """The same call, repeated by a conversation that began anew, has the outcome it had."""
        first = ToolCall.objects.get(item=self.item, call_id=call.call_id)
        if first.digest == call.digest and first.state in ENDED:
            return told_again(first)
        return CallOutcome(text="Another call of this id was made before.", is_error=True)

    @transaction.atomic
    def _decide(self, pk: int) -> CallOutcome | ToolRun:
        """Decide, and let it wait, refuse it, or run it; a slow tool is left to run."""
        now, settings = self.clock(), self._settings()
        call, account = self._locked(pk)
        tool = TOOLS[call.tool]
        verdict = verdict_of(call, tool, account, settings, now=now)
        why = reason(verdict.why.value, tool=call.tool, pk=str(verdict.rule or ""))
        if verdict.why == CallReason.RAN_BEFORE:
            return self._told_before(call, why, now=now)
        if verdict.answer == CallAction.ASK:
            expires_at = now + timedelta(hours=settings.approval_hours)
            call.advance(ToolCallState.WAITING, why=why, expires_at=expires_at)
            return CallOutcome(is_waiting=True, why=why)
        if verdict.answer != CallAction.ALLOW:
            return self._refuse(call, ToolCallState.DENIED, why, now=now)
        if tool.risk not in HARMLESS and (found := find_obstacle(call, now=now, is_fresh=True)):
            return self._refuse(call, ToolCallState.DENIED, found.why, now=now)
        by = f"rule:{verdict.rule}" if verdict.rule else "policy"
        if verdict.rule:
            facts = {"tool": call.tool, "digest": call.digest}
            AuditEvent.objects.record("tool_call.allowed", actor=by, subject=call, **facts)
        run = self._run_of(call, tool, account, now=now)
        return self._go(run, rule_id=verdict.rule, decided_by=by, decided_at=now)

    @transaction.atomic
    def _after_decision(self, pk: int, *, is_told: bool) -> CallOutcome | ToolRun:
        """What an operator decided; an approved call runs now, as it was approved, or is stale."""
        now = self.clock()
        call, account = self._locked(pk)
        if call.state in ENDED or (is_told and call.state == ToolCallState.UNKNOWN):
            if not is_told:
                record_return(self.activation, call, now=now)
            return told_again(call)
        if call.state != ToolCallState.APPROVED or (call.not_before and call.not_before > now):
            return CallOutcome(is_waiting=True, why=call.why)
        found = find_obstacle(call, now=now)
        if found and found.passes:
            why = reason("approval.approved_waits", why=found.why)
            ToolCall.objects.filter(pk=pk, state=call.state).update(why=why)
            return CallOutcome(is_waiting=True, why=why)
        if found:
            return self._refuse(call, ToolCallState.STALE, found.why, now=now)
        if call.approved_digest != call.digest:
            return self._refuse(call, ToolCallState.STALE, reason("approval.changed"), now=now)
        return self._go(self._run_of(call, TOOLS[call.tool], account, now=now))

    def _go(self, run: ToolRun, **facts: Any) -> CallOutcome | ToolRun:
        """Run it here if it is quick; a slow one begins when this is committed."""
        run.begin(**facts)
        return run if run.tool.is_slow else run.run_here(self.clock)

    def _run_of(self, call: ToolCall, tool: Tool, account: Account, *, now: datetime) -> ToolRun:
        context = ToolContext(
            activation=self.activation, item=self.item, account=account, thread=call.thread,
            now=now, call_key=call.ledger_name, shown=tuple(shown_so_far(self.item)),
        )  # fmt: skip
        return ToolRun(
            call=call, tool=tool, context=context, arguments=built(tool, call.arguments),
            secrets=secrets_of(self.activation.agent),
        )  # fmt: skip

    def _refuse(
        self, call: ToolCall, state: ToolCallState, why: StoredReason, *, now: datetime
    ) -> CallOutcome:
        facts = {"decided_by": "policy", "decided_at": now} if state == ToolCallState.DENIED else {}
        end_undone(call, state, why, now=now, **facts)
        record_return(self.activation, call, now=now)
        if action := AUDITED.get(state):
            actor = self.activation.agent.ledger_name
            AuditEvent.objects.record(action, actor=actor, subject=call, why=why, tool=call.tool)
        return CallOutcome(text=call.result, is_error=True, why=why)

    def _told_before(self, call: ToolCall, why: StoredReason, *, now: datetime) -> CallOutcome:
        """The result that it had in an earlier activation."""
        earlier = earlier_calls(call).filter(state=ToolCallState.DONE).latest("pk")
        call.advance(
            ToolCallState.DENIED, why=why, result=f"{RAN_BEFORE} {earlier.result}",
            shown=earlier.shown, decided_by="policy", decided_at=now, ended_at=now,
        )  # fmt: skip
        record_return(self.activation, call, now=now)
        return CallOutcome(text=call.result, why=why)

    # ── what it asks ──────────────────────────────────────────────────────

    def _locked(self, pk: int) -> tuple[ToolCall, Account]:
        """The call and its account as they are now. Raises `LeaseLost`."""
        if not self.activation.mine().select_for_update().exists():
            raise LeaseLost(f"activation {self.activation.pk} was taken back")
        risk = ToolCall.objects.values_list("risk", flat=True).get(pk=pk)
        publishes = risk == ToolRisk.PUBLISH
        speaking = activation_services.account_to_speak_from
        account = speaking(self.activation) if publishes else self._account()
        return read_call(pk), account

    def _settings(self) -> AgentSettings:
        return AgentSettings.objects.get(agent=self.activation.agent_id)

    def _account(self) -> Account:
        rows = Account.objects.select_related("surface")
        return rows.get(presences=self.activation.presence_id)


def _here(step: Callable[P, T]) -> Callable[P, Coroutine[Any, Any, T]]:
    """Run it in the thread that the voice was called in, which has the connection."""
    return sync_to_async(step, thread_sensitive=True)


async def _waited(work: Future[Any], tool: Tool) -> Any:
    """What it returns, or the error it ends with; `TimeoutError` after the tool's time."""
    try:
        return await wait_for(wrap_future(work), tool.timeout)
    except Exception as error:  # noqa: BLE001 - told to the model, and logged if it is ours
        return error
