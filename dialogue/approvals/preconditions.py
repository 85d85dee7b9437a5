"""What must still hold when a tool call is approved, and again in the moment it runs.

What passes by itself (a pause, a spent budget, an account that is switched off, the hours of the
agent) keeps an approved call waiting, for a day. Everything else makes it stale: the comment was
edited, deleted or answered, the agent may no longer do this, or nobody is left to be told.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from dialogue.activations import permissions
from dialogue.activations.models import LIVE, Purpose
from dialogue.agents.models.agent import AgentLocation
from dialogue.agents.models.settings import AgentSettings, ToolRisk, VoiceKind
from dialogue.approvals.arguments import BadArguments, built, digest_of
from dialogue.approvals.models import ToolCall
from dialogue.budgets import services as budget_services
from dialogue.tools import grants
from dialogue.tools.base import Tool
from dialogue.tools.registry import TOOLS
from surfaces.accounts.models.account import AccountState, ReplyMode
from surfaces.messages.models import Direction, Message, SpamStatus
from surfaces.models import Account
from surfaces.pauses import services as pause_services
from surfaces.text.reasons import StoredReason, as_reason, reason


@dataclass(frozen=True, slots=True)
class CallObstacle:
    why: StoredReason
    passes: bool = False  # by itself: an approved call waits for it


def read_call(pk: int) -> ToolCall:
    """The call with what is asked about it, as it all is now; locked."""
    rows = ToolCall.objects.select_for_update(of=("self",)).select_related(
        "activation", "agent__settings", "presence__account__surface", "presence__agent__settings",
        "thread",
        "item__notification__message__post",
    )  # fmt: skip
    return rows.get(pk=pk)


def policy_of(settings: AgentSettings, risk: str) -> str:
    """What the settings say about this risk; an unknown one is denied."""
    return str(getattr(settings, f"on_{risk}", "deny"))


def is_granted(settings: AgentSettings, tool: Tool, account: Account, arguments: Any) -> bool:
    return grants.allows(settings.grants, tool.scope_on(account), tool.resource(arguments))


def is_usable(tool: Tool, settings: AgentSettings, account: Account) -> bool:
    """Whether any call of it can be allowed: granted, of this service, not denied."""
    is_denied = policy_of(settings, tool.risk) == "deny" or (
        tool.risk == ToolRisk.PUBLISH and account.mode == ReplyMode.OFF
    )
    has_store = settings.has_memory or not tool.scope.startswith("memory:")
    may = has_store and not is_denied and grants.offers(settings.grants, tool.scope_on(account))
    return may and tool.is_available(account)


def find_obstacle(call: ToolCall, *, now: datetime, is_fresh: bool = False) -> CallObstacle | None:
    """The first thing that forbids to run a call from `read_call`, the lasting ones first.

    `is_fresh`: the model made it just now, so that nothing moved since.
    """
    if why := _gone(call) or _forbidden(call) or ("" if is_fresh else _moved(call)):
        return CallObstacle(as_reason(why))
    passing = _waits(call, now)
    if not (passing or is_fresh):  # nobody takes its conversation up before this is over
        passing = permissions.obstacle(call.presence, now=now) or ""
    return CallObstacle(as_reason(passing), passes=True) if passing else None


def _gone(call: ToolCall) -> str:
    settings, is_task = call.agent.settings, call.activation.purpose == Purpose.TASK
    for applies, why in (
        (call.activation.state not in LIVE, "approval.activation_ended"),
        (call.presence.ended_at is not None, "activation.presence_ended"),
        (call.agent.lives != AgentLocation.HERE, "activation.moved"),
        (not settings.is_autonomous and not is_task, "activation.no_answers"),
    ):
        if applies:
            return why
    return ""


def _forbidden(call: ToolCall) -> str:
    tool, account = TOOLS.get(call.tool), call.presence.account
    if tool is None:
        return "approval.tool_gone"
    if not is_usable(tool, call.agent.settings, account):
        return "approval.not_allowed_now"
    try:
        arguments = built(tool, call.arguments)
    except BadArguments:
        return "approval.schema_changed"
    granted = is_granted(call.agent.settings, tool, account, arguments)
    return "" if granted else "approval.not_granted"


def _moved(call: ToolCall) -> str:
    """What changed in the thread since the call was made."""
    notification = call.item.notification
    comment = notification.message if notification else None
    for applies, why in (
        (call.thread is not None and call.thread.deleted_at, "approval.thread_deleted"),
        (comment is not None and comment.deleted_at, "approval.comment_deleted"),
        (comment is not None and comment.spam_status == SpamStatus.SPAM, "approval.comment_spam"),
        (call.digest != digest_of(call), "approval.comment_edited"),
        (comment is not None and _is_answered(comment), "approval.comment_answered"),
    ):
        if applies:
            return why
    return ""


def _is_answered(comment: Message) -> bool:
    return not comment.is_post and comment.children.filter(direction=Direction.OUTGOING).exists()


def _waits(call: ToolCall, now: datetime) -> StoredReason | str:
    agent, account = call.agent, call.presence.account
    lasts = account.state_until is None or account.state_until > now
    for applies, why in (
        (not account.is_on or not account.surface.is_on, "reply.account_off"),
        (account.state == AccountState.AUTH_FAILED,
         reason("reply.account_sign_in", state_why=account.state_why)),
        (account.state == AccountState.SUSPENDED and lasts,
         reason("reply.account_suspended", state_why=account.state_why)),
    ):  # fmt: skip
        if applies:
            return why
    if pauses := pause_services.reasons(account, agent.slug):
        by = pauses[0].by.rpartition(":")[2]
        return reason("reply.paused_by", what=pauses[0].subject_name, by=by)
    if agent.settings.voice != VoiceKind.MODEL:
        return ""
    spent = budget_services.spent(agent.slug, agent.settings, now=now)
    return spent[0] if spent else ""
