"""Whose words a model was shown in one conversation: its prompt, and results of its calls.

They are kept in the database, because a conversation that waited goes on in another process.
"""

from collections.abc import Sequence
from typing import Any

from dialogue.activations.models import ActivationItem
from dialogue.approvals.endings import kept, read_again
from dialogue.memory.models import Trust
from dialogue.models import Memory
from dialogue.tools.base import Source
from dialogue.voice.base import Brief, ThreadMessage
from dialogue.voice.quoting import Quote
from surfaces.messages.models import Direction
from surfaces.models import Message

MOST_MESSAGES = 200  # of a thread, where it is not known which of them were shown


def shown_so_far(item: ActivationItem) -> list[Source]:
    shown = ActivationItem.objects.values_list("shown", flat=True).get(pk=item.pk)
    told = read_again(shown) or _thread(item)
    for result in item.tool_calls.order_by("pk").values_list("shown", flat=True):
        told += read_again(result)
    return told


def with_prompt(item: ActivationItem, brief: Brief) -> list[dict[str, Any]]:
    """What the item showed before, and what this brief adds."""
    thread = [*brief.thread, *brief.run, *([brief.comment] if brief.comment else ())]
    told = [_message(one) for one in thread if not one.is_ours]
    told += [_candidate(one) for one in brief.candidates]
    told += _memories(item, brief.memories)
    before = ActivationItem.objects.values_list("shown", flat=True).get(pk=item.pk)
    return kept([*read_again(before), *told])


def _message(one: ThreadMessage) -> Source:
    number, text = str(one.number or ""), _shown(one)
    return Source(kind="message", id=number, author=one.author, trust=Trust.STRANGER, text=text)


def _candidate(one: ThreadMessage) -> Source:
    text = _shown(one)
    return Source(kind="item", id=one.link, author=one.author, trust=Trust.STRANGER, text=text)


def _shown(one: ThreadMessage) -> str:
    """What a prompt shows of it, the name that its author chose included: neither the invisible
    characters before its words nor what is cut from them.
    """
    quote = Quote.of(one)
    return "\n".join((quote.author, quote.title, quote.link, quote.words))


def _memories(item: ActivationItem, shown: Sequence[ThreadMessage]) -> list[Source]:
    """Each with the trust of its row; a stranger's where there is none any more."""
    agent, numbers = item.activation.agent_id, [one.number for one in shown]
    trusted = dict(
        Memory.objects.filter(agent=agent, pk__in=numbers).values_list("pk", "trust")
    )  # fmt: skip
    return [
        Source(
            kind="memory", id=str(one.number or ""), author=one.author,
            trust=trusted.get(one.number, Trust.STRANGER), text=_shown(one),
        )
        for one in shown
    ]  # fmt: skip


def _thread(item: ActivationItem) -> list[Source]:
    """All that may have been shown, where the voice did not say what was."""
    if item.notification is None or item.notification.message is None:
        return []
    rows = Message.objects.filter(post=item.notification.message.post_id)
    rows = rows.exclude(direction=Direction.OUTGOING).only("author", "title", "content")
    return [
        Source(
            kind="message", id=str(row.pk), author=row.author, trust=Trust.STRANGER,
            text="\n".join((row.author, row.title, row.content)),
        )
        for row in rows.order_by("-pk")[:MOST_MESSAGES]
    ]  # fmt: skip
