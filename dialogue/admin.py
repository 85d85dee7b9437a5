"""The first floor in the administration: to look at. Agents are changed on their own pages."""

from __future__ import annotations

from django.contrib import admin

from dialogue.models import (
    Activation,
    Agent,
    AgentSettings,
    Brain,
    HouseBudget,
    InboxMark,
    Kernel,
    Memory,
    Notification,
    Presence,
    Reservation,
    Spending,
    Step,
    Stone,
    WakeEvent,
    WakeHook,
    WakeTry,
)
from surfaces.admin import OnlyLook

admin.site.register(
    [AgentSettings, HouseBudget, InboxMark, Memory, Reservation, Spending, WakeTry], OnlyLook
)


@admin.register(Agent)
class AgentAdmin(OnlyLook):
    list_display = ["slug", "name", "lives", "timezone", "failures", "backs_off_until"]


@admin.register(Presence)
class PresenceAdmin(OnlyLook):
    list_display = ["agent", "account", "mode", "since", "ended_at"]
    list_select_related = ["agent", "account"]


@admin.register(Brain)
class BrainAdmin(OnlyLook):
    list_display = ["agent", "rank", "model", "base_url", "output_style", "streams"]
    list_select_related = ["agent"]
    hidden = ("sealed_key",)


@admin.register(Kernel)
class KernelAdmin(OnlyLook):
    list_display = ["agent", "words", "is_on", "used", "last_used_at"]
    list_select_related = ["agent"]


@admin.register(Notification)
class NotificationAdmin(OnlyLook):
    list_display = ["id", "agent", "kind", "verdict", "look_at", "read_at", "outcome"]
    list_select_related = ["agent"]
    list_filter = ["outcome"]


@admin.register(Activation)
class ActivationAdmin(OnlyLook):
    list_display = ["id", "agent", "purpose", "state", "voice", "cost", "started_at"]
    list_select_related = ["agent"]
    list_filter = ["state", "purpose"]


@admin.register(Step)
class StepAdmin(OnlyLook):
    list_display = ["activation", "number", "kind", "at", "cost", "took_ms"]
    list_select_related = ["activation"]


@admin.register(Stone)
class StoneAdmin(OnlyLook):
    list_display = ["slot", "presence", "kind", "state", "chosen_at"]
    list_select_related = ["presence__agent", "presence__account"]


@admin.register(WakeHook)
class WakeHookAdmin(OnlyLook):
    list_display = ["agent", "kind", "url", "is_on"]
    list_select_related = ["agent"]
    hidden = ("sealed_secret",)


@admin.register(WakeEvent)
class WakeEventAdmin(OnlyLook):
    list_display = ["key", "hook", "state", "tries", "made_at", "delivered_at"]
    list_select_related = ["hook"]
