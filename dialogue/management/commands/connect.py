"""`manage.py connect`: let an agent speak as an account on a surface, without a browser."""

from __future__ import annotations

import json
import os
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from dialogue import joining
from dialogue.joining import Joined
from surfaces.adapters import READERS
from surfaces.errors import RuleBroken
from surfaces.models.account import Mode


class Command(BaseCommand):
    help = "Connect an agent. The token is read from the variable that --token-env names."

    def add_arguments(self, parser: Any) -> None:
        parser.add_argument("kind", help=f"one of {', '.join(READERS)}")
        parser.add_argument("--agent", required=True, metavar="SLUG", help="who speaks through it")
        parser.add_argument("--handle", default="", help="our name there, if the service has one")
        parser.add_argument("--base-url", default="", help="empty: the service's own address")
        parser.add_argument("--token-env", default="", metavar="VAR", help="where the token is")
        parser.add_argument("--every", type=int, metavar="MIN", help="1 to 1440; at first 5")
        parser.add_argument(
            "--mode", help=f"{', '.join(Mode.values)}; at first as the agent's settings say"
        )
        parser.add_argument("--dialect", help="which of the service's ways of writing")

    def handle(self, **options: Any) -> None:
        try:
            joined = joining.connect(
                options["kind"],
                agent=options["agent"],
                handle=options["handle"],
                base_url=options["base_url"].strip(),
                token=_token(options["token_env"]),
                every=options["every"],
                mode=options["mode"],
                dialect=options["dialect"],
                by="command:connect",
                now=timezone.now(),
            )
        except RuleBroken as error:
            raise CommandError(str(error), returncode=2) from error
        self.stdout.write(json.dumps(_line(joined)))


def _line(joined: Joined) -> dict[str, Any]:
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
        "is_autonomous": agent.settings.is_autonomous,
        "voice": agent.settings.voice,
        "presence": presence.pk,
        "presence_mode": presence.mode,
        "presence_since": presence.since.isoformat(),
    }


def _token(variable: str) -> str:
    if not variable:
        return ""
    token = os.environ.get(variable, "").strip()
    if not token:
        raise CommandError(f"The variable {variable} is empty; put the token there.", returncode=2)
    return token
