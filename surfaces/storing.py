"""Write down what a surface said: each item once, however often it is read.

Rows travel through a session-wide temporary table by COPY and are inserted with
ON CONFLICT DO NOTHING, so reading twice, or at the same time, changes nothing.
Nothing is ever dropped: an edit keeps the old words in the ledger, a deletion
is a mark.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db import connection, transaction

from surfaces.adapters.base import Item, Kind, Thread
from surfaces.models import Account, AuditEvent, Message
from surfaces.models.message import Direction, ReplyStatus

BATCH = 5_000  # rows per transaction
SETTLING = timedelta(minutes=10)  # what we saw so lately may not be listed yet


@dataclass(frozen=True, slots=True)
class Judged:
    """What the spam filter makes of one new comment, ready to be stored."""

    status: str | None = None
    score: float | None = None
    reasons: tuple[tuple[str, str], ...] = ()
    fingerprint: str = ""


Judge = Callable[[Account, Sequence[Item], datetime], Mapping[str, Judged]]


@dataclass(slots=True)
class Stored:
    """What storing changed, in rows."""

    new: int = 0
    edited: int = 0
    deleted: int = 0
    suspect: int = 0
    spam: int = 0

    def add(self, other: Stored) -> None:
        for name in ("new", "edited", "deleted", "suspect", "spam"):
            setattr(self, name, getattr(self, name) + getattr(other, name))


COLUMNS = {
    "id": "bigint",
    "account_id": "bigint",
    "remote_id": "text",
    "parent_id": "bigint",
    "post_id": "bigint",
    "created_at": "timestamptz",
    "kind": "text",
    "author": "text",
    "author_id": "text",
    "author_is_bot": "boolean",
    "direction": "text",
    "title": "text",
    "content": "text",
    "url": "text",
    "submolt": "text",
    "raw_json": "jsonb",
    "reply_attempts": "smallint",
    "spam_status": "text",
    "spam_score": "float8",
    "spam_reasons": "jsonb",
    "fingerprint": "text",
    "seen_at": "timestamptz",
    "edited_at": "timestamptz",
    "deleted_at": "timestamptz",
    "reply_why": "text",
    "comment_count": "integer",
}
NAMES = ", ".join(COLUMNS)
MAKE_TABLE = (
    "CREATE TEMPORARY TABLE IF NOT EXISTS arriving ("
    + ", ".join(f"{name} {kind}" for name, kind in COLUMNS.items())
    + ") ON COMMIT DELETE ROWS"
)
COPY_IN = f"COPY arriving ({NAMES}) FROM STDIN"
INSERT = (
    f"INSERT INTO messages ({NAMES}) SELECT {NAMES} FROM arriving ORDER BY id"  # noqa: S608
    " ON CONFLICT (account_id, remote_id) DO NOTHING RETURNING remote_id"
)


def next_message_id() -> int:
    """Take one id ahead of its row: a post must name itself."""
    return _take_ids(1)[0]


def _take_ids(count: int) -> list[int]:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT nextval(pg_get_serial_sequence('messages', 'id')) FROM generate_series(1, %s)",
            [count],
        )
        return [row[0] for row in cursor.fetchall()]


def store(account: Account, items: Sequence[Item], *, now: datetime, judge: Judge) -> Stored:
    """Store `items`, parents before children; roots of unknown posts must be among them."""
    changed = Stored()
    for start in range(0, len(items), BATCH):
        batch = list({i.remote_id: i for i in items[start : start + BATCH] if _is_sane(i)}.values())
        changed.add(_store_batch(account, batch, now=now, judge=judge))
    return changed


def _is_sane(item: Item) -> bool:
    """A comment under itself would take the place of its post."""
    return item.kind == Kind.POST or item.remote_id != item.post_id


def _store_batch(account: Account, items: Sequence[Item], *, now: datetime, judge: Judge) -> Stored:
    known = _known(account, items)
    fresh = [item for item in items if item.remote_id not in known]
    reworded = [item for item in items if _is_reworded(known.get(item.remote_id), item)]
    judged = judge(account, [item for item in [*fresh, *reworded] if is_judged(item)], now)
    changed = Stored()
    ids = {name: row.pk for name, row in known.items()}
    with transaction.atomic():
        if fresh:
            changed.new = _insert(account, fresh, ids, judged, now)
            said = [judged[item.remote_id].status for item in fresh if item.remote_id in judged]
            changed.suspect, changed.spam = said.count("suspect"), said.count("spam")
        for item in items:
            if (row := known.get(item.remote_id)) and row.kind == item.kind.value:
                _hang(row, item, ids)
                _refresh(row, item, changed, judged.get(item.remote_id), now=now)
    return changed


def _is_reworded(row: Message | None, item: Item) -> bool:
    return row is not None and (item.title, item.content) != (row.title, row.content)


def _hang(row: Message, item: Item, ids: Mapping[str, int]) -> None:
    """Put a comment under its parent, if that came later than the comment."""
    parent = ids.get(item.parent_id) if item.parent_id else None
    if row.parent_id is None and row.kind == Kind.COMMENT.value and parent not in (None, row.pk):
        Message.objects.filter(pk=row.pk, parent=None).update(parent_id=parent)
        if row.direction == Direction.OUTGOING:
            _note_answers([parent])


def is_judged(item: Item) -> bool:
    return item.kind == Kind.COMMENT and not item.is_ours and not item.is_deleted


def _known(account: Account, items: Iterable[Item]) -> dict[str, Message]:
    """Rows we have of these items, of their parents and of their posts."""
    names = {
        name for item in items for name in (item.remote_id, item.parent_id, item.post_id) if name
    }
    rows = Message.objects.filter(account=account, remote_id__in=names)
    wanted = rows.only(
        "remote_id", "title", "content", "direction", "kind", "deleted_at", "edited_at", "account",
        "parent",
    )  # fmt: skip
    return {row.remote_id: row for row in wanted}


def _insert(
    account: Account,
    fresh: Sequence[Item],
    ids: dict[str, int],
    judged: Mapping[str, Judged],
    now: datetime,
) -> int:
    for item, pk in zip(fresh, _take_ids(len(fresh)), strict=True):
        ids[item.remote_id] = pk
    rooted = [item for item in fresh if item.post_id in ids]
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL client_min_messages = warning")
        cursor.execute(MAKE_TABLE)
        cursor.execute("DELETE FROM arriving")
        with cursor.copy(COPY_IN) as copy:
            for item in rooted:
                copy.write_row(_row(account, item, ids, judged.get(item.remote_id), now))
        cursor.execute(INSERT)
        stored = {row[0] for row in cursor.fetchall()}
    if len(stored) < len(rooted):
        _adopt(account, [item for item in rooted if item.remote_id not in stored], ids)
    _note_answers([ids[i.parent_id] for i in rooted if i.is_ours and i.parent_id in ids])
    return len(stored)


def _row(
    account: Account, item: Item, ids: Mapping[str, int], judged: Judged | None, now: datetime
) -> tuple[Any, ...]:
    verdict = judged or Judged()
    parent = ids.get(item.parent_id) if item.parent_id else None
    own = ids[item.remote_id]
    return (
        own,
        account.pk,
        item.remote_id,
        parent if item.kind == Kind.COMMENT and parent != own else None,
        own if item.kind == Kind.POST else ids[item.post_id],
        item.created_at,
        item.kind.value,
        item.author[:200],
        item.author_id[:200],
        item.author_is_bot,
        Direction.OUTGOING.value if item.is_ours else Direction.INCOMING.value,
        item.title,
        item.content,
        item.url,
        item.community[:200],
        json.dumps(item.raw),
        0,
        verdict.status,
        verdict.score,
        json.dumps(verdict.reasons),
        verdict.fingerprint,
        now,
        item.edited_at,
        now if item.is_deleted else None,
        "",
        item.comment_count if item.kind == Kind.POST else None,
    )


def _adopt(account: Account, missed: Sequence[Item], ids: dict[str, int]) -> None:
    """Somebody stored these first: hang the children we just stored under their rows."""
    rows = Message.objects.filter(account=account, remote_id__in=[i.remote_id for i in missed])
    for row in rows.only("remote_id"):
        taken, ids[row.remote_id] = ids[row.remote_id], row.pk
        Message.objects.filter(parent_id=taken).update(parent_id=row.pk)
        Message.objects.filter(post_id=taken).update(post_id=row.pk)


def _note_answers(parents: Sequence[int]) -> None:
    """What has an answer of ours is answered, whoever wrote it."""
    if parents:
        Message.objects.filter(pk__in=parents).incoming().comments().exclude(
            reply_status=ReplyStatus.SENT
        ).update(reply_status=ReplyStatus.SENT)


def _refresh(
    row: Message, item: Item, changed: Stored, verdict: Judged | None, *, now: datetime
) -> None:
    """Mark what changed at the source. Who hears of new words finds them judged."""
    if item.is_deleted:
        if row.deleted_at is None:
            _mark(row, "message.deleted", now, deleted_at=now)
            changed.deleted += 1
        return
    facts: dict[str, Any] = {}
    if row.deleted_at is not None:
        facts["deleted_at"] = None
    if _is_reworded(row, item):
        facts |= {
            "title": item.title,
            "content": item.content,
            "edited_at": item.edited_at or now,
        }
        changed.edited += 1
        if verdict and row.direction == Direction.INCOMING:
            _judge_again(row, verdict)
    if facts:
        _mark(row, "message.edited", now, **facts)


def _judge_again(row: Message, verdict: Judged) -> None:
    """Put down what the filter makes of edited words, except where a person has spoken."""
    Message.objects.filter(pk=row.pk, spam_decision=None).update(
        spam_status=verdict.status,
        spam_score=verdict.score,
        spam_reasons=[list(reason) for reason in verdict.reasons],
        fingerprint=verdict.fingerprint,
    )


def _mark(row: Message, action: str, now: datetime, **facts: Any) -> None:
    Message.objects.filter(pk=row.pk).update(**facts)
    AuditEvent.objects.record(
        action, actor="watcher", subject=row, at_source=True, before=row.content[:4000]
    )


def note_thread(
    account: Account, post_id: str, thread: Thread, *, now: datetime, count: int | None = None
) -> int:
    """Remember that a thread was read; mark what is no longer in a whole list.

    Returns how many rows were found deleted.
    """
    post = Message.objects.filter(account=account, remote_id=post_id).only("id").first()
    if post is None:
        return 0
    facts: dict[str, Any] = {"thread_read_at": now, "thread_is_whole": thread.is_complete}
    if thread.root and thread.root.comment_count is not None:
        count = thread.root.comment_count
    if count is not None:
        facts["comment_count"] = count
    if thread.is_gone:
        facts["deleted_at"] = now
    Message.objects.filter(pk=post.pk).update(**facts)
    if thread.is_gone or not thread.is_complete:
        return 0
    here = [comment.remote_id for comment in thread.comments] + [
        s.remote_id for s in thread.skipped
    ]
    gone = Message.objects.filter(post=post, deleted_at=None, seen_at__lt=now - SETTLING)
    gone = gone.comments().incoming().exclude(remote_id__in=here)
    return gone.update(deleted_at=now)
