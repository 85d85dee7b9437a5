"""Which pauses an operator with limits may see and set."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence

from django.utils.translation import gettext_lazy as _lazy

from surfaces.accounts.models.account import Account
from surfaces.operators.scope import Scope
from surfaces.operators.scope_queries import accounts_of, agents_within, sees_agent
from surfaces.pauses.models import Pause, PauseScope

ALL = _lazy("Your access is limited. An operator without limits can pause everything.")
PARTLY = _lazy("Part of %(subject)s is outside your limits. Pause single accounts of it instead.")


def may_see(reach: Scope, scope: str, subject: str) -> bool:
    """Whether anything that this pause is about is within reach. One query at most."""
    if reach.accounts is None or scope == PauseScope.ALL:
        return True
    if scope == PauseScope.AGENT:
        return sees_agent(reach, subject)
    rows = reach.narrow(Account.objects.all(), account="pk", agent="")
    named = {"surface__slug": subject} if scope == PauseScope.SURFACE else {"name": subject}
    return rows.filter(**named).exists()


def refusal(reach: Scope, scope: str, subject: str) -> str:
    """Why somebody with this reach may not pause or resume it; "" if they may."""
    if reach.accounts is None:
        return ""
    if scope == PauseScope.ALL:
        return str(ALL)
    reached = (
        frozenset(Account.objects.filter(surface__slug=subject).values_list("pk", flat=True))
        if scope == PauseScope.SURFACE
        else accounts_of([subject]) if scope == PauseScope.AGENT else reach.accounts
    )  # fmt: skip
    return "" if reached <= reach.accounts else PARTLY % {"subject": subject}


def surfaces_to_pause(accounts: Sequence[Account]) -> set[int]:
    """Surfaces of `accounts` that have no account besides, as `accounts_seen` counts them."""
    seen = Counter(account.surface_id for account in accounts)
    return {
        account.surface_id for account in accounts
        if seen[account.surface_id] >= getattr(account, "accounts_there", 0)
    }  # fmt: skip


def pauses_within(
    reach: Scope, pauses: Sequence[Pause], accounts: Callable[[], Iterable[Account]]
) -> list[Pause]:
    """Those that hold up something within reach.

    `accounts` gives the ones within, with their surfaces; asked only if less than all is paused.
    """
    if reach.accounts is None or all(pause.scope == PauseScope.ALL for pause in pauses):
        return list(pauses)
    seen = {f"{PauseScope.ALL}:"}
    for account in accounts():
        seen |= {f"account:{account.name}", f"surface:{account.surface.slug}"}
    if any(pause.scope == PauseScope.AGENT for pause in pauses):
        seen |= {f"agent:{slug}" for slug in agents_within(reach) or ()}
    return [pause for pause in pauses if f"{pause.scope}:{pause.subject}" in seen]
