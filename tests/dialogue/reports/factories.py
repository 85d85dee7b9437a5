"""An agent and the rows of one hour that its reports count."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from dialogue.approvals.models import ToolCall
from dialogue.models import Activation, ActivationItem, AgentReport, Presence
from dialogue.reports.services import hour_of
from tests.factories import NOON, make_draft, make_message, make_notification

SINCE = NOON - timedelta(hours=1) + timedelta(minutes=20)  # 11:20


def make_report(presence: Presence, **given: Any) -> AgentReport:
    ordinary = {"hour": hour_of(SINCE), "seen": 1}
    agent = {"agent": presence.agent, "account": presence.account}
    return AgentReport.objects.create(**(agent | ordinary | given))


def make_activation(presence: Presence, **given: Any) -> Activation:
    number = Activation.objects.count() + 1
    ordinary = {
        "purpose": "reply", "why": "verdict.ready", "number": number, "worker": "w:1",
        "lease_until": SINCE, "started_at": SINCE, "state": "done",
    }  # fmt: skip
    ended = {} if given.get("state") == "running" else {"ended_at": SINCE, "outcome": "note"}
    agent = {"agent": presence.agent, "presence": presence}
    return Activation.objects.create(**(agent | ordinary | ended | given))


def make_item(activation: Activation, **given: Any) -> ActivationItem:
    ordinary = {"position": activation.items.count() + 1, "state": "failed", "why": "note"}
    return ActivationItem.objects.create(
        activation=activation, **(ordinary | {"ended_at": SINCE} | given)
    )


def make_call(item: ActivationItem, **given: Any) -> ToolCall:
    activation = item.activation
    ordinary = {
        "call_id": f"c{ToolCall.objects.count()}", "tool": "hub_post", "risk": "publish",
        "digest": "d", "state": "waiting", "made_at": SINCE,
        "expires_at": SINCE + timedelta(days=1),
    }  # fmt: skip
    return ToolCall.objects.create(
        agent=activation.agent, presence=activation.presence, activation=activation, item=item,
        **(ordinary | given),
    )  # fmt: skip


def busy_hour(presence: Presence) -> None:
    """Three comments: one drafted, one passed, one failed; and a tool call that waits."""
    slug, account = presence.agent.slug, presence.account
    drafted, passed, failed = (make_message(account=account) for _ in range(3))
    make_notification(presence=presence, message=drafted, made_at=SINCE)
    make_notification(
        presence=presence, message=passed, made_at=SINCE, considered_at=SINCE, verdict="spam",
        read_at=SINCE, outcome="passed", why="verdict.spam", look_at=None,
    )  # fmt: skip
    note = make_notification(presence=presence, message=failed, made_at=SINCE)
    make_draft(agent=slug, account=account, target=drafted, made_at=SINCE)
    activation = make_activation(presence)
    make_item(activation, notification=note)
    make_call(make_item(activation, state="waiting", ended_at=None))
