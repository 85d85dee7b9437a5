"""Read the facts about one tool call for `policy.decide`, and count the rule that answered."""

from dataclasses import replace
from datetime import datetime

from django.db.models import F, Q

from dialogue.agents.models.settings import ToolRisk
from dialogue.approvals import rules
from dialogue.approvals.arguments import built
from dialogue.approvals.models import ToolCall, ToolCallQuerySet, ToolCallState
from dialogue.approvals.policy import CallFacts, CallVerdict, MatchingRule, decide
from dialogue.approvals.preconditions import is_granted, policy_of
from dialogue.models import AgentSettings
from dialogue.tools.base import Tool
from surfaces.models import Account

HARMLESS = {ToolRisk.READ, ToolRisk.WRITE}  # nobody else notices


def verdict_of(
    call: ToolCall, tool: Tool, account: Account, settings: AgentSettings, *, now: datetime
) -> CallVerdict:
    same = ToolCall.objects.filter(agent=call.agent_id, digest=call.digest).exclude(pk=call.pk)
    waiting = [ToolCallState.WAITING, ToolCallState.APPROVED]
    denied = same.filter(state=ToolCallState.DENIED, decided_by__startswith="operator:")
    fitting = rules.matching(call.agent_id, call.tool, call.arguments, now=now)
    facts = CallFacts(
        risk=tool.risk, policy=policy_of(settings, tool.risk), account_mode=account.mode,
        approval_mode=settings.approval_mode, is_untrusted=call.is_untrusted,
        is_granted=is_granted(settings, tool, account, built(tool, call.arguments)),
        keeps_trust=tool.scope.startswith("memory:"), was_denied=denied.exists(),
        is_waiting=same.filter(state__in=waiting).exists(),
        has_run=earlier_calls(call).filter(state=ToolCallState.DONE).exists(),
        may_have_run=tool.risk not in HARMLESS
        and any(rows.filter(state=ToolCallState.UNKNOWN) for rows in (same, earlier_calls(call))),
        rules=[
            MatchingRule(pk=rule.pk, asks_when_untrusted=rule.asks_when_untrusted)
            for rule in fitting
        ],
    )  # fmt: skip
    verdict = decide(facts)
    while verdict.rule and not rules.count_hit(verdict.rule, now=now):  # revoked meanwhile
        left = [rule for rule in facts.rules if rule.pk != verdict.rule]
        facts = replace(facts, rules=left)
        verdict = decide(facts)
    return verdict


def earlier_calls(call: ToolCall) -> ToolCallQuerySet:
    """The same call about the same comment, by earlier activations."""
    calls = ToolCall.objects.filter(agent=call.agent_id, item__notification=call.item.notification)
    if call.item.notification_id is None or call.risk in HARMLESS:
        return calls.none()
    # One that an operator edited has the digest of what ran.
    edited = Q(tool=call.tool, asked_arguments=call.arguments) & ~Q(arguments=F("asked_arguments"))
    return calls.filter(Q(digest=call.digest) | edited).exclude(item=call.item)
