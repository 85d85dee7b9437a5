"""The tools of an agent for its page: which are offered and why not, grants, last calls."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.utils.translation import gettext as _

from dialogue.activations.transcript import ToolCallRow
from dialogue.agents.models.agent import Agent, AgentLocation
from dialogue.agents.models.presence import Presence
from dialogue.agents.models.settings import ApprovalMode, Policy, PublishPolicy, VoiceKind
from dialogue.approvals.models import ToolCall
from dialogue.tools.base import Tool
from dialogue.tools.grants import check_grant, meaning, offers
from dialogue.tools.registry import TOOLS
from surfaces.errors import BadInput
from surfaces.operators.scope import Scope
from surfaces.text.reasons import StoredReason

LAST_CALLS = 10


@dataclass(frozen=True, kw_only=True, slots=True)
class ToolLine:
    tool: Tool
    why_not: str  # "" if it is offered
    effect: str  # what a call does, if it is offered
    places: list[str]  # accounts it is offered for, where not for all


@dataclass(frozen=True, kw_only=True, slots=True)
class GrantLine:
    text: str
    meaning: StoredReason | str
    is_deny: bool
    is_readable: bool = True


def tools_of(agent: Agent, presences: Sequence[Presence]) -> list[ToolLine]:
    """Every tool, those that are offered first. `agent` comes with its settings."""
    lines = [_line(tool, agent, presences) for tool in TOOLS.values()]
    return sorted(lines, key=lambda line: (bool(line.why_not), line.tool.scope, line.tool.name))


def _line(tool: Tool, agent: Agent, presences: Sequence[Presence]) -> ToolLine:
    is_memory = tool.scope.startswith("memory:")  # the same for every account, and known here
    able = [row.account for row in presences if is_memory or tool.is_available(row.account)]
    granted = [row for row in able if offers(agent.settings.grants, tool.scope_on(row))]
    places = [account.name for account in granted] if len(granted) < len(presences) else []
    policy = getattr(agent.settings, f"on_{tool.risk}")
    scopes = sorted({tool.scope_on(account) for account in able})
    why_not = _blocked(agent, presences)
    if not why_not and is_memory and not agent.settings.has_memory:
        why_not = _("“Use memory” is off.")
    elif not why_not and not able:
        why_not = _("The services of its accounts cannot do this.")
    elif not why_not and not granted:
        why_not = _("Not granted. It needs %(scopes)s.") % {"scopes": ", ".join(scopes)}
    elif not why_not and policy == Policy.DENY:
        why_not = _("Its settings deny tools of this kind.")
    effect = "" if why_not else _effect(agent, policy)
    return ToolLine(tool=tool, why_not=why_not, effect=effect, places=places if effect else [])


def _blocked(agent: Agent, presences: Sequence[Presence]) -> str:
    """Why no tool at all is offered."""
    if agent.lives == AgentLocation.ELSEWHERE:
        return _("An external agent has tools of its own.")
    if agent.settings.voice != VoiceKind.MODEL:
        return _("The scripted voice calls no tools.")
    if not agent.settings.max_tool_calls:
        return _("The limit of tool calls is 0.")
    return "" if presences else _("No account is assigned.")


def _effect(agent: Agent, policy: str) -> str:
    if policy == Policy.ALLOW:
        return _("Runs at once.")
    if policy == PublishPolicy.MODE:
        return _("Writes a draft, by the mode.")
    return {
        ApprovalMode.ASK: _("Waits for an operator."),
        ApprovalMode.SKIP: _("Skipped, unless a rule allows it."),
        ApprovalMode.POLICY: _("Denied, unless a rule allows it."),
    }[ApprovalMode(agent.settings.approval_mode)]


def granted(agent: Agent) -> list[GrantLine]:
    """Its grants in words, denies first because they win."""
    lines = []
    for text in agent.settings.grants:
        try:
            grant = check_grant(text)
        except BadInput as error:
            lines.append(GrantLine(text=text, meaning=str(error), is_deny=True, is_readable=False))
        else:
            lines.append(GrantLine(text=text, meaning=meaning(grant), is_deny=grant.denies))
    return sorted(lines, key=lambda line: not line.is_deny)


def last_calls(agent: Agent, *, reach: Scope) -> list[ToolCallRow]:
    rows = ToolCall.objects.filter(agent=agent).select_related("draft").defer("draft__text")
    rows = reach.narrow(rows, account="presence__account", agent="")
    return [ToolCallRow(call) for call in rows.order_by("-pk")[:LAST_CALLS]]
