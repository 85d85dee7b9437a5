"""Build briefs: thread, comment, rules of the surface."""

from collections.abc import Iterable
from contextlib import suppress
from datetime import datetime
from typing import Any

from django.db import connection
from django.db.models import Exists, OuterRef, Q, QuerySet

from dialogue.budgets import remaining
from dialogue.errors import VoiceMisconfigured
from dialogue.models import AgentSettings, Notification, Presence, Stone
from dialogue.voice.base import Brief, ThreadMessage
from dialogue.voice.output_checks import OutputContext
from surfaces.drafts.models import Feedback
from surfaces.drafts.validation import REMEMBERED
from surfaces.messages.models import SpamStatus
from surfaces.models import Draft, Message

THREAD = 200  # newest messages of a thread that are read
UNFIT = Q(spam_status=SpamStatus.SPAM) | Q(spam_status=SpamStatus.SUSPECT)
NOTES = 3  # latest notes of operators


def reply_brief(notification: Notification, *, now: datetime) -> tuple[Brief, OutputContext]:
    presence, comment = notification.presence, notification.comment
    above = path_to(comment)
    thread = _thread(comment, above)
    # Drafts for this comment that operators sent back with a note, newest first.
    sent_back = Draft.objects.answering(comment).filter(judged=Feedback.SENT_BACK)
    rejected = list(sent_back.order_by("-id")[:NOTES])
    brief = Brief(
        purpose="reply",
        thread=tuple(_said(row, above) for row in thread if row.pk != comment.pk),
        comment=_said(comment),
        run=tuple(_said(row) for row in run_of(comment, presence.agent.settings)),
        notes=tuple(f"A person sent the last draft back: {draft.why}" for draft in rejected),
        before=rejected[0].text if rejected else "",
        seed=comment.pk * 1_000 + comment.reply_attempts,
        **_who(presence, remaining.left_for_reply(notification, now=now)),
    )
    return brief, _context(presence, brief, thread)


def stone_brief(stone: Stone, *, now: datetime) -> tuple[Brief, OutputContext]:
    presence = stone.presence
    thread = _thread(stone.thread) if stone.thread else []
    traits = presence.account.surface.traits
    longest = traits.post_limit or traits.text_limit
    left = remaining.left_to_spend(presence.agent, now=now)
    brief = Brief(
        purpose="stone",
        thread=tuple(_said(row) for row in thread),
        kernel=stone.kernel.words if stone.kernel else "",
        longest_title=traits.title_limit,
        seed=stone.pk * 1_000 + stone.tries,
        **(_who(presence, left) | {"longest": min(longest, max(_longest(presence), 2_000))}),
    )
    return brief, _context(presence, brief, thread, is_post=True)


def _who(presence: Presence, left: Iterable[str]) -> dict[str, Any]:
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
        "house_rules": (*rules, *left),
        "longest": _longest(presence),
    }


def _longest(presence: Presence) -> int:
    return min(presence.agent.settings.longest_reply, presence.account.surface.traits.text_limit)


def _thread(message: Message, above: frozenset[int] = frozenset()) -> list[Message]:
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


def _said(message: Message, above: frozenset[int] = frozenset()) -> ThreadMessage:
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


def _context(
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
