"""Choose the next stone of a presence: whether, when and from which source.

The presence is locked, and a slot is unique, so a second worker finds it chosen. The choice
itself is pure (`stones.choice`).
"""

from dataclasses import asdict
from datetime import datetime, timedelta

from django.db import IntegrityError, transaction
from django.db.models import Exists, F, OuterRef, Q, QuerySet
from django.utils.translation import gettext_lazy as _lazy

from dialogue.agents import limits
from dialogue.agents.active_hours import local_day, next_opening
from dialogue.agents.models.agent import AgentLocation
from dialogue.agents.models.presence import Presence
from dialogue.stones import choice, engagement
from dialogue.stones.choice import StoneChoice, StoneSource
from dialogue.stones.models import Kernel, Stone, StoneState
from surfaces.accounts.models.account import ReplyMode
from surfaces.drafts.models import UNDECIDED, UNDER_WAY
from surfaces.errors import StaleState
from surfaces.models import Account, AuditEvent, Pause

LOOK_AGAIN = timedelta(minutes=10)  # after nothing could be chosen


def able(now: datetime) -> QuerySet[Presence]:
    """Presences that may write posts, by columns; active hours are checked later."""
    rested = Q(agent__backs_off_until=None) | Q(agent__backs_off_until__lte=now)
    return (
        Presence.objects.live()
        .filter(rested, agent__lives=AgentLocation.HERE)
        .filter(agent__settings__is_autonomous=True, agent__settings__lays_stones=True)
        .filter(account__in=Account.objects.able_to_write(now).exclude(mode=ReplyMode.OFF))
        .exclude(Exists(Pause.objects.over_rows(agent="agent__slug")))
    )


def is_open(presence: Presence, now: datetime) -> bool:
    agent = presence.agent
    start, end = agent.active_from, agent.active_to
    return next_opening(now, zone=agent.zone, start=start, end=end) is None


def due(now: datetime) -> QuerySet[Presence]:
    under_way = Q(state=StoneState.CHOSEN) | Q(draft__state__in=[*UNDECIDED, *UNDER_WAY])
    unfinished = Stone.objects.filter(under_way, presence=OuterRef("pk"))
    has_come = Q(next_stone_at=None) | Q(next_stone_at__lte=now)
    found = able(now).filter(has_come, ~Exists(unfinished), stones_per_day__gt=0)
    return found.select_related("agent__settings", "account__surface").order_by("pk")


def choose(presence: Presence, *, now: datetime) -> Stone | None:
    """Create the next stone; None if nothing can be chosen or another worker was faster."""
    try:
        return _choose(presence.pk, now=now)
    except IntegrityError as error:
        if "stone_once_per_slot" not in str(error):
            raise
    except StaleState:
        pass
    return None


@transaction.atomic(durable=True)
def _choose(presence_id: int, *, now: datetime) -> Stone | None:
    locked = due(now).select_for_update(of=("self",), skip_locked=True)
    presence = locked.filter(pk=presence_id).first()
    if presence is None:
        return None
    zone = presence.agent.zone
    today = presence.stones.filter(slot__startswith=f"{choice.day_name(now, zone)}#")
    slot = choice.slot(now, zone, today.count(), _slots(presence, now=now))
    if slot is None:
        _wait(presence, until=local_day(now, zone)[1])
        return None
    facts = engagement.facts_of(presence, slot, now=now)
    chosen = choice.choose(facts, now=now)
    if chosen.kind == StoneSource.NOTHING:
        _nothing_to_lay(presence, slot, chosen, now=now)
        return None
    if chosen.kernel_id is not None:
        # Record the use of the kernel, unless another presence just used it.
        seen = next(kernel for kernel in facts.kernels if kernel.id == chosen.kernel_id)
        unmoved = Kernel.objects.filter(pk=seen.id, last_used_at=seen.last_used_at)
        if not unmoved.update(last_used_at=now, used=F("used") + 1):
            raise StaleState(_lazy("This topic seed was just used."))
    return _lay(presence, slot, chosen, now=now)


def _slots(presence: Presence, *, now: datetime) -> int:
    """Slots of today: what posts by tools and tasks leave of them."""
    agent, mine = presence.agent, limits.posts_of([presence.agent.slug])
    if limits.said_today(mine, agent, now=now) >= agent.settings.posts_per_day:
        return 0
    others = mine.filter(account=presence.account_id, stone=None)
    return presence.stones_per_day - limits.said_today(others, agent, now=now)


def _lay(presence: Presence, slot: str, chosen: StoneChoice, *, now: datetime) -> Stone:
    stone = Stone.objects.create(
        presence=presence, slot=slot, kind=chosen.kind, why=chosen.why,
        table=[asdict(row) for row in chosen.table], draw=chosen.draw,
        share=presence.explore_share, thread_id=chosen.post_id, kernel_id=chosen.kernel_id,
        chosen_at=now, look_at=now,
    )  # fmt: skip
    _wait(presence, until=now + choice.spread(presence.stones_per_day))
    AuditEvent.objects.record(
        "stone.chosen", actor=presence.agent.ledger_name, subject=stone, why=chosen.why,
        kind=chosen.kind, slot=slot,
    )  # fmt: skip
    return stone


def _wait(presence: Presence, *, until: datetime) -> None:
    Presence.objects.filter(pk=presence.pk).update(next_stone_at=until)


def _nothing_to_lay(presence: Presence, slot: str, chosen: StoneChoice, *, now: datetime) -> None:
    """Record it once per slot and check again soon."""
    _wait(presence, until=now + LOOK_AGAIN)
    account, actor = presence.account, presence.agent.ledger_name
    said = AuditEvent.objects.about(account).called("stone.nothing").filter(facts__slot=slot)
    if not said.exists():
        AuditEvent.objects.record(
            "stone.nothing", actor=actor, subject=account, why=chosen.why, slot=slot
        )
