"""Read tool calls for the desk: of the queue, of one pane, and those like it."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from django.db.models import F, Func, QuerySet, TextField, Value
from django.db.models.functions import MD5, Cast

from dialogue.approvals.models import ToolCall
from dialogue.approvals.similarity import are_alike
from surfaces.desk.models import DeskItem
from surfaces.models import Message

HEAVY = ["raw_json", "search"]
NEIGHBOURS = 100  # waiting calls of the same agent that are compared with one
MOST_ALIKE = 20  # shown


@dataclass(frozen=True, slots=True)
class DeskCall:
    """A tool call with what the desk asks of every row: whose it is, and its stamp."""

    call: ToolCall
    stamp: str

    @property
    def pk(self) -> int:
        return self.call.pk

    @property
    def account_id(self) -> int:
        return self.call.presence.account_id

    @property
    def agent(self) -> str:
        return self.call.agent.slug

    @property
    def message(self) -> Message | None:
        """The comment at hand, else the post of the thread."""
        notification = self.call.item.notification
        return notification.message if notification else self.call.thread


def stamped(rows: QuerySet[ToolCall]) -> QuerySet[ToolCall]:
    """Each with a `stamp` of what would run and on whose words it rests."""
    told = ("state", "digest", "arguments", "sources")
    said = [Value("\x1f"), *(Cast(F(name), TextField()) for name in told)]
    return rows.annotate(stamp=MD5(Func(*said, function="CONCAT_WS", output_field=TextField())))


def load(ids: Iterable[int]) -> Mapping[int, ToolCall]:
    rows = ToolCall.objects.filter(pk__in=list(ids)).only("risk", "why", "state")
    return {row.pk: row for row in stamped(rows)}


def get(pk: int) -> DeskCall | None:
    rows = ToolCall.objects.select_related(
        "agent", "presence__account__surface", "activation", "rule",
        "item__notification__message__post", "thread__post",
    ).defer(
        "shown", "agent__persona",
        "presence__account__sealed_credential", "presence__account__cursor",
        *(f"{path}__{name}" for name in HEAVY for path in (
            "thread", "thread__post", "item__notification__message",
            "item__notification__message__post",
        )),
    )  # fmt: skip
    found: Any = stamped(rows.filter(pk=pk)).first()
    return DeskCall(found, found.stamp) if found else None


def lock(pk: int) -> object:
    """Hold the row until the decision is made."""
    return ToolCall.objects.select_for_update(of=("self",)).filter(pk=pk).values_list("pk").first()


def calls_like(row: DeskCall) -> list[ToolCall]:
    """Waiting calls of the same agent and account to the same tool, with similar arguments."""
    beside = DeskItem.objects.filter(
        kind="tool_call", agent=row.agent, account=row.account_id
    ).exclude(item_id=row.pk)
    ids = list(beside.order_by("since", "id").values_list("item_id", flat=True)[:NEIGHBOURS])
    if not ids:
        return []
    rows = ToolCall.objects.waiting().filter(pk__in=ids, tool=row.call.tool)
    kept = ("tool", "arguments", "risk", "made_at", "expires_at")
    found = stamped(rows.only(*kept)).order_by("made_at", "id")
    return [one for one in found if are_alike(one.arguments, row.call.arguments)][:MOST_ALIKE]
