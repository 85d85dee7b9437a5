"""Match an event against a notification rule. Pure.

A rule may only narrow what its operator sees, never widen it: reach is asked first.
"""

from dataclasses import dataclass

from surfaces.desk.models import Risk
from surfaces.operators.scope import Scope

TROUBLE = "account"  # the desk's kind for accounts that need a person


@dataclass(frozen=True, kw_only=True, slots=True)
class NoticeEvent:
    account: int | None = None
    surface: int | None = None
    agent: str = ""
    kind: str = ""
    risk: int = Risk.LOW
    desk_item: int = 0


@dataclass(frozen=True, kw_only=True, slots=True)
class NoticeFilter:
    """What one rule asks for. No kinds: every kind. None: no limit."""

    hears_items: bool = True
    hears_down: bool = False
    kinds: frozenset[str] = frozenset()
    surfaces: frozenset[int] | None = None
    agents: frozenset[str] | None = None
    min_risk: int = Risk.LOW
    from_item: int = 0


def wants_item(wish: NoticeFilter, reach: Scope, thing: NoticeEvent) -> bool:
    if not wish.hears_items or thing.desk_item <= wish.from_item:
        return False
    # Who hears of outages hears of a troubled account there, with its end.
    if thing.kind == TROUBLE and wish.hears_down:
        return False
    return fits_item(wish, reach, thing)


def fits_item(wish: NoticeFilter, reach: Scope, thing: NoticeEvent) -> bool:
    return (
        fits_place(wish, reach, thing)
        and (not wish.kinds or thing.kind in wish.kinds)
        and (wish.agents is None or thing.agent in wish.agents)
        and thing.risk >= wish.min_risk
    )


def fits_place(wish: NoticeFilter, reach: Scope, thing: NoticeEvent) -> bool:
    is_near = wish.surfaces is None or thing.surface in wish.surfaces
    return is_near and reach.allows(thing.account, thing.agent)


def is_urgent(risk: int) -> bool:
    return risk >= Risk.HIGH
