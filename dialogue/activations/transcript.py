"""One activation for its page: what it looked at, its steps, tool calls, drafts and limits."""

import json
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal
from typing import Any

from django.urls import reverse
from django.utils.functional import cached_property
from django.utils.translation import gettext, gettext_noop
from django.utils.translation import gettext_lazy as _lazy

from dialogue.activations.listing import ActivationRow
from dialogue.activations.models import Activation, ActivationItem, ItemState, TranscriptStep
from dialogue.approvals.models import ToolCall, ToolCallState
from dialogue.budgets.meters import BudgetMeter, money
from surfaces.models import Draft
from surfaces.text.reasons import as_reason
from surfaces.text.spans import span

LINE = 140  # characters of a step; longer ones are folded
MOST_CALLS = 500  # by the bounds of the settings
TEXTS = {"system": _lazy("System prompt"), "shown": _lazy("Prompt")}
# Names of steps and facts as stored; the pages translate them.
NAMES = (
    gettext_noop("asked"), gettext_noop("answered"), gettext_noop("failed"),
    gettext_noop("checked"), gettext_noop("wrote"), gettext_noop("request"),
    gettext_noop("finish"), gettext_noop("counted"), gettext_noop("style"), gettext_noop("model"),
    gettext_noop("yes"), gettext_noop("no"), gettext_noop("nothing"), gettext_noop("offered"),
    gettext_noop("called"), gettext_noop("returned"), gettext_noop("suspended"),
    gettext_noop("resumed"), gettext_noop("tool"), gettext_noop("arguments"),
    gettext_noop("feed"),
)  # fmt: skip
DOTS = {
    "failed": "fail", "answered": "done", "wrote": "done", "checked": "done", "returned": "done",
    "suspended": "warn", "resumed": "done", "offered": "done",
}  # fmt: skip
ITEM_CSS = {
    ItemState.WORKING: "ours", ItemState.WAITING: "wait", ItemState.DRAFTED: "ok",
    ItemState.FAILED: "bad",
}  # fmt: skip
CALL_CSS = {
    ToolCallState.WAITING: "wait", ToolCallState.APPROVED: "ours", ToolCallState.RUNNING: "ours",
    ToolCallState.DONE: "ok", ToolCallState.FAILED: "bad", ToolCallState.DENIED: "bad",
    ToolCallState.UNKNOWN: "bad",
}  # fmt: skip
AT_DESK = {ToolCallState.WAITING, ToolCallState.UNKNOWN}


@dataclass(frozen=True, slots=True)
class TranscriptRow:
    step: TranscriptStep

    @property
    def title(self) -> str:
        kind = gettext(self.step.kind).capitalize()
        tool = str(self.step.facts.get("tool") or "")
        return f"{kind} {tool}" if tool else kind

    @property
    def words(self) -> str:
        return self.step.words or str(self.step.why)

    @property
    def css(self) -> str:
        if self.step.kind == "checked" and self.step.facts.get("faults"):
            return "warn"
        return DOTS.get(self.step.kind, "")

    @property
    def cost(self) -> str:
        return money(self.step.cost) if self.step.cost else ""

    @property
    def took(self) -> str:
        """ "820 ms", "3 s"; "" if no time was measured."""
        return took(timedelta(milliseconds=self.step.took_ms)) if self.step.took_ms else ""

    @property
    def is_long(self) -> bool:
        return len(self.words) > LINE or "\n" in self.words

    @property
    def texts(self) -> list[tuple[str, str]]:
        """The full prompts. They contain text by other people."""
        facts = self.step.facts
        return [(str(words), str(facts[name])) for name, words in TEXTS.items() if facts.get(name)]

    @property
    def posts(self) -> list[dict[str, Any]]:
        """Posts of an exploration, the offered ones first. Their words are other people's."""
        found = self.step.facts.get("posts")
        posts = found if isinstance(found, list) else []
        return [post | {"why": as_reason(post.get("why"))} for post in posts]

    @property
    def facts(self) -> list[tuple[str, str]]:
        told = {"faults", "posts", *TEXTS}
        return [
            (gettext(name.replace("_", " ")), _said(value))
            for name, value in self.step.facts.items()
            if name not in told and value not in (None, "")
        ]


def took(length: timedelta) -> str:
    ms = round(length.total_seconds() * 1000)
    return span(length) if ms >= 1_000 else f"{ms} ms"


def _said(value: object) -> str:
    if isinstance(value, bool):
        return gettext("yes") if value else gettext("no")
    if isinstance(value, dict | list):
        return json.dumps(value, ensure_ascii=False)[:2_000]
    return str(value)[:2_000]


@dataclass(frozen=True, slots=True)
class ItemSteps:
    """One thing the activation looks at, with its steps; without an item, its other steps."""

    item: ActivationItem | None
    steps: list[TranscriptRow]

    @property
    def css(self) -> str:
        return ITEM_CSS.get(ItemState(self.item.state), "") if self.item else ""


@dataclass(frozen=True, slots=True)
class ToolCallRow:
    call: ToolCall

    @property
    def css(self) -> str:
        return CALL_CSS.get(ToolCallState(self.call.state), "")

    @property
    def arguments(self) -> list[tuple[str, str]]:
        return [(name, _text(value)) for name, value in self.call.arguments.items()]

    @property
    def is_edited(self) -> bool:
        return bool(self.call.asked_arguments) and self.call.asked_arguments != self.call.arguments

    @property
    def took(self) -> str:
        return took(timedelta(milliseconds=self.call.took_ms)) if self.call.took_ms else ""

    @property
    def decided_by(self) -> str:
        kind, _, name = self.call.decided_by.partition(":")
        if kind == "rule":
            return gettext("rule {name}").format(name=name)
        if kind == "policy":
            return gettext("the agent’s settings")
        return name or kind

    @property
    def desk_url(self) -> str:
        if self.call.state not in AT_DESK:
            return ""
        return reverse("surfaces:desk_item", args=["tool_call", self.call.pk])


def _text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


class ActivationTranscript:
    """Each part is queried when a template first uses it."""

    def __init__(self, waking: ActivationRow) -> None:
        """Its row comes with the settings of its agent."""
        self.waking, self.row = waking, waking.row

    @cached_property
    def items(self) -> list[ActivationItem]:
        rows = self.row.items.select_related("notification__message", "draft")
        heavy = ("raw_json", "search", "content")
        rows = rows.defer("draft__text", *(f"notification__message__{name}" for name in heavy))
        return list(rows.order_by("position"))

    @cached_property
    def parts(self) -> list[ItemSteps]:
        """Steps by item, in the order of the items; those of no item first."""
        by_item: dict[int | None, list[TranscriptRow]] = defaultdict(list)
        for step in self.row.steps.order_by("number"):
            by_item[step.item_id].append(TranscriptRow(step))
        found = [ItemSteps(item, by_item.pop(item.pk, [])) for item in self.items]
        rest = [step for steps in by_item.values() for step in steps]
        return [ItemSteps(None, rest), *found] if rest else found

    @cached_property
    def calls(self) -> list[ToolCallRow]:
        rows = ToolCall.objects.filter(activation=self.row).select_related("draft")
        rows = rows.defer("draft__text").order_by("pk")
        return [ToolCallRow(call) for call in rows[:MOST_CALLS]]

    @property
    def drafts(self) -> list[Draft]:
        """What it wrote, each once."""
        found = [item.draft for item in self.items] + [row.call.draft for row in self.calls]
        drafts = {draft.pk: draft for draft in [*found, self.row.draft] if draft}
        return [drafts[pk] for pk in sorted(drafts)]

    @property
    def limits(self) -> list[BudgetMeter]:
        return limits_used(self.row, self.waking.worked)


def limits_used(row: Activation, worked: timedelta) -> list[BudgetMeter]:
    """What it used of each limit of one activation."""
    settings = row.agent.settings
    facts: Iterable[tuple[str, Any, Any, str]] = (
        (gettext("Requests"), row.requests, settings.max_iterations, gettext("requests")),
        (gettext("Tool calls"), row.calls, settings.max_tool_calls, gettext("calls")),
        (gettext("Tokens"), row.tokens_in + row.tokens_out, settings.tokens_per_run,
         gettext("tokens")),
        (gettext("Cost"), row.cost, settings.money_per_run, ""),
        (gettext("Working time, in seconds"), worked.total_seconds(), settings.seconds_per_run,
         gettext("seconds")),
    )  # fmt: skip
    return [
        BudgetMeter(label=label, used=Decimal(used), most=Decimal(most), unit=unit)
        for label, used, most, unit in facts
    ]
