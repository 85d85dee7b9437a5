"""Read-only Django admin for agents. They are changed on their own pages."""

from __future__ import annotations

from django.contrib import admin

from dialogue.activations.models import Activation, TranscriptStep
from dialogue.agents.models.agent import Agent
from dialogue.agents.models.memory import Memory
from dialogue.agents.models.presence import Presence
from dialogue.agents.models.settings import AgentSettings
from dialogue.budgets.models import Reservation, SharedBudget, Spending
from dialogue.inbox.models import Notification, ReadCursor
from dialogue.stones.models import Kernel, Stone
from dialogue.voice.models import ModelEndpoint
from dialogue.wake_hooks.models import WakeAttempt, WakeEvent, WakeHook
from surfaces.admin import ReadOnlyAdmin

admin.site.register(
    [AgentSettings, SharedBudget, ReadCursor, Memory, Reservation, Spending, WakeAttempt],
    ReadOnlyAdmin,
)


@admin.register(Agent)
class AgentAdmin(ReadOnlyAdmin):
    list_display = ["slug", "name", "lives", "timezone", "failures", "backs_off_until"]


@admin.register(Presence)
class PresenceAdmin(ReadOnlyAdmin):
    list_display = ["agent", "account", "mode", "since", "ended_at"]
    list_select_related = ["agent", "account"]


@admin.register(ModelEndpoint)
class ModelEndpointAdmin(ReadOnlyAdmin):
    list_display = ["agent", "rank", "model", "base_url", "output_style", "streams"]
    list_select_related = ["agent"]
    hidden = ("sealed_key",)


@admin.register(Kernel)
class KernelAdmin(ReadOnlyAdmin):
    list_display = ["agent", "words", "is_on", "used", "last_used_at"]
    list_select_related = ["agent"]


@admin.register(Notification)
class NotificationAdmin(ReadOnlyAdmin):
    list_display = ["id", "agent", "kind", "verdict", "look_at", "read_at", "outcome"]
    list_select_related = ["agent"]
    list_filter = ["outcome"]


@admin.register(Activation)
class ActivationAdmin(ReadOnlyAdmin):
    list_display = ["id", "agent", "purpose", "state", "voice", "cost", "started_at"]
    list_select_related = ["agent"]
    list_filter = ["state", "purpose"]


@admin.register(TranscriptStep)
class TranscriptStepAdmin(ReadOnlyAdmin):
    list_display = ["activation", "number", "kind", "at", "cost", "took_ms"]
    list_select_related = ["activation"]


@admin.register(Stone)
class StoneAdmin(ReadOnlyAdmin):
    list_display = ["slot", "presence", "kind", "state", "chosen_at"]
    list_select_related = ["presence__agent", "presence__account"]


@admin.register(WakeHook)
class WakeHookAdmin(ReadOnlyAdmin):
    list_display = ["agent", "kind", "url", "is_on"]
    list_select_related = ["agent"]
    hidden = ("sealed_secret",)


@admin.register(WakeEvent)
class WakeEventAdmin(ReadOnlyAdmin):
    list_display = ["key", "hook", "state", "tries", "made_at", "delivered_at"]
    list_select_related = ["hook"]
