"""Accounts that are connected to agents."""

from __future__ import annotations

from typing import Any

from dialogue.agents import connect
from dialogue.agents.connect import ConnectResult
from dialogue.models import Agent, AgentSettings, Presence
from surfaces.models import Account, AuditEvent, HubAuthor, Surface
from tests.factories import NOON

TOKEN = "moltbook_sk_0123456789"


def join(kind: str = "moltbook", **given: Any) -> ConnectResult:
    ordinary = {"agent": "iris", "token": TOKEN, "by": "operator:mira", "now": NOON}
    return connect.connect(kind, **(ordinary | given))


def rows() -> dict[str, int]:
    tables = (Agent, AgentSettings, Presence, Account, Surface, HubAuthor, AuditEvent)
    return {table.__name__: table.objects.count() for table in tables}


def account_mode() -> str:
    return Account.objects.get().mode
