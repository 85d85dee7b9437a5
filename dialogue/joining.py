"""Connect an agent: surface, account, agent and presence in one step, all or nothing.

Said twice, it is said once. What is not given stays as it is; an agent whose switch is off
stays silent.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from django.db import IntegrityError, transaction

from dialogue import presences
from dialogue.models import Agent, Presence
from surfaces import connecting
from surfaces.errors import BadInput
from surfaces.models import Account


@dataclass(frozen=True, slots=True)
class Joined:
    """Who speaks where now."""

    presence: Presence
    agent_is_new: bool

    @property
    def agent(self) -> Agent:
        return self.presence.agent

    @property
    def account(self) -> Account:
        return self.presence.account


@transaction.atomic
def connect(
    kind: str,
    *,
    agent: str,
    handle: str = "",
    base_url: str = "",
    token: str = "",
    every: int | None = None,
    mode: str | None = None,
    dialect: str | None = None,
    by: str,
    now: datetime,
) -> Joined:
    """Make or update all four; a mode given becomes the presence's own."""
    known = set(Account.objects.filter(name__startswith=f"{agent}@").values_list("pk", flat=True))
    account = connecting.connect(
        kind,
        agent=agent,
        handle=handle,
        base_url=base_url,
        token=token,
        every=every,
        mode=mode,
        dialect=dialect,
        by=by,
        now=now,
    )
    speaker, is_new = _speaker(agent, by=by)
    if mode is None and account.pk in known:
        mode = _kept(speaker, account)
    presence = presences.join(speaker, account, mode=mode or "", by=by, now=now)
    account.refresh_from_db(fields=["mode"])
    presence.agent, presence.account = speaker, account
    return Joined(presence, is_new)


def _speaker(slug: str, *, by: str) -> tuple[Agent, bool]:
    """The agent of that name; made, if there is none, to answer by itself.

    Connecting it is the wish that it answers, and the mode `review` keeps a person between.
    """
    found = Agent.objects.filter(slug=slug).first()
    if found:
        return found, False
    try:
        return presences.make_agent(slug, by=by, is_autonomous=True), True
    except (IntegrityError, BadInput):
        if made_meanwhile := Agent.objects.filter(slug=slug).first():
            return made_meanwhile, False
        raise


def _kept(agent: Agent, account: Account) -> str:
    """The account's mode, where its presence would make another one of it."""
    live = Presence.objects.live().filter(agent=agent, account=account).first()
    says = live.effective_mode if live else agent.settings.mode
    return "" if account.mode == says else account.mode
