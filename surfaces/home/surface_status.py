"""State of every surface, shown by its account in the worst state."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from surfaces.accounts.models.account import Account
from surfaces.accounts.models.surface import Surface
from surfaces.accounts.rate_limit_usage import Usage
from surfaces.pauses.models import Pause, PauseScope
from surfaces.web import charts

LOW = 0.2  # remaining share of a rate limit: slow
URGENCY = {"bad": 0, "wait": 1}  # errors first


@dataclass(frozen=True, kw_only=True, slots=True)
class SurfaceStatus:
    """One surface as home shows it. `account` is the one that says how it is."""

    surface: Surface
    account: Account
    pause: Pause | None  # of everything, of it, or of its only accounts
    is_on: bool
    tightest: Usage | None
    hours: list[int]  # new messages, the oldest hour first

    @property
    def needs_person(self) -> bool:
        return self.is_on and self.account.needs_person

    @property
    def may_send(self) -> bool:
        return self.is_on and not self.pause and self.account.state != "auth_failed"

    @property
    def is_low(self) -> bool:
        return self.tightest is not None and self.tightest.share < LOW

    @property
    def css(self) -> str:
        """Of the dot: full works, ring is slow, diamond is refused, grey is at rest."""
        if not self.is_on:
            return ""
        if self.account.needs_person:
            return "bad"
        if self.pause:
            return ""
        return "wait" if not self.account.is_well or self.is_low else "ok"

    @property
    def spark(self) -> charts.Spark:
        return charts.spark(self.hours)

    @property
    def total(self) -> int:
        return sum(self.hours)


def surface_statuses(
    accounts: Iterable[Account],
    pauses: Sequence[Pause],
    budgets: Mapping[int, list[Usage]],
    hours: Mapping[int, list[int]],
    *,
    now: datetime,
) -> list[SurfaceStatus]:
    by_surface: dict[int, list[Account]] = {}
    for account in accounts:
        by_surface.setdefault(account.surface_id, []).append(account)
    found = [_status_of(ours, pauses, budgets, hours) for ours in by_surface.values()]
    return sorted(found, key=lambda place: (URGENCY.get(place.css, 2), place.surface.name.lower()))


def _status_of(
    accounts: list[Account],
    pauses: Sequence[Pause],
    budgets: Mapping[int, list[Usage]],
    hours: Mapping[int, list[int]],
) -> SurfaceStatus:
    surface = accounts[0].surface
    on = [account for account in accounts if account.is_on and surface.is_on]
    limits = [each for account in on for each in budgets.get(account.pk, [])]
    series = [hours[account.pk] for account in accounts if account.pk in hours]
    # The account in the worst state says how the surface is.
    return SurfaceStatus(
        surface=surface,
        account=min(on or accounts, key=lambda each: (not each.needs_person, each.is_well)),
        pause=_pause(surface, on or accounts, pauses),
        is_on=bool(on),
        tightest=min(limits, key=lambda each: each.share, default=None),
        hours=[sum(of_hour) for of_hour in zip(*series, strict=True)],
    )


def _pause(surface: Surface, accounts: list[Account], pauses: Sequence[Pause]) -> Pause | None:
    """A pause that stops all accounts of the surface."""
    wide = [(PauseScope.ALL, ""), (PauseScope.SURFACE, surface.slug)]
    for pause in pauses:
        if (pause.scope, pause.subject) in wide:
            return pause
    of_one = {pause.subject: pause for pause in pauses if pause.scope == PauseScope.ACCOUNT}
    held = [of_one[account.name] for account in accounts if account.name in of_one]
    return held[0] if held and len(held) == len(accounts) else None
