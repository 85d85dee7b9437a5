"""Who speaks through which account, and how: the one place where a presence changes.

The account's mode is what delivery obeys; here it is kept at what the presence says.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction
from django.db.models import F, QuerySet

from dialogue.models import Agent, AgentSettings, Notification, Presence
from surfaces.changes import check_seen, is_change, set_back
from surfaces.connecting import SLUG
from surfaces.errors import BadInput, NotAllowed
from surfaces.knobs import field_of
from surfaces.models import Account, AuditEvent
from surfaces.models.account import Mode
from surfaces.models.audit import name_of
from surfaces.reach import WHOLE, Reach

CHANGED = "presence.changed"
TUNABLE = ("mode", "stones_per_day", "explore_share", "stone_community")


def accounts_of(slugs: Iterable[str]) -> QuerySet[Presence, int]:
    """Ids of the accounts through which these agents may speak now. Fit for a subquery."""
    rows = Presence.objects.live().filter(agent__slug__in=list(slugs)).order_by()
    return rows.values_list("account", flat=True)


def agents_within(reach: Reach) -> QuerySet[Agent]:
    """Those that somebody sees: named in the limits, or else speaking where they look. By slug."""
    rows = Agent.objects.order_by("slug")
    if reach.agents is not None:
        return rows.filter(slug__in=sorted(reach.agents))
    return rows if reach.accounts is None else rows.filter(slug__in=agents_of(reach.accounts))


def agent_choices(reach: Reach = WHOLE) -> list[tuple[str, str]]:
    """Slug and name of the agents somebody sees, for choosing."""
    return list(agents_within(reach).values_list("slug", "name"))


def agents_of(accounts: Iterable[int]) -> QuerySet[Presence, str]:
    """Slugs of the agents that may speak through these accounts now."""
    rows = Presence.objects.live().filter(account__in=list(accounts)).order_by()
    return rows.values_list("agent__slug", flat=True)


@transaction.atomic
def make_agent(slug: str, *, name: str = "", by: str, is_autonomous: bool = False) -> Agent:
    """Make an agent with cautious settings, or say why not."""
    if not SLUG.fullmatch(slug):
        raise BadInput(
            f"{slug!r} is no short name. Use letters, digits, dashes and underscores, at most 63."
        )
    agent = Agent(slug=slug, name=name.strip() or slug.replace("-", " ").title())
    try:
        agent.full_clean()
    except ValidationError as error:
        raise BadInput(" ".join(error.messages)) from error
    agent.save(force_insert=True)
    AgentSettings.objects.create(agent=agent, is_autonomous=is_autonomous)
    AuditEvent.objects.record("agent.made", actor=by, subject=agent, slug=slug)
    return agent


@transaction.atomic
def join(agent: Agent, account: Account, *, mode: str = "", by: str, now: datetime) -> Presence:
    """Let `agent` speak as `account`. Said twice, it is said once; `mode` "" keeps what is set."""
    if mode and mode not in Mode.values:
        raise BadInput(f"{mode!r} is not a mode. Choose one of {', '.join(Mode.values)}.")
    live = Presence.objects.live().select_related("agent").filter(account=account).first()
    if live is not None and live.agent_id != agent.pk:
        raise NotAllowed(f"{live.agent} speaks as {account} already. End that presence first.")
    presence = live or _begin(agent, account, by=by, now=now)
    if mode and presence.mode != mode:
        change(presence, mode=mode, by=by)
    obey(agent)
    return presence


def _begin(agent: Agent, account: Account, *, by: str, now: datetime) -> Presence:
    try:
        with transaction.atomic():
            presence = Presence.objects.create(agent=agent, account=account, since=now)
    except IntegrityError as error:
        raise NotAllowed(f"Somebody else just took {account}. Look again.") from error
    # What still waits since the last time it was here is its business again.
    left = Notification.objects.unread().filter(agent=agent, presence__account=account)
    left.update(presence=presence)
    AuditEvent.objects.record(
        "presence.began", actor=by, subject=account, agent=agent.slug, account=account.name
    )
    return presence


def values_of(presence: Presence) -> dict[str, Any]:
    """What can be tuned of it, as a person sees it: the share in percent."""
    values = {name: getattr(presence, name) for name in TUNABLE}
    return values | {"explore_share": round(presence.explore_share * 100)}


def kept_values(presence: Presence) -> dict[str, str]:
    """The same as the ledger keeps it."""
    return {name: str(getattr(presence, name)) for name in TUNABLE}


@transaction.atomic
def tune(
    presence: Presence, values: Mapping[str, Any], *, seen: Mapping[str, str], by: str
) -> list[str]:
    """As `change`, from a form: refused where something moved since a person had `seen` it.

    Returns the names of what became another value.
    """
    row = Presence.objects.select_for_update().get(pk=presence.pk)
    check_seen(values_of(row), seen)
    turned = [name for name, value in values.items() if getattr(row, name) != value]
    change(presence, by=by, **values)
    return turned


def can_undo(event: AuditEvent, presence: Presence) -> bool:
    """Whether this line tells of values of this presence."""
    is_its = event.subject == name_of(presence.account) and event.action == CHANGED
    is_its = is_its and event.facts.get("agent") == presence.agent.slug
    return is_its and is_change(event.facts.get("changed") or {}, TUNABLE)


@transaction.atomic
def undo(event: AuditEvent, presence: Presence, *, by: str) -> None:
    """Set back what one change did, unless it was changed again since."""
    if not can_undo(event, presence):
        raise NotAllowed("This change cannot be taken back here. Set the values by hand.")
    row = Presence.objects.select_for_update().get(pk=presence.pk)
    kept = set_back(event.facts["changed"], kept_values(row), label=_label)
    values = {name: field_of(Presence, name).to_python(was) for name, was in kept.items()}
    change(row, by=by, why=f"Takes back line {event.pk}.", **values)


def _label(name: str) -> str:
    return str(field_of(Presence, name).verbose_name)


@transaction.atomic
def change(presence: Presence, *, by: str, why: str = "", **facts: object) -> None:
    """Change columns of a presence, and keep the account's mode at it."""
    before = {name: getattr(presence, name) for name in facts}
    changed = {name: value for name, value in facts.items() if before[name] != value}
    if not changed:
        return
    if not Presence.objects.live().filter(pk=presence.pk).update(**changed):
        raise NotAllowed("This presence has ended. Add it again to change it.")
    for name, value in changed.items():
        setattr(presence, name, value)
    AuditEvent.objects.record(
        CHANGED,
        actor=by,
        subject=presence.account,
        why=why,
        agent=presence.agent.slug,
        changed={name: [str(before[name]), str(value)] for name, value in changed.items()},
    )
    if "mode" in changed:
        _write_mode(presence, presence.effective_mode)


@transaction.atomic
def leave(presence: Presence, *, by: str, now: datetime) -> None:
    """End it: the account stays, and nothing is written there by itself."""
    if not Presence.objects.live().filter(pk=presence.pk).update(ended_at=now):
        raise NotAllowed("This presence has ended already.")
    presence.ended_at = now
    AuditEvent.objects.record(
        "presence.ended", actor=by, subject=presence.account, agent=presence.agent.slug
    )


def adopt(*, now: datetime) -> int:
    """Take over the modes that somebody set on accounts themselves: the last word counts."""
    rows = Presence.objects.live().select_related("agent__settings", "account")
    moved = rows.exclude(obeyed="").exclude(account__mode=F("obeyed"))
    return sum(_adopt(presence) for presence in moved)


@transaction.atomic
def _adopt(presence: Presence) -> int:
    change(presence, mode=presence.account.mode, by="colloquy")
    return 1


def obey(agent: Agent) -> None:
    """Bring the mode of each of the agent's accounts to what its presence says."""
    default = AgentSettings.objects.values_list("mode", flat=True).get(agent=agent)
    for presence in Presence.objects.live().filter(agent=agent).select_related("account"):
        is_moved = presence.obeyed and presence.account.mode != presence.obeyed
        if is_moved and presence.mode != presence.account.mode:
            _adopt(presence)
        else:
            _write_mode(presence, presence.mode or default)


def _write_mode(presence: Presence, mode: str) -> None:
    Account.objects.filter(pk=presence.account_id).exclude(mode=mode).update(mode=mode)
    Presence.objects.filter(pk=presence.pk).exclude(obeyed=mode).update(obeyed=mode)
    presence.account.mode = presence.obeyed = mode
