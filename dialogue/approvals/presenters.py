"""Show a tool call: its arguments, whose words are in them, what would run, and how it went."""

import json
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as _lazy

from dialogue.approvals.models import ToolCall, ToolCallState
from dialogue.approvals.patterns import as_text
from dialogue.memory.models import Trust
from surfaces.models import AuditEvent
from surfaces.pauses import services as pause_services
from surfaces.text.reasons import FORMATS, label
from surfaces.text.spans import span
from surfaces.threads.timeline import TimelineEvent

BEGINNING = 600  # characters of an argument that are shown unfolded
SHORT_DIGEST = 12
MOST_SOURCES = 5  # shown of one argument
MOST_STEPS = 50
HIDDEN = {"Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp"}  # categories of characters nobody can see
SOURCES = {
    "message": _lazy("a message"), "memory": _lazy("a memory"), "page": _lazy("a page"),
    "item": _lazy("a post that is not stored"), "tool": _lazy("the result of a tool"),
}  # fmt: skip


@dataclass(frozen=True, kw_only=True, slots=True)
class ShownSource:
    """Somebody's words that went into an argument."""

    what: str
    author: str
    named: str  # its id where there is no link
    url: str
    is_memory: bool  # of the agent, on a page of its own


@dataclass(frozen=True, kw_only=True, slots=True)
class ShownArgument:
    name: str
    text: str  # hidden characters as \\u200b
    length: int
    is_text: bool
    hidden: int  # characters nobody could see
    was: str | None  # before an operator's edit
    strangers: Sequence[ShownSource]
    further: int  # strangers that are not shown

    @property
    def beginning(self) -> str:
        return self.text[:BEGINNING]

    @property
    def is_long(self) -> bool:
        return len(self.text) > BEGINNING


def arguments(call: ToolCall) -> list[ShownArgument]:
    names = dict.fromkeys([*call.arguments, *call.asked_arguments])
    return [_argument(call, name) for name in names]


def _argument(call: ToolCall, name: str) -> ShownArgument:
    value, asked = call.arguments.get(name), call.asked_arguments.get(name)
    is_edited = bool(call.asked_arguments) and value != asked
    text, sources = _text(value), strangers_of(call, name)
    return ShownArgument(
        name=name, text=revealed(text), length=len(text), is_text=isinstance(value, str),
        hidden=sum(map(_is_hidden, text)), was=revealed(_text(asked)) if is_edited else None,
        strangers=[_source(each) for each in sources[:MOST_SOURCES]],
        further=max(0, len(sources) - MOST_SOURCES),
    )  # fmt: skip


def _text(value: Any) -> str:
    return "" if value is None else as_text(value)


def strangers_of(call: ToolCall, name: str) -> list[Mapping[str, Any]]:
    """Other people's words in one argument. What has no trust is a stranger's."""
    found = call.sources.get(name)
    given = [each for each in found if isinstance(each, Mapping)] if isinstance(found, list) else []
    return [each for each in given if each.get("trust", Trust.STRANGER) == Trust.STRANGER]


def people_in(call: ToolCall) -> list[str]:
    """Who the strangers are, as far as they are known."""
    found = (each for name in call.sources for each in strangers_of(call, name))
    return list(dict.fromkeys(_name(each) for each in found))


def _name(source: Mapping[str, Any]) -> str:
    author = str(source.get("author") or "")
    return f"@{author.removeprefix('@')}" if author else _("somebody unknown")


def _source(given: Mapping[str, Any]) -> ShownSource:
    kind, pk = str(given.get("kind", "")), str(given.get("id") or "")
    is_row = kind == "message" and pk.isascii() and pk.isdigit() and len(pk) < 19
    return ShownSource(
        what=str(SOURCES.get(kind, kind)), author=_name(given), named="" if is_row else pk,
        url=reverse("surfaces:message", args=[pk]) if is_row else "", is_memory=kind == "memory",
    )  # fmt: skip


def revealed(text: str) -> str:
    """The text with each character that nobody can see as its number."""
    return "".join(f"\\u{ord(sign):04x}" if _is_hidden(sign) else sign for sign in text)


def _is_hidden(sign: str) -> bool:
    return sign not in "\n\t" and unicodedata.category(sign) in HIDDEN


def exactly(call: ToolCall) -> str:
    """What would run, as JSON."""
    ran = {"tool": call.tool, "arguments": call.arguments}
    return revealed(json.dumps(ran, ensure_ascii=False, sort_keys=True, indent=2))


def when_run(call: ToolCall, delay: timedelta) -> str:
    """When an approved call runs: after a pause, after the time to undo, or now."""
    held = pause_services.reasons(call.presence.account, call.agent.slug)
    if held:
        named = {"what": held[0].subject_name, "by": held[0].by.partition(":")[2] or held[0].by}
        return _("The agent is paused (%(what)s, by %(by)s), so it does not run now.") % named
    if delay < timedelta(seconds=1):
        return _("It runs as soon as a worker is free.")
    return _("It runs in %(span)s.") % {"span": span(delay)}


def steps(call: ToolCall) -> list[TimelineEvent]:
    """From the agent's wish to what came of it."""
    words = _("%(agent)s calls %(tool)s") % {"agent": call.agent, "tool": call.tool}
    page = reverse("dialogue:activation", args=[call.activation_id])
    found = [TimelineEvent(at=call.made_at, words=words, how="done", url=page)]
    events = AuditEvent.objects.about(call).order_by("id")[:MOST_STEPS]
    found += [
        TimelineEvent(
            at=event.at, words=_capital(label("action", event.action)), actor=event.actor,
            how=HOW.get(event.action.rpartition(".")[2], "done"), why=str(event.why),
        )
        for event in events
    ]  # fmt: skip
    return [*found, *_to_come(call)]


HOW = {"failed": "fail", "unknown": "fail", "expired": "warn", "stale": "warn", "denied": "warn"}


def _capital(words: str) -> str:
    return words[:1].upper() + words[1:]


def _to_come(call: ToolCall) -> Iterable[TimelineEvent]:
    if call.state == ToolCallState.WAITING:
        yield TimelineEvent(
            at=call.expires_at, words=_("Expires and is denied unless an operator decides"),
            how="next",
        )  # fmt: skip
    elif call.state == ToolCallState.APPROVED:
        yield TimelineEvent(at=call.not_before, words=_("Runs"), how="next")
    elif call.state == ToolCallState.UNKNOWN:
        words = _("An operator has to say whether it ran")
        yield TimelineEvent(at=None, words=words, how="next")


def summary(call: ToolCall) -> str:
    """The arguments in one line, short ones first: "reply_to: 12, content: Yes."."""
    some = [f"{name}: {_text(value)}" for name, value in call.arguments.items() if value]
    return FORMATS["list"](sorted(some, key=len))
