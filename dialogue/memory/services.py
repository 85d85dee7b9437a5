"""Remember, recall, forget.

A memory is as trusted as the least of what it rests on (`Trust`), and keeps what that was. When
an agent's memories are full, the least trusted go first, of those the oldest: what strangers say
never pushes out what operators or the agent itself found worth keeping.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import reduce
from operator import or_
from typing import Any

from django.contrib.postgres.search import SearchQuery, SearchRank
from django.db import transaction
from django.db.models import Case, F, FloatField, Q, QuerySet, Sum, Value, When
from django.db.models.functions import Length

from dialogue.agents.models.settings import MemoryStrategy
from dialogue.memory.models import Memory, Trust
from dialogue.models import Activation, Agent, AgentSettings
from surfaces.audit.models import AuditEvent
from surfaces.drafts.text_checks import SECRETS
from surfaces.errors import BadInput
from surfaces.messages.filters import UNPARTED
from surfaces.models import Message
from surfaces.text.reasons import reason

LONGEST_WORDS = 4_000  # characters of one memory
LONGEST_TOPIC = 120
MOST_SOURCES = 20  # named with one memory
MOST_TERMS = 30  # words of a text that memories are searched for
KILOBYTE = 1_024
MASK = "[secret]"

_TERM = re.compile(r"[^\W_]+")
_UNSTORABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]")


@dataclass(frozen=True, kw_only=True, slots=True)
class MemorySource:
    """What a memory rests on."""

    kind: str  # message, memory, item, page or tool
    id: str = ""
    author: str = ""
    trust: int = Trust.STRANGER

    def facts(self) -> dict[str, Any]:
        named = {"kind": self.kind, "id": self.id, "author": self.author}
        return {key: _UNSTORABLE.sub("", text)[:200] for key, text in named.items()} | {
            "trust": int(self.trust)
        }


@dataclass(frozen=True, kw_only=True, slots=True)
class Remembered:
    memory: Memory
    forgotten: int = 0  # older memories that made room


@transaction.atomic
def remember(
    agent: Agent,
    words: str,
    *,
    topic: str = "",
    trust: int,
    sources: Iterable[MemorySource] = (),
    activation: Activation | None = None,
    secrets: Iterable[str] = (),
    now: datetime,
) -> Remembered:
    """Keep a note, or raise `BadInput`. `trust`: how far it is trusted by itself, at most.

    Secrets are masked. The same words again renew the note that has them, which is then as
    trusted as the less trusted of the two.
    """
    words, topic = _kept(words, secrets), _kept(topic, secrets)[:LONGEST_TOPIC]
    settings = AgentSettings.objects.select_for_update().get(agent=agent)
    most = settings.memory_kilobytes * KILOBYTE
    for applies, why in (
        (not words, reason("memory.empty")),
        (len(words) > LONGEST_WORDS, reason("memory.too_long", most=LONGEST_WORDS)),
        (_bytes(words, topic) > most, reason("memory.too_small", most=settings.memory_kilobytes)),
    ):
        if applies:
            raise BadInput(why)
    rests_on = list(dict.fromkeys(sources))
    facts = [source.facts() for source in sorted(rests_on, key=lambda one: one.trust)]
    least = min([trust, *(source.trust for source in rests_on)])
    if known := Memory.objects.filter(agent=agent, words=words, topic=topic).first():
        facts += [fact for fact in known.sources if fact not in facts]
        least = min(least, known.trust)
        known.delete()  # it is the newest now
    memory = Memory.objects.create(
        agent=agent, words=words, topic=topic, trust=least, sources=facts[:MOST_SOURCES],
        source=_message_of(facts), activation=activation, made_at=now,
    )  # fmt: skip
    return Remembered(memory=memory, forgotten=_make_room(agent, memory, most))


def recall(agent: Agent, query: str = "", *, limit: int, now: datetime) -> list[Memory]:
    """Memories that share a word with `query`, best first; without a query the newest."""
    mine = Memory.objects.filter(agent=agent)
    found = list((_matching(mine, query) if query.strip() else mine.order_by("-id"))[:limit])
    Memory.objects.filter(pk__in=[memory.pk for memory in found]).update(recalled_at=now)
    return found


def relevant(agent: Agent, text: str, *, now: datetime) -> list[Memory]:
    """Memories for a prompt about `text`, best first; [] if the agent has no memory.

    The strategy embedding_search acts as keyword: there are no embeddings here.
    """
    settings = agent.settings
    if not settings.has_memory or not settings.memory_items:
        return []
    is_recent = settings.memory_strategy == MemoryStrategy.RECENT
    if not is_recent and not text.strip():
        return []
    return recall(agent, "" if is_recent else text, limit=settings.memory_items, now=now)


@transaction.atomic
def forget(memory: Memory, *, by: str) -> int:
    """Delete one memory; return 0 if it was gone. The audit log keeps no words of it."""
    gone, _ = Memory.objects.filter(pk=memory.pk).delete()
    if gone:
        AuditEvent.objects.record(
            "memory.forgotten", actor=by, subject=memory.agent, memory=memory.pk, count=1
        )
    return gone


@transaction.atomic
def forget_all(agent: Agent, *, by: str) -> int:
    gone, _ = Memory.objects.filter(agent=agent).delete()
    if gone:
        AuditEvent.objects.record("memory.forgotten", actor=by, subject=agent, count=gone)
    return gone


def size(agent: Agent) -> int:
    """Bytes of all memories of an agent, as they count against `memory_kilobytes`."""
    total = Memory.objects.filter(agent=agent).aggregate(total=Sum(_SIZE))["total"]
    return int(total or 0)


class _Bytes(Length):
    function = "octet_length"


_SIZE = _Bytes("words") + _Bytes("topic")


def _bytes(*texts: str) -> int:
    return sum(len(text.encode()) for text in texts)


def _kept(text: str, secrets: Iterable[str]) -> str:
    text = _UNSTORABLE.sub("", text)
    for secret in sorted(secrets, key=len, reverse=True):
        if secret:
            text = text.replace(secret, MASK)
    return SECRETS.sub(MASK, text).strip()


def _message_of(facts: Sequence[dict[str, Any]]) -> Message | None:
    """The stored message that a memory rests on first, if it is still there."""
    ids = [fact["id"] for fact in facts if fact["kind"] == "message" and fact["id"].isdigit()]
    return Message.objects.filter(pk=int(ids[0])).only("pk").first() if ids else None


def _make_room(agent: Agent, newest: Memory, most: int) -> int:
    """Delete memories until the rest fits: the least trusted first, of those the oldest."""
    rows = Memory.objects.filter(agent=agent).annotate(size=_SIZE)
    over = sum(rows.values_list("size", flat=True)) - most
    going: list[int] = []
    for pk, length in rows.exclude(pk=newest.pk).order_by("trust", "pk").values_list("pk", "size"):
        if over <= 0:
            break
        going.append(pk)
        over -= length
    Memory.objects.filter(pk__in=going).delete()
    return len(going)


def _matching(mine: QuerySet[Memory], text: str) -> QuerySet[Memory]:
    """Rows with any word of `text`; those with more of them, then trusted and newer ones, first.

    Scripts without blanks are compared by pairs of characters, row by row (decision 10): an agent
    has few memories.
    """
    parted, unparted = _terms(text)
    if not parted and not unparted:
        return mine.none()
    conditions: Q = Q()
    score: Any = Value(0.0)
    if parted:
        queries = (SearchQuery(word, config="simple", search_type="plain") for word in parted)
        query = reduce(or_, queries)
        conditions |= Q(search=query)
        score = SearchRank(F("search"), query)
    for pair in unparted:
        stands = Q(words__contains=pair) | Q(topic__contains=pair)
        conditions |= stands
        score += Case(When(stands, then=1.0), default=0.0, output_field=FloatField())
    rows = mine.filter(conditions).annotate(score=score)
    return rows.order_by("-score", "-trust", "-id")


def _terms(text: str) -> tuple[list[str], list[str]]:
    """Words of a text, and pairs of characters where words are not parted; longest words first."""
    words: dict[str, None] = {}
    pairs: dict[str, None] = {}
    for word in _TERM.findall(_UNSTORABLE.sub(" ", text[:20_000])):
        if UNPARTED.search(word):
            runs = (word[at : at + 2] for at in range(max(len(word) - 1, 1)))
            pairs |= dict.fromkeys(run for run in runs if UNPARTED.search(run))
        else:
            words[word.casefold()] = None
    longest = sorted(words, key=len, reverse=True)[:MOST_TERMS]
    return longest, list(pairs)[:MOST_TERMS]
