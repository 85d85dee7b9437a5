"""Read activations for the pages: the list, and one with its transcript."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.utils.translation import gettext, gettext_noop
from django.utils.translation import gettext_lazy as _lazy

from dialogue.activations.models import Activation, ActivationState, TranscriptStep
from dialogue.budgets.meters import money
from surfaces.operators.scope import UNRESTRICTED, Scope
from surfaces.text.reasons import as_reason
from surfaces.text.spans import span
from surfaces.web.pagination import KeysetPage, paginate

CSS = {
    ActivationState.RUNNING: "ours",
    ActivationState.DONE: "ok",
    ActivationState.FAILED: "bad",
    ActivationState.EXHAUSTED: "wait",
    ActivationState.RELEASED: "",
    ActivationState.ABANDONED: "bad",
}
LINE = 140  # characters of a step; longer ones are folded
TEXTS = {"system": _lazy("System prompt"), "shown": _lazy("Prompt")}
# Names of steps and facts as stored; the pages translate them.
NAMES = (
    gettext_noop("asked"), gettext_noop("answered"), gettext_noop("failed"),
    gettext_noop("checked"), gettext_noop("wrote"), gettext_noop("request"),
    gettext_noop("finish"), gettext_noop("counted"), gettext_noop("style"), gettext_noop("model"),
    gettext_noop("yes"), gettext_noop("no"), gettext_noop("nothing"),
    gettext_noop("offered"), gettext_noop("feed"),
)  # fmt: skip
DOTS = {"failed": "fail", "answered": "done", "wrote": "done", "checked": "done"}


@dataclass(frozen=True, slots=True)
class ActivationRow:
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
        return CSS.get(ActivationState(self.row.state), "")

    @property
    def is_running(self) -> bool:
        return self.row.state == ActivationState.RUNNING


@dataclass(frozen=True, slots=True)
class TranscriptRow:
    step: TranscriptStep

    @property
    def title(self) -> str:
        return gettext(self.step.kind).capitalize()

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
    return str(value)[:2_000]


def list_activations(
    given: Mapping[str, str], *, now: datetime, reach: Scope = UNRESTRICTED
) -> KeysetPage[ActivationRow]:
    """List activations, newest first, filtered by agent and state. One query."""
    asked = {name: given.get(name, "") for name in ("agent", "state")}
    found = Activation.objects.select_related("agent", "presence__account").defer(
        "agent__persona", "presence__account__sealed_credential", "presence__account__cursor"
    )
    found = reach.narrow(found, account="presence__account", agent="agent__slug")
    if asked["agent"]:
        found = found.filter(agent__slug=asked["agent"])
    if asked["state"] in ActivationState.values:
        found = found.filter(state=asked["state"])
    return paginate(found, given, keep=asked).map(lambda row: ActivationRow(row, now))
