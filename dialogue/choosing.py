"""Choose a presence's next stone: who may lay one, when, and what it grows from.

A presence is locked while it chooses, and its slot is a row that exists once: whoever comes
second finds it chosen. The choice itself is pure (`stone_choice`).
"""

from __future__ import annotations

from dataclasses import asdict
from datetime import datetime, timedelta

from django.db import IntegrityError, transaction
from django.db.models import Exists, F, OuterRef, Q, QuerySet

from dialogue import engagement, stone_choice
from dialogue.hours import day_of, opens_at
from dialogue.models import Kernel, Presence, Stone
from dialogue.models.agent import Lives
from dialogue.models.stone import StoneState
from dialogue.stone_choice import Choice, Facts, Kind
from surfaces.errors import StaleState
from surfaces.models import Account, AuditEvent, Pause
from surfaces.models.account import Mode
from surfaces.models.draft import UNDECIDED, UNDER_WAY

LOOK_AGAIN = timedelta(minutes=10)  # where there was nothing to lay


# ── who may ───────────────────────────────────────────────────────────────


def able(now: datetime) -> QuerySet[Presence]:
    """Presences that may lay stones by themselves, as far as rows tell; hours are asked apart."""
    rested = Q(agent__backs_off_until=None) | Q(agent__backs_off_until__lte=now)
    return (
        Presence.objects.live()
        .filter(rested, agent__lives=Lives.HERE)
        .filter(agent__settings__is_autonomous=True, agent__settings__lays_stones=True)
        .filter(account__in=Account.objects.able_to_write(now).exclude(mode=Mode.OFF))
        .exclude(_is_paused())
    )


def _is_paused() -> Exists:
    over = Pause.objects.over(
        surface=OuterRef("account__surface__slug"),
        account=OuterRef("account__name"),
        agent=OuterRef("agent__slug"),
    )
    return Exists(over)


def is_open(presence: Presence, now: datetime) -> bool:
    agent = presence.agent
    start, end = agent.active_from, agent.active_to
    return opens_at(now, zone=agent.zone, start=start, end=end) is None


def due(now: datetime) -> QuerySet[Presence]:
    """Able, their time has come, and no other stone of theirs is under way."""
    under_way = Q(state=StoneState.CHOSEN) | Q(draft__state__in=[*UNDECIDED, *UNDER_WAY])
    unfinished = Stone.objects.filter(under_way, presence=OuterRef("pk"))
    has_come = Q(next_stone_at=None) | Q(next_stone_at__lte=now)
    found = able(now).filter(has_come, ~Exists(unfinished), stones_per_day__gt=0)
    return found.select_related("agent__settings", "account__surface").order_by("pk")


# ── choosing ──────────────────────────────────────────────────────────────


def choose(presence: Presence, *, now: datetime) -> Stone | None:
    """Lay a presence's next stone, or None: there is nothing to lay, or somebody was faster."""
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
    today = presence.stones.filter(slot__startswith=f"{stone_choice.day_name(now, zone)}#")
    slot = stone_choice.slot(now, zone, today.count(), presence.stones_per_day)
    if slot is None:
        _wait(presence, until=day_of(now, zone)[1])
        return None
    facts = engagement.facts_of(presence, slot, now=now)
    choice = stone_choice.choose(facts, now=now)
    if choice.kind == Kind.NOTHING:
        _nothing_to_lay(presence, slot, choice, now=now)
        return None
    _use(choice, facts, now=now)
    return _lay(presence, slot, choice, now=now)


def _lay(presence: Presence, slot: str, choice: Choice, *, now: datetime) -> Stone:
    stone = Stone.objects.create(
        presence=presence,
        slot=slot,
        kind=choice.kind,
        why=choice.why,
        table=[asdict(row) for row in choice.table],
        draw=choice.draw,
        share=presence.explore_share,
        thread_id=choice.post_id,
        kernel_id=choice.kernel_id,
        chosen_at=now,
        look_at=now,
    )
    _wait(presence, until=now + stone_choice.spread(presence.stones_per_day))
    AuditEvent.objects.record(
        "stone.chosen", actor=presence.agent.ledger_name, subject=stone, why=choice.why,
        kind=choice.kind, slot=slot,
    )  # fmt: skip
    return stone


def _use(choice: Choice, facts: Facts, *, now: datetime) -> None:
    """Move the kernel's last use, unless another presence of its agent just did."""
    if choice.kernel_id is None:
        return
    seen = next(kernel for kernel in facts.kernels if kernel.id == choice.kernel_id)
    unmoved = Kernel.objects.filter(pk=seen.id, last_used_at=seen.last_used_at)
    if not unmoved.update(last_used_at=now, used=F("used") + 1):
        raise StaleState("This kernel was just used.")


def _wait(presence: Presence, *, until: datetime) -> None:
    Presence.objects.filter(pk=presence.pk).update(next_stone_at=until)


def _nothing_to_lay(presence: Presence, slot: str, choice: Choice, *, now: datetime) -> None:
    """Say so once per slot, and look again soon: a kernel or a comment may come."""
    _wait(presence, until=now + LOOK_AGAIN)
    account, actor = presence.account, presence.agent.ledger_name
    said = AuditEvent.objects.about(account).called("stone.nothing").filter(facts__slot=slot)
    if not said.exists():
        AuditEvent.objects.record(
            "stone.nothing", actor=actor, subject=account, why=choice.why, slot=slot
        )
