"""Annotate messages and timelines with the tool calls that agents made for them.

Added by `dialogue.extensions`. One query, however many messages.
"""

from collections.abc import Iterable, Sequence
from itertools import groupby

from django.db.models import F, Q
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as _lazy
from django.utils.translation import ngettext

from dialogue.approvals.models import ToolCall, ToolCallState
from surfaces.models import Draft, Message
from surfaces.operators.scope import Scope
from surfaces.threads.extensions import ThreadAnnotations
from surfaces.threads.notes import Note
from surfaces.threads.timeline import TimelineEvent

MOST = 200  # calls of one thread, the newest
OPEN = [ToolCallState.WAITING, ToolCallState.APPROVED, ToolCallState.RUNNING, ToolCallState.UNKNOWN]
# What became of it, and whether it went well. %s is the tool.
CAME = {
    ToolCallState.PROPOSED: (_lazy("%s proposed"), "done"),
    ToolCallState.WAITING: (_lazy("%s waits for approval"), "warn"),
    ToolCallState.APPROVED: (_lazy("%s approved"), "done"),
    ToolCallState.RUNNING: (_lazy("%s runs"), "done"),
    ToolCallState.DONE: (_lazy("%s ran"), "done"),
    ToolCallState.FAILED: (_lazy("%s failed"), "fail"),
    ToolCallState.DENIED: (_lazy("%s denied"), "warn"),
    ToolCallState.EXPIRED: (_lazy("%s expired: not decided in time"), "warn"),
    ToolCallState.STALE: (_lazy("%s became stale"), "warn"),
    ToolCallState.UNKNOWN: (_lazy("%s: nobody knows whether it ran"), "fail"),
}


def of_messages(
    messages: Sequence[Message], drafts: Sequence[Draft], reach: Scope
) -> ThreadAnnotations:
    """Notes and timeline events per message."""
    notes: dict[int, list[Note]] = {}
    steps: dict[int, list[TimelineEvent]] = {}
    for pk, found in _by_message(messages, reach).items():
        notes[pk] = _notes(found)
        steps[pk] = [step for call in found for step in _steps(call)]
    return ThreadAnnotations(notes, steps)


def timeline_events(
    message: Message | None, drafts: Sequence[Draft], reach: Scope
) -> list[TimelineEvent]:
    found = _by_message([message] if message else [], reach)
    return [step for calls in found.values() for call in calls for step in _steps(call)]


def _by_message(messages: Iterable[Message], reach: Scope) -> dict[int, list[ToolCall]]:
    """Calls by the comment at hand, else by the post of their thread; oldest first."""
    asked = [message.pk for message in messages]
    if not asked:
        return {}
    of_comment, of_post = Q(item__notification__message__in=asked), Q(thread__in=asked)
    rows = ToolCall.objects.filter(of_comment | of_post & Q(item__notification=None))
    rows = reach.narrow(rows, account="presence__account", agent="agent__slug")
    rows = rows.annotate(at_hand=F("item__notification__message")).select_related("agent").only(
        "tool", "state", "why", "made_at", "decided_by", "decided_at", "started_at", "ended_at",
        "said", "thread", "not_before", "agent__name", "agent__slug",
    )  # fmt: skip
    found: dict[int, list[ToolCall]] = {}
    for call in reversed(rows.order_by("-id")[:MOST]):
        found.setdefault(getattr(call, "at_hand") or call.thread_id or 0, []).append(call)  # noqa: B009
    return found


def _notes(calls: Sequence[ToolCall]) -> list[Note]:
    """One line for each agent, tool and state: "hub_post waits for approval"."""
    found = []
    ordered = sorted(calls, key=lambda call: (call.agent.slug, call.tool, call.state, call.pk))
    for _key, some in groupby(ordered, lambda call: (call.agent.slug, call.tool, call.state)):
        same = list(some)
        last = same[-1]
        words = str(CAME[ToolCallState(last.state)][0]) % last.tool
        if len(same) > 1:
            words = ngettext("%(words)s, %(n)d time", "%(words)s, %(n)d times", len(same)) % {
                "words": words, "n": len(same),
            }  # fmt: skip
        why = f"{words} {_by(last)}".strip()
        lead = f"{last.agent.name}:" if last.state in OPEN else ""
        found.append(Note(lead, why, url=_page(last)))
    return found


def _by(call: ToolCall) -> str:
    kind, _colon, name = call.decided_by.partition(":")
    is_told = call.state in {ToolCallState.APPROVED, ToolCallState.DENIED, ToolCallState.DONE}
    if not is_told or kind not in {"operator", "rule"}:
        return ""
    if kind == "rule":
        return _("(allowed by a rule)")
    if call.state == ToolCallState.DENIED:
        return _("by %(name)s: %(said)s") % {"name": name, "said": call.said}
    return _("(approved by %(name)s)") % {"name": name}


def _steps(call: ToolCall) -> list[TimelineEvent]:
    """Asked, decided, ended: as far as it came."""
    page, named = _page(call), {"agent": call.agent.name, "tool": call.tool}
    found = [
        TimelineEvent(
            at=call.made_at, words=_("%(agent)s calls %(tool)s") % named, how="done", url=page
        )
    ]
    words, how = CAME[ToolCallState(call.state)]
    last = str(words) % call.tool
    if call.state == ToolCallState.WAITING:
        found.append(TimelineEvent(at=None, words=last, how="next", url=page))
        return found
    if call.decided_at and call.decided_by:
        is_denied = call.state == ToolCallState.DENIED
        decided = str(CAME[ToolCallState.DENIED if is_denied else ToolCallState.APPROVED][0])
        found.append(TimelineEvent(
            at=call.decided_at, words=decided % call.tool, how="warn" if is_denied else "done",
            actor=call.decided_by if ":" in call.decided_by else "", why=call.said, url=page,
        ))  # fmt: skip
    if call.state not in {ToolCallState.APPROVED, ToolCallState.DENIED}:
        at = call.ended_at or call.started_at or call.made_at
        why = "" if call.state == ToolCallState.DONE else str(call.why)
        found.append(TimelineEvent(at=at, words=last, how=how, why=why, url=page))
    return found


def _page(call: ToolCall) -> str:
    kind = "tool_unknown" if call.state == ToolCallState.UNKNOWN else "tool_call"
    return reverse("surfaces:desk_item", args=[kind, call.pk])
