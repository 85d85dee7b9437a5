"""The notes of an agent for its page, with what each rests on."""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from django.contrib.postgres.search import SearchQuery
from django.db.models import Q, QuerySet
from django.urls import reverse
from django.utils.translation import gettext as _

from dialogue.activations.models import Activation
from dialogue.agents import scope
from dialogue.agents.models.agent import Agent
from dialogue.budgets.meters import BudgetMeter
from dialogue.memory import services
from dialogue.memory.models import Memory, Trust
from surfaces.operators.scope import UNRESTRICTED, Scope
from surfaces.web.pagination import KeysetPage, paginate
from surfaces.web.requests import parse_id

KILOBYTE = 1_024
CSS = {Trust.STRANGER: "wait", Trust.AGENT: "", Trust.OPERATOR: "ok"}


@dataclass(frozen=True, slots=True)
class MemorySourceLine:
    words: str
    url: str = ""


@dataclass(frozen=True, slots=True)
class MemoryRow:
    memory: Memory

    @property
    def css(self) -> str:
        return CSS.get(Trust(self.memory.trust), "")

    @property
    def sources(self) -> list[MemorySourceLine]:
        given = self.memory.sources if isinstance(self.memory.sources, list) else []
        return [_source(fact) for fact in given if isinstance(fact, dict)]


def _source(fact: Mapping[str, Any]) -> MemorySourceLine:
    kind, name, author = (str(fact.get(key, ""))[:200] for key in ("kind", "id", "author"))
    names = {
        "message": _("Message"), "memory": _("Note"), "item": _("Post"), "page": _("Page"),
        "tool": _("Tool"),
    }  # fmt: skip
    words = f"{names.get(kind, kind)} {name}".strip()
    if author:
        words = _("%(what)s by %(author)s") % {"what": words, "author": author}
    pk = parse_id(name)
    if kind == "message" and pk is not None:
        return MemorySourceLine(words, reverse("surfaces:message", args=[pk]))
    return MemorySourceLine(words)


def memories_within(reach: Scope) -> QuerySet[Memory]:
    """Those kept while the agent worked through accounts within reach, or through none."""
    rows = Memory.objects.filter(agent__in=scope.agents_within(reach).order_by())
    here = reach.narrow(Activation.objects.all(), account="presence__account", agent="")
    if reach.accounts is not None:
        rows = rows.filter(Q(activation=None) | Q(activation__in=here))
    return rows


def list_memories(
    agent: Agent, asked: str, given: Mapping[str, str], *, reach: Scope = UNRESTRICTED
) -> KeysetPage[MemoryRow]:
    """Newest first, or those that have these words. One query."""
    asked = asked.replace("\0", "").strip()
    found = memories_within(reach).filter(agent=agent).select_related("activation")
    if asked:
        # Scripts without blanks have no words to find in the index; an agent has few notes.
        query = SearchQuery(asked, config="simple", search_type="websearch")
        found = found.filter(
            Q(search=query) | Q(words__icontains=asked) | Q(topic__icontains=asked)
        )
    return paginate(found, given, keep={"q": asked}).map(MemoryRow)


def size_of(agent: Agent) -> BudgetMeter:
    used = Decimal(-(-services.size(agent) // KILOBYTE))  # begun ones count
    most = Decimal(agent.settings.memory_kilobytes)
    return BudgetMeter(label=_("Size of all notes"), used=used, most=most, unit=_("kB"))
