"""Read activations for the list and for panels."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Count, OuterRef, Q, QuerySet, Subquery
from django.utils.translation import gettext

from dialogue.activations.models import (
    UNFINISHED,
    Activation,
    ActivationItem,
    ActivationState,
    Purpose,
)
from dialogue.budgets.meters import money
from surfaces.operators.scope import UNRESTRICTED, Scope
from surfaces.web.pagination import KeysetPage, paginate

CSS = {
    ActivationState.RUNNING: "ours",
    ActivationState.WAITING: "wait",
    ActivationState.DONE: "ok",
    ActivationState.FAILED: "bad",
    ActivationState.EXHAUSTED: "wait",
    ActivationState.RELEASED: "",
    ActivationState.ABANDONED: "bad",
}
MOST_RUNNING = 30  # shown above the list
FILTERS = ("agent", "state", "purpose")


@dataclass(frozen=True, slots=True)
class ActivationRow:
    row: Any
    now: datetime

    @property
    def took(self) -> timedelta:
        length: timedelta = (self.row.ended_at or self.now) - self.row.started_at
        return length

    @property
    def worked(self) -> timedelta:
        """Without the time it waited for operators."""
        row, before = self.row, timedelta(milliseconds=self.row.worked_ms)
        if row.state == ActivationState.WAITING:
            return before
        # One that ended while it waited was counted when it was suspended.
        began = row.resumed_at or (None if row.worked_ms else row.started_at)
        now: datetime = row.ended_at or self.now
        return before + (now - began) if began else before

    @property
    def cost(self) -> str:
        return money(self.row.cost)

    @property
    def tokens(self) -> int:
        return int(self.row.tokens_in + self.row.tokens_out)

    @property
    def items(self) -> str:
        """ "2 of 5": ended, and all. Older activations have none."""
        if not self.row.items_all:
            return "–"
        if self.row.items_ended == self.row.items_all:
            return str(self.row.items_all)
        return f"{self.row.items_ended or 0} / {self.row.items_all}"

    @property
    def css(self) -> str:
        return CSS.get(ActivationState(self.row.state), "")

    @property
    def state(self) -> str:
        """For the badge in a row, where there is no room for what it waits for."""
        if self.is_waiting:
            return gettext("waiting")
        return str(self.row.get_state_display()).lower()

    @property
    def is_running(self) -> bool:
        return bool(self.row.state == ActivationState.RUNNING)

    @property
    def is_waiting(self) -> bool:
        return bool(self.row.state == ActivationState.WAITING)

    @property
    def is_live(self) -> bool:
        return self.is_running or self.is_waiting


def rows_within(reach: Scope) -> QuerySet[Activation]:
    """Those an operator may see, with counts of their items, without long columns."""
    items = ActivationItem.objects.filter(activation=OuterRef("pk")).order_by()
    counted = items.values("activation").annotate(n=Count("pk")).values("n")
    ended = items.exclude(state__in=UNFINISHED).values("activation").annotate(n=Count("pk"))
    found = (
        Activation.objects.select_related("agent", "presence__account__surface")
        .defer(
            "task", "agent__persona", "agent__carried", "presence__account__sealed_credential",
            "presence__account__cursor",
        )
        .annotate(items_all=Subquery(counted), items_ended=Subquery(ended.values("n")))
    )  # fmt: skip
    return reach.narrow(found, account="presence__account", agent="agent__slug")


def filters(given: Mapping[str, str]) -> dict[str, str]:
    """What the address asks for; a state or purpose that does not exist asks for nothing."""
    asked = {name: given.get(name, "")[:64] for name in FILTERS}
    for name, known in (("state", ActivationState.values), ("purpose", Purpose.values)):
        if asked[name] not in known:
            asked[name] = ""
    return asked


def _chosen(rows: QuerySet[Activation], asked: Mapping[str, str]) -> QuerySet[Activation]:
    wanted = {"agent__slug": asked["agent"], "purpose": asked["purpose"]}
    return rows.filter(**{name: value for name, value in wanted.items() if value})


def list_activations(
    given: Mapping[str, str], *, now: datetime, reach: Scope = UNRESTRICTED
) -> KeysetPage[ActivationRow]:
    """Newest first. Running ones stand above, unless their state is asked for. One query."""
    asked = filters(given)
    state = Q(state=asked["state"]) if asked["state"] else ~Q(state=ActivationState.RUNNING)
    found = _chosen(rows_within(reach), asked).filter(state)
    return paginate(found, given, keep=asked).map(lambda row: ActivationRow(row, now))


def running_now(
    given: Mapping[str, str], *, now: datetime, reach: Scope = UNRESTRICTED
) -> list[ActivationRow]:
    """Running ones for above the list, oldest first; none on its further pages. One query."""
    asked = filters(given)
    if asked["state"] or "before" in given or "after" in given:
        return []
    rows = _chosen(rows_within(reach).filter(state=ActivationState.RUNNING), asked)
    return [ActivationRow(row, now) for row in rows.order_by("started_at", "pk")[:MOST_RUNNING]]
