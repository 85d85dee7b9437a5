"""Views of the desk under a name."""

from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl, urlencode

from django.db import IntegrityError, transaction
from django.utils.translation import gettext_lazy as _

from surfaces.audit.models import AuditEvent
from surfaces.desk.filters import DeskFilters
from surfaces.desk.models import SavedView
from surfaces.errors import BadInput, NotAllowed
from surfaces.operators.models.operator import Operator

MOST = 20
BUILT_IN = [
    (_("Everything"), DeskFilters()),
    (_("Expire within 1 h"), DeskFilters(expires="1h")),
    (_("High risk"), DeskFilters(risk="high")),
    (_("Snoozed"), DeskFilters(later="1")),
]


@dataclass(frozen=True, kw_only=True, slots=True)
class DeskView:
    name: str
    asked: DeskFilters
    saved: SavedView | None = None

    @property
    def query(self) -> str:
        return urlencode(self.asked.query())


def views_of(operator: Operator) -> list[DeskView]:
    rows = list(SavedView.objects.seen_by(operator)[: MOST * 2])
    built_in = [DeskView(name=str(name), asked=asked) for name, asked in BUILT_IN]
    asked = [DeskFilters.of(dict(parse_qsl(row.query))) for row in rows]
    saved = zip(rows, asked, strict=True)
    return [*built_in, *(DeskView(name=row.name, asked=each, saved=row) for row, each in saved)]


@transaction.atomic
def save(
    operator: Operator, name: str, asked: DeskFilters, *, is_shared: bool = False
) -> SavedView:
    name = " ".join(name.split())
    if not name or len(name) > 60:
        raise BadInput(_("Give the view a name of 1 to 60 characters."))
    if is_shared and not operator.may_manage:
        raise NotAllowed(_("Only administrators share views with everybody."))
    if SavedView.objects.filter(operator=operator).exclude(name=name).count() >= MOST:
        raise NotAllowed(_("You have %(most)s views. Remove one first."), most=MOST)
    kept: dict[str, Any] = {"query": urlencode(asked.query()), "is_shared": is_shared}
    try:
        with transaction.atomic():
            row, _made = SavedView.objects.update_or_create(
                operator=operator, name=name, defaults=kept
            )
    except IntegrityError as error:
        raise BadInput(_("This name was taken in this moment. Try again.")) from error
    AuditEvent.objects.record("view.saved", actor=operator.actor, subject=row, name=name, **kept)
    return row


@transaction.atomic
def remove(operator: Operator, view_id: int) -> dict[str, str]:
    row = SavedView.objects.filter(operator=operator, pk=view_id).first()
    if row is None:
        raise NotAllowed(_("This view is not yours, or it is gone already."))
    AuditEvent.objects.record("view.removed", actor=operator.actor, subject=row, name=row.name)
    again = {"name": row.name, "query": row.query, "shared": "1" if row.is_shared else ""}
    row.delete()
    return again
