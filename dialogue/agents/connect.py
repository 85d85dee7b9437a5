"""Create or update surface, account, agent and presence in one transaction.

Idempotent. Values that are not given are kept; automatic replies of an existing agent are not
switched on.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import IntegrityError, transaction
from django.utils.translation import gettext as _

from dialogue.agents import presences
from dialogue.agents import services as agent_services
from dialogue.models import Agent, Kernel, Presence
from surfaces.accounts import connect as account_connect
from surfaces.errors import BadInput
from surfaces.models import Account
from surfaces.text.reasons import FORMATS


@dataclass(frozen=True, slots=True)
class ConnectResult:
    presence: Presence
    agent_is_new: bool
    account_is_new: bool

    @property
    def agent(self) -> Agent:
        return self.presence.agent

    @property
    def account(self) -> Account:
        return self.presence.account

    @property
    def kernels(self) -> int:
        return Kernel.objects.filter(agent=self.agent, is_on=True).count()

    @property
    def says(self) -> str:
        """What an agent that existed already will do through this account; "" for a new one."""
        if self.agent_is_new:
            return ""
        words = _("The agent %(agent)s existed already; its settings apply here. Mode: %(mode)s.")
        said = [words % {"agent": self.agent.slug, "mode": self.account.mode}]
        kept = self.agent.settings
        if not kept.is_autonomous:
            said.append(_("Automatic replies are off."))
        if kept.lays_stones and self.presence.stones_per_day:
            words = _("It writes up to %(posts)s posts a day here, from %(kernels)s topic seeds.")
            said.append(words % {"posts": self.presence.stones_per_day, "kernels": self.kernels})
        else:
            said.append(_("It writes no posts."))
        return FORMATS["sentences"](said)


@transaction.atomic
def connect(
    kind: str, *, agent: str, mode: str | None = None, by: str, now: datetime, **account_facts: Any
) -> ConnectResult:
    """Create or update all four; for the other facts see `surfaces.accounts.connect`.

    A given mode becomes the presence's own mode.
    """
    known = set(Account.objects.filter(name__startswith=f"{agent}@").values_list("pk", flat=True))
    account = account_connect.connect(kind, agent=agent, mode=mode, by=by, now=now, **account_facts)
    speaker, is_new = _speaker(agent, by=by)
    if mode is None and account.pk in known:  # keep its mode, if the presence would change it
        live = Presence.objects.live().filter(agent=speaker, account=account).first()
        says = live.effective_mode if live else speaker.settings.mode
        mode = "" if account.mode == says else account.mode
    presence = presences.join(speaker, account, mode=mode or "", by=by, now=now)
    account.refresh_from_db(fields=["mode"])
    presence.agent, presence.account = speaker, account
    return ConnectResult(presence, is_new, account_is_new=account.pk not in known)


def _speaker(slug: str, *, by: str) -> tuple[Agent, bool]:
    """Get the agent, or create it with automatic replies on.

    Connecting implies that it should reply, and in the mode `review` a person approves each reply.
    """
    found = Agent.objects.filter(slug=slug).first()
    if found:
        return found, False
    try:
        return agent_services.make_agent(slug, by=by, is_autonomous=True), True
    except (IntegrityError, BadInput):
        if made_meanwhile := Agent.objects.filter(slug=slug).first():
            return made_meanwhile, False
        raise
