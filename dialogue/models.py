"""All models of this app, for Django."""

from dialogue import reason_texts  # noqa: F401 - registers the sentences of stored reasons
from dialogue.activations.models import (
    Activation,
    ActivationItem,
    Conversation,
    TranscriptStep,
)
from dialogue.agents.models.agent import Agent
from dialogue.agents.models.presence import Presence
from dialogue.agents.models.settings import AgentSettings
from dialogue.approvals.models import ApprovalRule, ToolCall
from dialogue.budgets.models import Reservation, SharedBudget, Spending
from dialogue.inbox.models import Notification, ReadCursor
from dialogue.memory.models import Memory
from dialogue.reports.models import AgentReport
from dialogue.stones.models import Kernel, Stone
from dialogue.voice.models import ModelEndpoint
from dialogue.wake_hooks.models import WakeAttempt, WakeEvent, WakeHook

__all__ = [
    "Activation", "ActivationItem", "Agent", "AgentReport", "AgentSettings", "ApprovalRule",
    "Conversation", "Kernel", "Memory", "ModelEndpoint", "Notification", "Presence", "ReadCursor",
    "Reservation", "SharedBudget", "Spending", "Stone", "ToolCall", "TranscriptStep",
    "WakeAttempt", "WakeEvent", "WakeHook",
]  # fmt: skip
