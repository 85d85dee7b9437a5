"""`manage.py connect`: connect an account on a surface to an agent."""

import json
import os
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from dialogue.agents import connect
from dialogue.agents.connect import ConnectResult
from surfaces.accounts.models.account import ReplyMode
from surfaces.adapters import READERS
from surfaces.errors import RuleBroken

DIALECTS = {
    kind: reader.traits.dialects for kind, reader in READERS.items() if any(reader.traits.dialects)
}


class Command(BaseCommand):
    help = (
        "Connect an account to an agent. The token is read from the variable named by --token-env."
    )

    def add_arguments(self, parser: Any) -> None:
        parser.add_argument("kind", help=f"one of {', '.join(READERS)}")
        add = parser.add_argument
        what = "the agent that replies through it; created if new"
        add("--agent", required=True, metavar="SLUG", help=what)
        add("--handle", default="", help="the account name on the service, if it has one")
        add("--base-url", default="", help="default: the base URL of the service")
        add("--token-env", default="", metavar="VAR", help="environment variable with the token")
        add("--every", type=int, metavar="MIN", help="minutes between polls, 1 to 1440; default 5")
        add("--mode", help=f"{', '.join(ReplyMode.values)}; default: the agent's mode")
        dialects = "; ".join(f"{kind}: {', '.join(names)}" for kind, names in DIALECTS.items())
        about = "API dialect of the service; found out by asking it if not given"
        add("--dialect", help=f"{about} ({dialects})")

    def handle(self, **options: Any) -> None:
        names = ("kind", "agent", "handle", "every", "mode", "dialect")
        given = {name: options[name] for name in names}
        given |= {"base_url": options["base_url"].strip(), "token": _token(options["token_env"])}
        try:
            joined = connect.connect(**given, by="command:connect", now=timezone.now())
        except RuleBroken as error:
            raise CommandError(str(error), returncode=2) from error
        if joined.says:
            self.stderr.write(joined.says)
        self.stdout.write(json.dumps(_line(joined)))


def _line(joined: ConnectResult) -> dict[str, Any]:
    account, agent, presence = joined.account, joined.agent, joined.presence
    return {
        "surface": account.surface.slug,
        "account": account.name,
        "agent": agent.slug,
        "handle": account.handle,
        "base_url": account.surface.base_url or account.surface.traits.base_url,
        "every_minutes": account.every,
        "mode": account.mode,
        "state": account.state,
        "agent_name": agent.name,
        "agent_is_new": joined.agent_is_new,
        "says": joined.says,
        "is_autonomous": agent.settings.is_autonomous,
        "voice": agent.settings.voice,
        "lays_stones": agent.settings.lays_stones,
        "stones_per_day": presence.stones_per_day,
        "kernels": joined.kernels,
        "presence": presence.pk,
        "presence_mode": presence.mode,
        "presence_since": presence.since.isoformat(),
    }


def _token(variable: str) -> str:
    if not variable:
        return ""
    token = os.environ.get(variable, "").strip()
    if not token:
        raise CommandError(f"The variable {variable} is empty. Set it to the token.", returncode=2)
    return token
