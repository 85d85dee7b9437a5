"""Rules of operators: always allow this tool with arguments like these, for this agent."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import F
from django.utils.translation import gettext_lazy as _lazy

from dialogue.approvals.endings import storable
from dialogue.approvals.models import ApprovalRule, ToolCall
from dialogue.approvals.patterns import matches
from dialogue.models import Agent
from dialogue.tools.registry import TOOLS
from surfaces.errors import BadInput, StaleState
from surfaces.models import AuditEvent

LONGEST_PATTERN = 2_000  # characters
MOST_RULES = 100  # live ones of one agent
MOST_READ = 1_000  # newest calls that `effect` looks at
MOST_SHOWN = 20  # of each kind


@dataclass(slots=True)
class RuleEffect:
    """What a rule would have done to stored calls, newest first."""

    allowed: list[ToolCall] = field(default_factory=list)  # asked, and it would have let through
    denied: list[ToolCall] = field(default_factory=list)  # of this tool, denied by operators
    untrusted: list[ToolCall] = field(default_factory=list)  # it fits, and would still ask


@transaction.atomic
def make_rule(
    agent: Agent,
    *,
    tool: str,
    patterns: Mapping[str, str],
    until: datetime | None,
    asks_when_untrusted: bool = True,
    by: str,
    now: datetime,
) -> ApprovalRule:
    _check(tool, patterns)
    if until is not None and until <= now:
        raise BadInput(_lazy("The end of the rule is in the past."))
    Agent.objects.select_for_update(no_key=True).get(pk=agent.pk)  # two tabs count one by one
    if ApprovalRule.objects.live(now).filter(agent=agent).count() >= MOST_RULES:
        message = _lazy("%(agent)s has %(most)s rules. Revoke one first.")
        raise BadInput(message, agent=agent, most=MOST_RULES)
    rule = ApprovalRule.objects.create(
        agent=agent, tool=tool, patterns=dict(patterns), asks_when_untrusted=asks_when_untrusted,
        until=until, made_by=by, made_at=now,
    )  # fmt: skip
    facts = {"tool": tool, "patterns": rule.patterns, "until": until and until.isoformat()}
    AuditEvent.objects.record(
        "approval_rule.made", actor=by, subject=rule, asks_when_untrusted=asks_when_untrusted,
        **facts,
    )  # fmt: skip
    return rule


def _check(tool: str, patterns: Mapping[str, Any]) -> None:
    if tool not in TOOLS:
        raise BadInput(_lazy("There is no tool %(tool)s."), tool=tool)
    names = TOOLS[tool].arguments.model_fields
    for name, pattern in patterns.items():
        if name not in names:
            message = _lazy("%(tool)s has no argument %(name)s.")
            raise BadInput(message, tool=tool, name=name[:80])
        if not isinstance(pattern, str) or len(pattern) > LONGEST_PATTERN:
            message = _lazy("The pattern of %(name)s is not a text of at most %(most)s characters.")
            raise BadInput(message, name=name, most=LONGEST_PATTERN)
        if storable(pattern) != pattern:
            message = _lazy("The pattern of %(name)s holds a character that cannot be stored.")
            raise BadInput(message, name=name)


@transaction.atomic
def revoke(rule: ApprovalRule, *, by: str, now: datetime) -> None:
    """End a rule. Calls that it let begin are not stopped."""
    live = ApprovalRule.objects.filter(pk=rule.pk, revoked_at=None)
    if not live.update(revoked_at=now, revoked_by=by):
        rule.refresh_from_db()
        message = _lazy("This rule was revoked by %(by)s.")
        raise StaleState(message, by=rule.revoked_by.rpartition(":")[2])
    rule.refresh_from_db()
    AuditEvent.objects.record("approval_rule.revoked", actor=by, subject=rule, tool=rule.tool)


def matching(
    agent: int, tool: str, arguments: Mapping[str, Any], *, now: datetime
) -> list[ApprovalRule]:
    """Live rules of the agent that fit, the oldest first."""
    rows = ApprovalRule.objects.live(now).filter(agent=agent, tool=tool).order_by("pk")
    return [rule for rule in rows if matches(rule.patterns, arguments)]


def count_hit(pk: int, *, now: datetime) -> bool:
    """Count a call that a rule lets run, in its transaction. False: it was revoked meanwhile."""
    live = ApprovalRule.objects.live(now).filter(pk=pk)
    return bool(live.update(hits=F("hits") + 1, last_hit_at=now))


def effect(
    agent: Agent, *, tool: str, patterns: Mapping[str, str], asks_when_untrusted: bool = False
) -> RuleEffect:
    """What the rule would have let through, and what operators denied, of stored calls."""
    found = RuleEffect()
    for call in _asked(agent, tool):
        fits = matches(patterns, call.asked_arguments)
        if fits and asks_when_untrusted and call.is_untrusted:
            fits = False
            if len(found.untrusted) < MOST_SHOWN:
                found.untrusted.append(call)
        if fits and len(found.allowed) < MOST_SHOWN:
            found.allowed.append(call)
        if len(found.denied) < MOST_SHOWN and _is_denied(call):
            found.denied.append(call)
    return found


def _asked(agent: Agent, tool: str) -> Iterator[ToolCall]:
    """Calls that an operator was asked about: those have an expiry."""
    rows = ToolCall.objects.filter(agent=agent, tool=tool, expires_at__isnull=False)
    yield from rows.defer("shown", "result").order_by("-id")[:MOST_READ]


def _is_denied(call: ToolCall) -> bool:
    return call.state == "denied" and call.decided_by.startswith("operator:")
