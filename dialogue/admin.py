"""Read-only Django admin for agents. They are changed on their own pages."""

from collections.abc import Sequence
from typing import Any

from django.contrib import admin
from django.db.models import Model

from dialogue.models import (
    Activation,
    Agent,
    AgentSettings,
    Kernel,
    Memory,
    ModelEndpoint,
    Notification,
    Presence,
    ReadCursor,
    Reservation,
    SharedBudget,
    Spending,
    Stone,
    TranscriptStep,
    WakeAttempt,
    WakeEvent,
    WakeHook,
)
from surfaces.admin import ReadOnlyAdmin

admin.site.register(
    [AgentSettings, SharedBudget, ReadCursor, Memory, Reservation, Spending, WakeAttempt],
    ReadOnlyAdmin,
)


def show(model: type[Model], *columns: str, along: Sequence[str] = (), **more: Any) -> None:
    options = {"list_display": columns, "list_select_related": along, **more}
    admin.site.register(model, ReadOnlyAdmin, **options)


show(Agent, "slug", "name", "lives", "timezone", "failures", "backs_off_until")
show(Presence, "agent", "account", "mode", "since", "ended_at", along=["agent", "account"])
show(
    ModelEndpoint, "agent", "rank", "model", "base_url", "output_style", "streams",
    along=["agent"], hidden=("sealed_key",),
)  # fmt: skip
show(Kernel, "agent", "words", "is_on", "used", "last_used_at", along=["agent"])
show(
    Notification, "id", "agent", "kind", "verdict", "look_at", "read_at", "outcome",
    along=["agent"], list_filter=["outcome"],
)  # fmt: skip
show(
    Activation, "id", "agent", "purpose", "state", "voice", "cost", "started_at",
    along=["agent"], list_filter=["state", "purpose"],
)  # fmt: skip
show(TranscriptStep, "activation", "number", "kind", "at", "cost", "took_ms", along=["activation"])
show(
    Stone, "slot", "presence", "kind", "state", "chosen_at",
    along=["presence__agent", "presence__account"],
)  # fmt: skip
show(WakeHook, "agent", "kind", "url", "is_on", along=["agent"], hidden=("sealed_secret",))
show(WakeEvent, "key", "hook", "state", "tries", "made_at", "delivered_at", along=["hook"])
