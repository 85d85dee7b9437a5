"""The tools of one item: what is offered, and what becomes of each call."""

from collections.abc import Callable
from datetime import datetime

from dialogue.activations.models import ActivationItem
from dialogue.voice.base import ToolBelt


def belt_of(item: ActivationItem, *, clock: Callable[[], datetime]) -> ToolBelt | None:
    """The tools of an item, or None where its agent has no grant."""
    return None
