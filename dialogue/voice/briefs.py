"""Build briefs: thread, comment, memories, rules of the surface, what is left of limits."""

from collections.abc import Iterable, Iterator
from contextlib import suppress
from datetime import datetime
from typing import Any

from django.db import connection
from django.db.models import Exists, OuterRef, Q, QuerySet

from dialogue.activations.models import Activation, ActivationItem
from dialogue.agents.models.settings import VoiceKind
from dialogue.budgets import remaining
from dialogue.errors import VoiceMisconfigured
from dialogue.memory import services as memory_services
from dialogue.memory.models import Memory, Trust
from dialogue.models import Agent, AgentSettings, Notification, Presence, Stone
from dialogue.voice.base import Brief, ThreadMessage
from dialogue.voice.output_checks import OutputContext
from surfaces.drafts.models import Feedback
from surfaces.drafts.validation import REMEMBERED
from surfaces.messages.models import MessageKind, SpamStatus
from surfaces.models import Draft, Message

THREAD = 200  # newest messages of a thread that are read
UNFIT = Q(spam_status=SpamStatus.SPAM) | Q(spam_status=SpamStatus.SUSPECT)
NOTES = 3  # latest notes of operators


def reply_brief(
    notification: Notification, *, now: datetime, activation: Activation | None = None
) -> tuple[Brief, OutputContext]:
    """For a comment to reply to, or a post that names us, to comment on.

    With the activation, it says what is left of the limits of that.
    """
    presence, comment = notification.presence, notification.comment
    above = path_to(comment)
    thread = thread_of(comment, above)
    is_post = comment.kind == MessageKind.POST
    # Drafts for this comment that operators sent back with a note, newest first.
    sent_back = Draft.objects.answering(comment).filter(judged=Feedback.SENT_BACK)
    rejected = list(sent_back.order_by("-id")[:NOTES])
    brief = Brief(
        purpose="comment" if is_post else "reply",
        thread=tuple(said(row, above) for row in thread if is_post or row.pk != comment.pk),
        comment=None if is_post else said(comment),
        run=tuple(said(row) for row in run_of(comment, presence.agent.settings)),
        notes=tuple(f"A person sent the last draft back: {draft.why}" for draft in rejected),
        before=rejected[0].text if rejected else "",
        memories=memories_about(presence.agent, f"{comment.title} {comment.content}", now=now),
        seed=comment.pk * 1_000 + comment.reply_attempts,
        **who(presence, remaining.left_for_reply(notification, now=now), activation),
    )
    return brief, context_of(presence, brief, thread)


def task_brief(
    activation: Activation, item: ActivationItem, *, now: datetime
) -> tuple[Brief, OutputContext]:
    """For what an operator asked for. It may end in a post."""
    presence, agent = activation.presence, activation.agent
    left = remaining.left_to_spend(agent, now=now)
    brief = Brief(
        purpose="task",
        task=activation.task,
        memories=memories_about(agent, activation.task, now=now),
        seed=activation.pk * 1_000 + item.position,
        **(who(presence, left, activation) | _of_post(presence)),
    )
    return brief, context_of(presence, brief, [], is_post=True)


def stone_brief(stone: Stone, *, now: datetime) -> tuple[Brief, OutputContext]:
    presence = stone.presence
    thread = thread_of(stone.thread) if stone.thread else []
    left = remaining.left_to_spend(presence.agent, now=now)
    brief = Brief(
        purpose="stone",
        thread=tuple(said(row) for row in thread),
        kernel=stone.kernel.words if stone.kernel else "",
        seed=stone.pk * 1_000 + stone.tries,
        **(who(presence, left) | _of_post(presence)),
    )
    return brief, context_of(presence, brief, thread, is_post=True)


def _of_post(presence: Presence) -> dict[str, Any]:
    traits = presence.account.surface.traits
    longest = traits.post_limit or traits.text_limit
    return {
        "longest": min(longest, max(_longest(presence), 2_000)),
        "longest_title": traits.title_limit,
    }


def who(
    presence: Presence, left: Iterable[str], activation: Activation | None = None
) -> dict[str, Any]:
    """The fields of a brief about the agent, its place and what is left to it."""
    agent, account = presence.agent, presence.account
    traits = account.surface.traits
    rules = (
        f"{traits.label} takes texts of at most {traits.text_limit:,} characters.",
        "Name nobody who does not speak in this thread.",
    )
    return {
        "name": agent.name,
        "handle": account.handle,
        "persona": agent.persona,
        "place": account.surface.name,
        "house_rules": (*rules, *left, *left_of_limits(agent, activation)),
        "longest": _longest(presence),
    }


def left_of_limits(agent: Agent, activation: Activation | None) -> Iterator[str]:
    """What is left of the limits of the activation; only for a model that may call tools."""
    settings = agent.settings
    if activation is None or settings.voice != VoiceKind.MODEL or not settings.grants:
        return
    turns = max(settings.max_iterations - activation.requests, 0)
    calls = max(settings.max_tool_calls - activation.calls, 0)
    yield f"Left of this activation: {turns} turns, the one with your answer included."
    yield f"Left of this activation: {calls} tool calls."


def memories_about(agent: Agent, text: str, *, now: datetime) -> tuple[ThreadMessage, ...]:
    if not agent.settings.has_memory:
        return ()
    found = memory_services.relevant(agent, text, now=now)
    return tuple(_remembered(memory) for memory in found)


def _remembered(memory: Memory) -> ThreadMessage:
    """A note, labelled as somebody else's words unless it rests on nobody else's."""
    authors = [str(source.get("author") or "") for source in memory.sources]
    return ThreadMessage(
        author=", ".join(dict.fromkeys(filter(None, authors))), text=memory.words,
        title=memory.topic, is_ours=memory.trust > Trust.STRANGER,
        written_at=memory.made_at.isoformat(),
    )  # fmt: skip


def _longest(presence: Presence) -> int:
    return min(presence.agent.settings.longest_reply, presence.account.surface.traits.text_limit)


def thread_of(message: Message, above: frozenset[int] = frozenset()) -> list[Message]:
    """Root first, then the newest messages in order of time, without spam."""
    rows = Message.objects.filter(post=message.post_id, deleted_at=None)
    comments = _light(rows.exclude(pk=message.post_id)).exclude(UNFIT)
    newest = comments.order_by("-created_at", "-id")[:THREAD]
    found = {*newest, *comments.filter(pk__in=above)}
    later = sorted(found, key=lambda message: (message.created_at, message.pk))
    roots = Message.objects.select_related("account__surface").filter(pk=message.post_id)
    return [*_light(roots), *later]


PATH = """
WITH RECURSIVE up(id, parent_id, depth) AS (
    SELECT id, parent_id, 0 FROM messages WHERE id = %s
    UNION ALL
    SELECT m.id, m.parent_id, up.depth + 1 FROM messages m JOIN up ON m.id = up.parent_id
    WHERE up.depth < 50
) SELECT id FROM up WHERE depth > 0
"""


def path_to(comment: Message) -> frozenset[int]:
    with connection.cursor() as cursor:
        cursor.execute(PATH, [comment.pk])
        return frozenset(row[0] for row in cursor.fetchall())


def _light(rows: QuerySet[Message]) -> QuerySet[Message]:
    return rows.defer("raw_json", "search")


def said(message: Message, above: frozenset[int] = frozenset()) -> ThreadMessage:
    return ThreadMessage(
        author=message.author, text=message.content, title=message.title, link=message.link,
        is_ours=message.is_ours, is_above=message.pk in above, number=message.pk,
        written_at=message.created_at.isoformat(),
    )  # fmt: skip


def run_of(comment: Message, settings: AgentSettings) -> list[Message]:
    """Other comments of the same author under the same parent that the reply covers."""
    if not settings.answers_runs_once:
        return []
    run = {"post": comment.post_id, "parent": comment.parent_id, "author": comment.author}
    rows = Message.objects.filter(**run)
    others = _light(rows.awaiting_reply() | rows.cleared()).exclude(pk=comment.pk)
    spoken_to = Draft.objects.alive().filter(account=comment.account_id, target=OuterRef("pk"))
    open_still = others.filter(~Exists(spoken_to), deleted_at=None)
    return list(open_still.order_by("created_at", "id")[:20])


def context_of(
    presence: Presence, brief: Brief, thread: Iterable[Message], *, is_post: bool = False
) -> OutputContext:
    account, agent = presence.account, presence.agent
    people = {row.author for row in thread} | {account.handle}
    if brief.comment:
        people.add(brief.comment.author)
    secrets = [account.credential]
    for brain in agent.brains.all():
        with suppress(VoiceMisconfigured):  # a secret that cannot be decrypted cannot leak
            secrets.append(brain.key)
    return OutputContext(
        traits=account.surface.traits,
        longest=brief.longest,
        is_post=is_post,
        people=frozenset(people),
        last_texts=tuple(last_texts(account.pk)),
        private_texts=(agent.persona,) if agent.persona else (),
        secrets=tuple(secret for secret in secrets if len(secret) >= 8),
    )


def last_texts(account_id: int) -> list[str]:
    said = Message.objects.filter(account=account_id).outgoing().alive()
    newest = said.order_by("-created_at", "-id").values_list("content", flat=True)[:REMEMBERED]
    coming = Draft.objects.filter(account=account_id).under_way().values_list("text", flat=True)
    waiting = Draft.objects.filter(account=account_id).waiting().order_by("-id")
    return [*filter(None, newest), *coming, *waiting.values_list("text", flat=True)[:REMEMBERED]]
