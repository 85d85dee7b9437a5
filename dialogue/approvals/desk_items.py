"""Tool calls on the desk: those to approve, and unconfirmed ones.

Unconfirmed is a call whose worker died, whose time ran out or whose answer was lost while it ran.
"""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as _lazy

from dialogue.approvals import listing, presenters, services
from dialogue.approvals.forms import ArgumentForm
from dialogue.approvals.listing import DeskCall
from dialogue.approvals.models import ToolCall, ToolCallState
from surfaces.desk.kinds import Action, ActionInput, DeskKind, RowSummary
from surfaces.desk.models import DeskItem, Risk
from surfaces.drafts.presenters import decided_words
from surfaces.errors import BadInput, NotAllowed, StaleState
from surfaces.text.reasons import FORMATS
from surfaces.threads import context as thread_context

UNDECIDED = {ToolCallState.WAITING, ToolCallState.UNKNOWN, ToolCallState.RUNNING}
# What the model reads when it is denied; operators see the label.
DENIALS = [
    ("Not needed for this.", _lazy("Not needed")),
    ("Somebody else’s words asked for this, not your operators.", _lazy("Others asked for it")),
    ("Wrong target. Check where this should go.", _lazy("Wrong target")),
    ("Not now.", _lazy("Not now")),
]


def _line(row: ToolCall, item: DeskItem) -> RowSummary:
    return RowSummary(
        who=item.agent, place=item.account.surface.name, author=item.author, said=item.words,
        whys=(row.get_risk_display(), str(row.why)) if row.why else (row.get_risk_display(),),
        badge=_("high") if item.risk == Risk.HIGH else "", badge_css="bad",
        stamp=row.stamp,  # type: ignore[attr-defined]
    )  # fmt: skip


def title(row: DeskCall) -> str:
    named = {
        "agent": row.agent, "tool": row.call.tool, "place": row.call.presence.account.surface.name
    }  # fmt: skip
    if row.call.state in {ToolCallState.UNKNOWN, ToolCallState.RUNNING}:
        return _("%(agent)s called %(tool)s on %(place)s") % named
    return _("%(agent)s asks for %(tool)s on %(place)s") % named


def context(row: DeskCall, now: datetime) -> dict[str, Any]:
    call, message = row.call, row.message
    return {
        "call": call, "message": message, "arguments": presenters.arguments(call),
        "around": thread_context.of_message(message) if message else None,
        "people": presenters.people_in(call), "exactly": presenters.exactly(call),
        "digest": call.digest[: presenters.SHORT_DIGEST],
        "is_edited": bool(call.asked_arguments) and call.asked_arguments != call.arguments,
        "alike": _alike(row) if call.state == ToolCallState.WAITING else [],
    }  # fmt: skip


def _alike(row: DeskCall) -> list[tuple[ToolCall, str]]:
    return [(call, presenters.summary(call)) for call in listing.calls_like(row)]


def form(row: DeskCall, typed: Mapping[str, str]) -> ArgumentForm:
    """With what was typed, if that was refused."""
    return ArgumentForm(row.call, typed if "edits" in typed else None)


def decided(row: DeskCall, me: str, now: datetime) -> str:
    call = row.call
    if call.state in UNDECIDED:
        return ""
    if call.decided_at and call.decided_by.startswith("operator:"):
        state = call.get_state_display()
        return decided_words(call.decided_by, now - call.decided_at, state, me)
    said = _("It is %(state)s.") % {"state": call.get_state_display()}
    return FORMATS["sentences"]([said, str(call.why)])


def approve(row: DeskCall, given: ActionInput) -> str:
    """Approve with the digest of its pane; from the queue with a stamp, if the risk allows that."""
    digest = given.typed("digest")
    if not digest:
        _check_unread(row, given)
        digest = row.call.digest
    services.approve(row.call, digest=digest, by=given.by, now=given.now, delay=given.delay)
    return _said(_("Approved %(tool)s for %(agent)s."), row, given.delay)


def _check_unread(row: DeskCall, given: ActionInput) -> None:
    if not given.typed("stamp"):
        raise StaleState(_lazy("It changed after you opened it. Check it again."))
    if DeskItem.objects.of("tool_call", row.pk).filter(risk=Risk.HIGH).exists():
        raise NotAllowed(
            _lazy("Calls of high risk are approved one by one: open it, read it, then approve.")
        )


def _said(words: str, row: DeskCall, delay: timedelta) -> str:
    said = words % {"tool": row.call.tool, "agent": row.agent}
    return FORMATS["sentences"]([said, presenters.when_run(row.call, delay)])


def edit(row: DeskCall, given: ActionInput) -> str:
    """Approve with other arguments than those that were asked for."""
    typed = form(row, {**given.posted, "edits": "1"})
    if not typed.is_valid():
        count = len(typed.errors)
        words = _lazy("Not approved: correct the arguments that are marked below (%(count)s).")
        raise BadInput(words, count=count)
    services.approve(
        row.call, digest=given.typed("digest"), by=given.by, now=given.now, delay=given.delay,
        arguments=typed.cleaned_data,
    )  # fmt: skip
    return _said(_("Approved %(tool)s for %(agent)s with your changes."), row, given.delay)


def deny(row: DeskCall, given: ActionInput) -> str:
    words = given.typed("why") or given.typed("reason")
    if not words:
        raise BadInput(_lazy("Say why: the agent reads your words and goes on with them."))
    services.deny(row.call, words=words, by=given.by, now=given.now)
    named = {"tool": row.call.tool, "agent": row.agent}
    return _("Denied %(tool)s for %(agent)s. It will not run; the agent is told why.") % named


def settle_as_run(row: DeskCall, given: ActionInput) -> str:
    result = given.posted.get("result", "").strip()
    services.settle_as_run(row.call, result=result, by=given.by, now=given.now)
    return _("Marked as run. It does not run again.")


def run_again(row: DeskCall, given: ActionInput) -> str:
    services.run_again(row.call, by=given.by, now=given.now)
    if row.call.state == ToolCallState.FAILED:
        return _("Marked as not run. The agent may make this call again.")
    return _said(_("%(tool)s is run again for %(agent)s."), row, services.AT_ONCE)


def _undone(row: DeskCall, given: ActionInput) -> str:
    services.undo(row.call, by=given.by, now=given.now)
    return _("Undone. It needs a decision again.")


APPROVE = Action(name="approve", label=_lazy("Approve"), key="a", css="primary", verb=approve,
                 undo=_undone, is_sent_after=True)  # fmt: skip
EDIT = Action(name="edit", label=_lazy("Edit"), key="e", verb=edit, undo=_undone,
              in_bulk=False, is_sent_after=True)  # fmt: skip
# Called as everywhere on the desk, so that the bulk bar rejects drafts and calls together.
DENY = Action(name="reject", label=_lazy("Deny"), key="r", css="danger", verb=deny,
              undo=_undone, is_sent_after=True)  # fmt: skip
IT_RAN = Action(name="settle_ran", label=_lazy("It ran"), key="a", verb=settle_as_run,
                in_bulk=False)  # fmt: skip
AGAIN = Action(name="run_again", label=_lazy("Run again"), key="t", verb=run_again,
               in_bulk=False)  # fmt: skip

SHARED: dict[str, Any] = {
    "subject": "tool_call", "icon": "tool", "load": listing.load, "get": listing.get,
    "lock": listing.lock, "line": _line, "context": context, "title": title, "decided": decided,
    "steps": lambda row: presenters.steps(row.call),
}  # fmt: skip
KINDS = (
    DeskKind(
        name="tool_call", label=_lazy("Tool call to approve"), short=_lazy("Tool call"),
        plural=_lazy("Tool calls to approve"), acts=(APPROVE, DENY, EDIT), reasons=DENIALS,
        template="dialogue/approvals/_call_item.html",
        decide_template="dialogue/approvals/_decide.html", form=form, **SHARED,
    ),
    DeskKind(
        name="tool_unknown", label=_lazy("Unconfirmed tool call"), short=_lazy("Unconfirmed call"),
        plural=_lazy("Unconfirmed tool calls"), css="info", acts=(IT_RAN, AGAIN),
        template="dialogue/approvals/_unknown_item.html",
        decide_template="dialogue/approvals/_settle.html", **SHARED,
    ),
)  # fmt: skip
