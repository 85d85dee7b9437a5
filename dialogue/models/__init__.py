"""The nouns of the first floor."""

from dialogue.models.activation import Activation, Step
from dialogue.models.agent import Agent, Kernel
from dialogue.models.memory import Memory
from dialogue.models.notification import InboxMark, Notification
from dialogue.models.presence import Presence
from dialogue.models.settings import AgentSettings, Brain, HouseBudget
from dialogue.models.spending import Reservation, Spending
from dialogue.models.stone import Stone
from dialogue.models.wake import WakeEvent, WakeHook, WakeTry

__all__ = [
    "Activation",
    "Agent",
    "AgentSettings",
    "Brain",
    "HouseBudget",
    "InboxMark",
    "Kernel",
    "Memory",
    "Notification",
    "Presence",
    "Reservation",
    "Spending",
    "Step",
    "Stone",
    "WakeEvent",
    "WakeHook",
    "WakeTry",
]
