"""Check that streams belong to signed-in, active operators with an unchanged password."""

from collections.abc import Iterable
from datetime import datetime

from surfaces.operators.models.operator import Operator
from surfaces.operators.models.session import OperatorSession
from surfaces.operators.scope import Scope
from surfaces.operators.sessions import is_theirs

Place = tuple[int, str]  # (operator, session key)


def authorized(places: Iterable[Place], now: datetime) -> dict[Place, Operator]:
    """The operator of each stream; missing ones must be closed. Two queries for all of them."""
    wanted = set(places)
    keys = {key for _, key in wanted}
    sessions = OperatorSession.objects.filter(session_key__in=keys, expire_date__gt=now).in_bulk()
    operators = Operator.objects.filter(is_active=True).in_bulk({pk for pk, _ in wanted})
    return {
        (pk, key): operators[pk]
        for pk, key in wanted
        if pk in operators
        and not operators[pk].lacks_two_factor  # every page leads to setting it up
        and key in sessions
        and is_theirs(sessions[key], operators[pk])
    }


def scopes(places: Iterable[Place], now: datetime) -> dict[Place, Scope]:
    """The current scope per authorized stream. One more query for each limited operator."""
    allowed = authorized(places, now)
    by_operator = {operator.pk: operator.reach for operator in {*allowed.values()}}
    return {place: by_operator[place[0]] for place in allowed}
