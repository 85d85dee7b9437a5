"""What the floors above know of the messages of a thread (`Extension.thread_annotations`)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from surfaces.drafts.models import Draft
from surfaces.extension_points import extensions
from surfaces.messages.models import Message
from surfaces.operators.scope import Scope
from surfaces.threads.notes import Note
from surfaces.threads.timeline import TimelineEvent


@dataclass(frozen=True, slots=True)
class Speaker:
    """An agent that has to do with a thread, and what it did there."""

    name: str
    url: str
    words: str


@dataclass(frozen=True, slots=True)
class ThreadAnnotations:
    """By the message's key: what stands in its margin, what happened to it; and who speaks."""

    notes: Mapping[int, Sequence[Note]] = field(default_factory=dict)
    steps: Mapping[int, Sequence[TimelineEvent]] = field(default_factory=dict)
    speakers: Sequence[Speaker] = ()


def of_messages(
    messages: Sequence[Message], drafts: Sequence[Draft], reach: Scope
) -> ThreadAnnotations:
    notes: dict[int, list[Note]] = {}
    steps: dict[int, list[TimelineEvent]] = {}
    speakers: list[Speaker] = []
    for margin in (margin for each in extensions() for margin in each.thread_annotations):
        told: ThreadAnnotations = margin(messages, drafts, reach)
        for pk, found in told.notes.items():
            notes.setdefault(pk, []).extend(found)
        for pk, lived in told.steps.items():
            steps.setdefault(pk, []).extend(lived)
        speakers.extend(told.speakers)
    return ThreadAnnotations(notes, steps, speakers)
