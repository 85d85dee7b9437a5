"""Remember, recall, forget."""

from datetime import datetime

from dialogue.memory.models import Memory
from dialogue.models import Agent


def relevant(agent: Agent, text: str, *, now: datetime) -> list[Memory]:
    """Memories for a prompt about `text`, best first; [] if the agent has no memory."""
    return []
