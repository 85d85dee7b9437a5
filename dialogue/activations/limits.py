"""Limits of one activation, over all claims of it: requests, tool calls, tokens, money, time.

They are asked before a request or a call is made, never after it (activations, 3).
"""

from datetime import datetime, timedelta
from decimal import Decimal

from django.db.models import F
from django.db.models.expressions import Combinable

from dialogue.activations.models import Activation
from dialogue.errors import LeaseLost, LimitReached
from dialogue.models import AgentSettings
from surfaces.text.reasons import StoredReason, reason


def count_request(
    activation: Activation, settings: AgentSettings, *, tokens: int, money: Decimal, now: datetime
) -> None:
    """Count a request to a model that may cost so much, or raise `LimitReached`."""
    row = _current(activation)
    used, spent = row.tokens_in + row.tokens_out, row.cost
    most, cap = settings.tokens_per_run, settings.money_per_run
    _check_time(row, settings, now)
    for applies, why in (
        (row.requests >= settings.max_iterations,
         reason("activation.iterations_used", most=settings.max_iterations)),
        (used + tokens > most, reason("activation.tokens_used", used=used, most=most)),
        (spent + money > cap, reason("activation.money_used", spent=spent, most=cap)),
    ):  # fmt: skip
        if applies:
            raise LimitReached(why)
    _count(activation, requests=F("requests") + 1)


def count_call(activation: Activation, settings: AgentSettings, *, now: datetime) -> None:
    """Count a tool call, or raise `LimitReached`."""
    row = _current(activation)
    _check_time(row, settings, now)
    if row.calls >= settings.max_tool_calls:
        raise LimitReached(reason("activation.calls_used", most=settings.max_tool_calls))
    _count(activation, calls=F("calls") + 1)


def worked(activation: Activation, *, now: datetime) -> timedelta:
    """How long it has worked, without the time it waited for operators."""
    began = activation.resumed_at or activation.started_at
    return timedelta(milliseconds=activation.worked_ms) + (now - began)


def time_reached(
    activation: Activation, settings: AgentSettings, *, now: datetime
) -> StoredReason | None:
    if worked(activation, now=now) < timedelta(seconds=settings.seconds_per_run):
        return None
    return reason("activation.time_used", most=settings.seconds_per_run)


def _check_time(row: Activation, settings: AgentSettings, now: datetime) -> None:
    if why := time_reached(row, settings, now=now):
        raise LimitReached(why)


def _current(activation: Activation) -> Activation:
    """The row as it is now, locked, or `LeaseLost`."""
    row = activation.mine().select_for_update().first()
    if row is None:
        raise LeaseLost(f"activation {activation.pk} was taken back")
    return row


def _count(activation: Activation, **facts: Combinable) -> None:
    if not activation.mine().update(**facts):
        raise LeaseLost(f"activation {activation.pk} was taken back")
