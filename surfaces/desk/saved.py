"""Views of the desk under a name."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl, urlencode

from django.db import IntegrityError, transaction
from django.utils.translation import gettext_lazy as _

from surfaces.desk.asked import Asked
from surfaces.errors import BadInput, NotAllowed
from surfaces.models import AuditEvent, Operator, SavedView

MOST = 20
BUILT_IN = [
    (_("Everything"), Asked()),
    (_("Expire within 1 h"), Asked(expires="1h")),
    (_("High risk"), Asked(risk="high")),
    (_("Put off"), Asked(later="1")),
]


@dataclass(frozen=True, kw_only=True, slots=True)
class View:
    """A line of the side bar."""

    name: str
    asked: Asked
    saved: SavedView | None = None

    @property
    def query(self) -> str:
        return urlencode(self.asked.query())


def views_of(operator: Operator) -> list[View]:
    """What everybody has, then one's own and the shared ones."""
    rows = list(SavedView.objects.seen_by(operator)[: MOST * 2])
    built_in = [View(name=str(name), asked=asked) for name, asked in BUILT_IN]
    return [*built_in, *(View(name=row.name, asked=_asked(row), saved=row) for row in rows)]


def _asked(row: SavedView) -> Asked:
    return Asked.of(dict(parse_qsl(row.query)))


@transaction.atomic
def save(operator: Operator, name: str, asked: Asked, *, is_shared: bool = False) -> SavedView:
    """Keep a view under a name; the same name again keeps the new one."""
    name = " ".join(name.replace("\0", "").split())
    if not name or len(name) > 60:
        raise BadInput("Give the view a name of 1 to 60 characters.")
    if is_shared and not operator.may_manage:
        raise NotAllowed("Only administrators share views with everybody.")
    if SavedView.objects.filter(operator=operator).exclude(name=name).count() >= MOST:
        raise NotAllowed(f"You have {MOST} views. Remove one first.")
    kept: dict[str, Any] = {"query": urlencode(asked.query()), "is_shared": is_shared}
    try:
        with transaction.atomic():
            row, _made = SavedView.objects.update_or_create(
                operator=operator, name=name, defaults=kept
            )
    except IntegrityError as error:
        raise BadInput("This name was taken in this moment. Try again.") from error
    AuditEvent.objects.record("view.saved", actor=operator.actor, subject=row, name=name, **kept)
    return row


@transaction.atomic
def remove(operator: Operator, view_id: int) -> dict[str, str]:
    """Remove one's own view; return what would make it again."""
    row = SavedView.objects.filter(operator=operator, pk=view_id).first()
    if row is None:
        raise NotAllowed("This view is not yours, or it is gone already.")
    AuditEvent.objects.record("view.removed", actor=operator.actor, subject=row, name=row.name)
    again = {"name": row.name, "query": row.query, "shared": "1" if row.is_shared else ""}
    row.delete()
    return again
