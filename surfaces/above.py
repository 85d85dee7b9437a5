"""What the floors above know of messages, brought to the pages here by registration.

They name functions in the settings: `THREAD_MARGINS` for many messages at once, `TIMELINES` for
the life of one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from django.conf import settings
from django.utils.module_loading import import_string

from surfaces.margin import Note
from surfaces.models import Draft, Message
from surfaces.reach import Reach
from surfaces.timeline import Step


@dataclass(frozen=True, slots=True)
class Speaker:
    """An agent that has to do with a thread, and what it did there."""

    name: str
    url: str
    words: str


@dataclass(frozen=True, slots=True)
class Told:
    """By the message's key: what stands in its margin, what happened to it; and who speaks."""

    notes: Mapping[int, Sequence[Note]] = field(default_factory=dict)
    steps: Mapping[int, Sequence[Step]] = field(default_factory=dict)
    speakers: Sequence[Speaker] = ()


Margin = Callable[[Sequence[Message], Sequence[Draft], Reach], Told]


def of_messages(messages: Sequence[Message], drafts: Sequence[Draft], reach: Reach) -> Told:
    """All that is known above, within reach, of these messages and these drafts about them."""
    notes: dict[int, list[Note]] = {}
    steps: dict[int, list[Step]] = {}
    speakers: list[Speaker] = []
    for name in settings.THREAD_MARGINS:
        margin: Margin = import_string(name)
        told = margin(messages, drafts, reach)
        for pk, found in told.notes.items():
            notes.setdefault(pk, []).extend(found)
        for pk, lived in told.steps.items():
            steps.setdefault(pk, []).extend(lived)
        speakers.extend(told.speakers)
    return Told(notes, steps, speakers)
