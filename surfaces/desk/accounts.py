"""Accounts on the desk: those in a trouble that does not end by itself."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from django.db.models import Count, Q
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from surfaces import tending
from surfaces.desk.kinds import Act, Given, Kind, Line
from surfaces.models import Account, DeskItem
from surfaces.models.draft import State


def load(ids: Iterable[int]) -> Mapping[int, int]:
    """The item says it all."""
    return {pk: pk for pk in ids}


def get(pk: int) -> Account | None:
    rows = Account.objects.select_related("surface").defer("sealed_credential", "cursor")
    held = Count("drafts", filter=Q(drafts__state=State.APPROVED))
    return rows.filter(pk=pk).annotate(held=held).first()


def line(row: int, item: DeskItem) -> Line:
    return Line(
        who=item.account.name,
        place=item.account.surface.name,
        author="",
        said=item.account.get_state_display(),
        whys=(item.words,),
        badge=_("high"),
        badge_css="bad",
    )


def title(row: Account) -> str:
    return _("%(name)s cannot work on %(place)s") % {"name": row.name, "place": row.surface.name}


def context(row: Account, now: datetime) -> dict[str, Any]:
    return {"account": row}


def decided(row: Account, me: str, now: datetime) -> str:
    return "" if row.needs_person else "It works again."


def clear(row: Account, given: Given) -> str:
    tending.clear(row, by=given.by, now=given.now)
    return f"{row.name} is read again at once; the next round finds out."


CLEAR = Act(name="clear", label=gettext_lazy("Try it again"), key="a", css="primary", verb=clear)
KINDS = [
    Kind(name="account", label=gettext_lazy("Account in trouble"), short=gettext_lazy("Account"),
         plural=gettext_lazy("Accounts in trouble"), icon="warn", css="bad", load=load, get=get,
         line=line, context=context, title=title, decided=decided,
         template="surfaces/desk/_account.html", steps=lambda row: [], acts=(CLEAR,)),
]  # fmt: skip
