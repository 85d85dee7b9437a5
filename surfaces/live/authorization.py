"""Check that streams belong to signed-in, active operators with an unchanged password."""

from collections.abc import Iterable
from datetime import datetime

from surfaces.operators.models.operator import Operator
from surfaces.operators.models.session import OperatorSession
from surfaces.operators.scope import Scope
from surfaces.operators.sessions import is_theirs

Place = tuple[int, str]  # (operator, session key)


def authorization(places: Iterable[Place], now: datetime) -> dict[Place, Scope]:
    """The current scope per stream; missing ones must be closed. Two queries for all of them."""
    wanted = set(places)
    keys = {key for _, key in wanted}
    sessions = OperatorSession.objects.filter(session_key__in=keys, expire_date__gt=now).in_bulk()
    operators = Operator.objects.filter(is_active=True).in_bulk({pk for pk, _ in wanted})
    return {
        (pk, key): operators[pk].reach
        for pk, key in wanted
        if pk in operators and key in sessions and is_theirs(sessions[key], operators[pk])
    }
