"""Accounts on the desk: those whose error needs an operator."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from django.db.models import Count, F, Q, TextField, Value
from django.db.models.functions import MD5, Cast, Concat
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as _lazy

from surfaces.accounts import services
from surfaces.accounts.models.account import Account
from surfaces.desk.kinds import Action, ActionInput, DeskKind, RowSummary
from surfaces.desk.models import DeskItem
from surfaces.drafts.models import DraftState


def load(ids: Iterable[int]) -> Mapping[int, int]:
    return {pk: pk for pk in ids}


def get(pk: int) -> Account | None:
    rows = Account.objects.select_related("surface").defer("sealed_credential", "cursor")
    held = Count("drafts", filter=Q(drafts__state=DraftState.APPROVED))
    why = Cast("state_why", TextField())
    stamp = MD5(Concat(F("state"), Value("\x1f"), why, output_field=TextField()))
    return rows.filter(pk=pk).annotate(held=held, stamp=stamp).first()


def line(row: int, item: DeskItem) -> RowSummary:
    return RowSummary(
        who=item.account.name, place=item.account.surface.name, author="",
        said=item.account.get_state_display(), whys=(str(item.account.state_why),), badge=_("high"),
        badge_css="bad",
    )  # fmt: skip


def title(row: Account) -> str:
    return _("%(name)s has an error on %(place)s") % {"name": row.name, "place": row.surface.name}


def context(row: Account, now: datetime) -> dict[str, Any]:
    return {"account": row}


def decided(row: Account, me: str, now: datetime) -> str:
    return "" if row.needs_person else _("The error is gone.")


def clear(row: Account, given: ActionInput) -> str:
    services.clear(row, by=given.by, now=given.now)
    return _("Error cleared. The next poll will check %(name)s.") % {"name": row.name}


CLEAR = Action(
    name="clear", label=_lazy("Clear error and check"), key="a", css="primary", verb=clear
)
KINDS = [
    DeskKind(name="account", subject="account", label=_lazy("Account error"),
         short=_lazy("Account"), plural=_lazy("Account errors"), icon="warn", css="bad",
         load=load, get=get, line=line, context=context, title=title,
         decided=decided, steps=lambda row: [], acts=(CLEAR,),
         template="surfaces/desk/_account_item.html"),
]  # fmt: skip
