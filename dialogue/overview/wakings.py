"""Activations for the pages: the list, and one with its transcript."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.utils.translation import gettext_noop

from dialogue.models import Activation, Step
from dialogue.models.activation import Purpose, State
from dialogue.overview.figures import money
from dialogue.overview.paging import sheet
from surfaces.reach import WHOLE, Reach
from surfaces.showing import span

CSS = {
    State.RUNNING: "ours",
    State.DONE: "ok",
    State.FAILED: "bad",
    State.EXHAUSTED: "wait",
    State.RELEASED: "",
    State.ABANDONED: "bad",
}
LINE = 140  # characters of a step that are shown at once
TEXTS = {"system": "What it was told to be", "shown": "What it was shown"}
# Steps and their facts, as they are kept; pages tell them.
NAMES = (
    gettext_noop("asked"), gettext_noop("answered"), gettext_noop("failed"),
    gettext_noop("checked"), gettext_noop("wrote"), gettext_noop("request"),
    gettext_noop("finish"), gettext_noop("counted"), gettext_noop("style"), gettext_noop("model"),
    gettext_noop("yes"), gettext_noop("no"), gettext_noop("nothing"),
)  # fmt: skip
DOTS = {"failed": "fail", "answered": "done", "wrote": "done", "checked": "done"}


@dataclass(frozen=True, slots=True)
class Waking:
    row: Activation
    now: datetime

    @property
    def took(self) -> timedelta:
        return (self.row.ended_at or self.now) - self.row.started_at

    @property
    def cost(self) -> str:
        return money(self.row.cost)

    @property
    def tokens(self) -> int:
        return self.row.tokens_in + self.row.tokens_out

    @property
    def css(self) -> str:
        return CSS.get(State(self.row.state), "")

    @property
    def is_running(self) -> bool:
        return self.row.state == State.RUNNING

    @property
    def is_stone(self) -> bool:
        return self.row.purpose == Purpose.STONE


@dataclass(frozen=True, slots=True)
class Line:
    """One step of a transcript."""

    step: Step

    @property
    def title(self) -> str:
        return self.step.kind.replace("_", " ").capitalize()

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
        """ "820 ms", "3 s"; nothing for what took none."""
        ms = self.step.took_ms
        return span(timedelta(milliseconds=ms)) if ms >= 1_000 else f"{ms} ms" if ms else ""

    @property
    def is_long(self) -> bool:
        """Too long for a line: what models and strangers wrote is folded."""
        return len(self.step.words) > LINE or "\n" in self.step.words

    @property
    def texts(self) -> list[tuple[str, str]]:
        """What the model was shown, whole: it holds strangers' words."""
        facts = self.step.facts
        return [(words, str(facts[name])) for name, words in TEXTS.items() if facts.get(name)]

    @property
    def facts(self) -> list[tuple[str, str]]:
        """The rest, as words."""
        told = {"faults", *TEXTS}
        return [
            (name.replace("_", " "), _said(value))
            for name, value in self.step.facts.items()
            if name not in told and value not in (None, "")
        ]


def _said(value: object) -> str:
    return ("yes" if value else "no") if isinstance(value, bool) else str(value)[:2_000]


@dataclass(frozen=True, kw_only=True, slots=True)
class Page:
    rows: list[Waking]
    newer: str
    older: str


def page(given: Mapping[str, str], *, now: datetime, reach: Reach = WHOLE) -> Page:
    """Newest first, of one agent or in one state where that is asked for. One query."""
    asked = {name: given.get(name, "").replace("\0", "") for name in ("agent", "state")}
    found = Activation.objects.select_related("agent", "presence__account").defer(
        "agent__persona", "presence__account__sealed_credential", "presence__account__cursor"
    )
    found = reach.narrow(found, account="presence__account", agent="agent__slug")
    if asked["agent"]:
        found = found.filter(agent__slug=asked["agent"])
    if asked["state"] in State.values:
        found = found.filter(state=asked["state"])
    part = sheet(found, asked, given)
    return Page(rows=[Waking(row, now) for row in part.rows], newer=part.newer, older=part.older)
