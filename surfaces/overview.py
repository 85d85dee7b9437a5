"""What home shows of a day: what came in, what went out, what each account is doing."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from django.db.models import Count, Q, Sum

from surfaces.models import Account, Draft, Message, WatchRound


@dataclass(frozen=True, kw_only=True, slots=True)
class Today:
    """Counts since the operator's midnight."""

    seen: int
    spam: int
    suspect: int
    said: int
    rounds: int


def today(midnight: datetime) -> Today:
    found = WatchRound.objects.since(midnight).aggregate(
        seen=Sum("stored", default=0),
        spam=Sum("spam", default=0),
        suspect=Sum("suspect", default=0),
        rounds=Count("pk"),
    )
    said = Message.objects.outgoing().written_since(midnight).count()
    return Today(said=said, **found)


@dataclass(frozen=True, slots=True)
class OnItsWay:
    """Drafts a person said yes to that have not arrived."""

    approved: int
    sending: int
    unknown: int


def on_its_way() -> OnItsWay:
    found = Draft.objects.under_way().aggregate(
        **{state: Count("pk", filter=Q(state=state)) for state in OnItsWay.__slots__}
    )
    return OnItsWay(**found)


def latest_rounds(accounts: list[Account]) -> dict[int, WatchRound]:
    """The last round of each account, by account id."""
    rows = WatchRound.objects.filter(account__in=accounts).latest_of_each()
    return {row.account_id: row for row in rows}
