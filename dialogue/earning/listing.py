"""Stones newest first with what each earned, and who lays them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Count, F, OuterRef, QuerySet, Subquery, TextField, Value
from django.db.models.functions import Coalesce, Left, NullIf

from dialogue.engagement import strangers_comments
from dialogue.models import Kernel, Presence, Stone
from dialogue.overview.paging import sheet
from surfaces.models import AuditEvent
from surfaces.models.audit import name_of
from surfaces.reach import WHOLE, Reach

HEAVY = ["presence__agent__persona", "presence__account__sealed_credential",
         "presence__account__cursor"]  # fmt: skip
GREW_FROM = Coalesce(
    NullIf("thread__title", Value("")),
    Left("thread__content", 200),
    "kernel__words",
    output_field=TextField(),
)


@dataclass(frozen=True, slots=True)
class Earned:
    comments: int = 0
    commenters: int = 0


@dataclass(frozen=True, slots=True)
class Listed:
    stone: Stone
    earned: Earned


@dataclass(frozen=True, kw_only=True, slots=True)
class Page:
    rows: list[Listed]
    newer: str
    older: str


def page(agent: str, given: Mapping[str, str], reach: Reach = WHOLE) -> Page:
    """Newest first, of one agent or of all. Two queries."""
    found = of(agent, reach).select_related("presence__agent", "presence__account", "draft")
    found = found.defer(*HEAVY, "table", "draft__text").annotate(grew_from=GREW_FROM)
    part = sheet(found, {"agent": agent}, given)
    gains = earned(part.rows)
    rows = [Listed(stone, gains.get(stone.pk, Earned())) for stone in part.rows]
    return Page(rows=rows, newer=part.newer, older=part.older)


def within(rows: QuerySet[Stone], reach: Reach) -> QuerySet[Stone]:
    return reach.narrow(rows, account="presence__account", agent="presence__agent__slug")


def of(agent: str, reach: Reach = WHOLE) -> QuerySet[Stone]:
    rows = within(Stone.objects.all(), reach)
    return rows.filter(presence__agent__slug=agent) if agent else rows


def earned(stones: Sequence[Stone] | QuerySet[Stone]) -> dict[int, Earned]:
    """By stone; those nobody answered are missing. One query."""
    who = Coalesce(NullIf("author_id", Value("")), F("author"))
    rows = (
        strangers_comments()
        .filter(post__draft__stone__in=stones)
        .order_by()
        .values_list("post__draft__stone")
        .annotate(comments=Count("pk"), commenters=Count(who, distinct=True))
    )
    return {pk: Earned(comments, commenters) for pk, comments, commenters in rows}


# ── who lays them ─────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class Layer:
    """A presence whose agent lays stones, and what stands in the way of its next."""

    presence: Presence
    kernels: int
    nothing: str = ""  # why it found nothing to lay, if so since its last stone

    @property
    def obstacle(self) -> str:
        agent = self.presence.agent
        if not agent.settings.is_autonomous:
            return "Its agent writes nothing unasked: the switch is off."
        if agent.lives != "here":
            return "Its agent lives elsewhere and posts by itself."
        if self.presence.account.mode == "off":
            return "Its mode is off."
        if not self.presence.stones_per_day:
            return "It is set to no stones a day."
        return self.nothing


def layers(agent: str, reach: Reach = WHOLE) -> list[Layer]:
    """Two queries."""
    kernels = Kernel.objects.filter(agent=OuterRef("agent"), is_on=True).order_by()
    last = Stone.objects.filter(presence=OuterRef("pk")).values("chosen_at")[:1]
    rows = Presence.objects.live().filter(agent__settings__lays_stones=True)
    rows = reach.narrow(rows, agent="agent__slug")
    rows = rows.filter(agent__slug=agent) if agent else rows
    found: list[Any] = list(
        rows.select_related("agent__settings", "account")
        .defer("agent__persona", "account__sealed_credential", "account__cursor")
        .annotate(
            kernels_on=Subquery(kernels.values("agent").annotate(n=Count("pk")).values("n")),
            last=Subquery(last),
        )
        .order_by("agent__slug", "account__name")
    )
    said = _said_nothing([name_of(row.account) for row in found])
    return [
        Layer(row, row.kernels_on or 0, _since(row.last, said.get(name_of(row.account))))
        for row in found
    ]


def _said_nothing(subjects: Sequence[str]) -> dict[str, AuditEvent]:
    """The last time each was found to have nothing to lay."""
    lines = AuditEvent.objects.called("stone.nothing").filter(subject__in=subjects)
    return {line.subject: line for line in lines.order_by("subject", "-id").distinct("subject")}


def _since(last: datetime | None, line: AuditEvent | None) -> str:
    return line.why if line and (last is None or line.at > last) else ""
