"""Store items of a surface, each once, however often it is read.

Rows travel through a session-wide temporary table by COPY and are inserted with ON CONFLICT DO
NOTHING, so reading twice, or at the same time, changes nothing. Nothing is lost: the audit log
keeps the text before an edit, and a deletion is a mark.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Self

from django.db import connection, transaction

from surfaces.accounts.models.account import Account
from surfaces.adapters.types import Item, ItemKind, ThreadItems
from surfaces.audit.models import AuditEvent
from surfaces.extension_points import end_waits
from surfaces.messages.models import Direction, Message
from surfaces.messages.reply_state import mark_sent, reopen_returned
from surfaces.text.reasons import StoredReason

BATCH = 5_000  # rows per transaction
SETTLING = timedelta(minutes=10)  # what we saw so lately may not be listed yet


@dataclass(frozen=True, slots=True)
class Classification:
    status: str | None = None
    score: float | None = None
    reasons: tuple[tuple[str, StoredReason], ...] = ()
    fingerprint: str = ""


Verdicts = Mapping[str, Classification]  # by id there
Judge = Callable[[Account, Sequence[Item], datetime], Verdicts]


@dataclass(slots=True)
class StoreResult:
    new: int = 0
    edited: int = 0
    deleted: int = 0
    suspect: int = 0
    spam: int = 0

    def add(self, other: Self) -> None:
        for name in ("new", "edited", "deleted", "suspect", "spam"):
            setattr(self, name, getattr(self, name) + getattr(other, name))


NAMES = (
    "id, account_id, remote_id, parent_id, post_id, created_at, kind, author, author_id,"
    " author_is_bot, direction, title, content, url, submolt, raw_json, reply_attempts,"
    " spam_status, spam_score, spam_reasons, fingerprint, seen_at, edited_at, deleted_at,"
    " reply_why, comment_count, score"
)
MAKE_TABLE = (
    "CREATE TEMPORARY TABLE IF NOT EXISTS arriving ON COMMIT DELETE ROWS"  # noqa: S608
    f" AS SELECT {NAMES} FROM messages WITH NO DATA"
)
COPY_IN = f"COPY arriving ({NAMES}) FROM STDIN"
INSERT = (
    f"INSERT INTO messages ({NAMES}) SELECT {NAMES} FROM arriving ORDER BY id"  # noqa: S608
    " ON CONFLICT (account_id, remote_id) DO NOTHING RETURNING remote_id"
)


def take_ids(count: int) -> list[int]:
    """Ids ahead of their rows: a post must name itself."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT nextval(pg_get_serial_sequence('messages', 'id')) FROM generate_series(1, %s)",
            [count],
        )
        return [row[0] for row in cursor.fetchall()]


def store(account: Account, items: Sequence[Item], *, now: datetime, judge: Judge) -> StoreResult:
    """Store `items`, parents before children; roots of unknown posts must be among them."""
    changed = StoreResult()
    # A comment that is its own parent is refused.
    sane = [item for item in items if item.kind == ItemKind.POST or item.remote_id != item.post_id]
    for start in range(0, len(sane), BATCH):
        batch = {item.remote_id: item for item in sane[start : start + BATCH]}
        changed.add(_store_batch(account, list(batch.values()), now=now, judge=judge))
    return changed


def _store_batch(
    account: Account, items: Sequence[Item], *, now: datetime, judge: Judge
) -> StoreResult:
    # Stored rows of these items, their parents and posts.
    names = {name for i in items for name in (i.remote_id, i.parent_id, i.post_id) if name}
    wanted = ("remote_id", "title", "content", "direction", "kind", "account", "parent")
    rows = Message.objects.filter(account=account, remote_id__in=names)
    known = {
        row.remote_id: row for row in rows.only(*wanted, "deleted_at", "edited_at", "score", "url")
    }
    fresh = [item for item in items if item.remote_id not in known]
    reworded = [item for item in items if _is_reworded(known.get(item.remote_id), item)]
    judged = judge(account, [item for item in [*fresh, *reworded] if is_judged(item)], now)
    changed = StoreResult()
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


def store_scores(account: Account, scores: Mapping[str, int]) -> None:
    """Scores of known posts that came along with the news."""
    rows = Message.objects.filter(account=account, remote_id__in=scores).only("remote_id", "score")
    moved = [row for row in rows if row.score != scores[row.remote_id]]
    for row in moved:
        row.score = scores[row.remote_id]
    Message.objects.bulk_update(moved, ["score"], batch_size=500)


def _is_reworded(row: Message | None, item: Item) -> bool:
    return row is not None and (item.title, item.content) != (row.title, row.content)


def _hang(row: Message, item: Item, ids: Mapping[str, int]) -> None:
    """Link a comment to its parent that was stored later."""
    parent = ids.get(item.parent_id) if item.parent_id else None
    is_loose = row.parent_id is None and row.kind == ItemKind.COMMENT.value
    if is_loose and parent not in (None, row.pk):
        Message.objects.filter(pk=row.pk, parent=None).update(parent_id=parent)
        if row.direction == Direction.OUTGOING:
            _note_answers([parent])


def is_judged(item: Item) -> bool:
    return item.kind == ItemKind.COMMENT and not item.is_ours and not item.is_deleted


def _insert(
    account: Account, fresh: Sequence[Item], ids: dict[str, int], judged: Verdicts, now: datetime
) -> int:
    for item, pk in zip(fresh, take_ids(len(fresh)), strict=True):
        ids[item.remote_id] = pk
    rooted = [item for item in fresh if item.post_id in ids]
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL client_min_messages = warning")
        cursor.execute(MAKE_TABLE)
        cursor.execute("DELETE FROM arriving")
        with cursor.copy(COPY_IN) as copy:
            for item in rooted:
                verdict = judged.get(item.remote_id, Classification())
                copy.write_row(_row(account, item, ids, verdict, now))
        cursor.execute(INSERT)
        stored = {row[0] for row in cursor.fetchall()}
    if len(stored) < len(rooted):
        _adopt(account, [item for item in rooted if item.remote_id not in stored], ids)
    _note_answers([ids[i.parent_id] for i in rooted if i.is_ours and i.parent_id in ids])
    return len(stored)


def _row(
    account: Account, item: Item, ids: Mapping[str, int], verdict: Classification, now: datetime
) -> tuple[Any, ...]:
    parent = ids.get(item.parent_id) if item.parent_id else None
    own = ids[item.remote_id]
    return (
        own, account.pk, item.remote_id,
        parent if item.kind == ItemKind.COMMENT and parent != own else None,
        own if item.kind == ItemKind.POST else ids[item.post_id],
        item.created_at, item.kind.value,
        item.author[:200] or None, item.author_id[:200], item.author_is_bot,
        Direction.OUTGOING.value if item.is_ours else Direction.INCOMING.value,
        item.title or None, item.content or None, item.url or None, item.community[:200] or None,
        json.dumps(item.raw), 0,
        verdict.status, verdict.score, json.dumps(verdict.reasons), verdict.fingerprint,
        now, item.edited_at, now if item.is_deleted else None, "{}",
        item.comment_count if item.kind == ItemKind.POST else None, item.score,
    )  # fmt: skip


def _adopt(account: Account, missed: Sequence[Item], ids: dict[str, int]) -> None:
    """Another process stored these first: link our new children to its rows."""
    rows = Message.objects.filter(account=account, remote_id__in=[i.remote_id for i in missed])
    for row in rows.only("remote_id"):
        taken, ids[row.remote_id] = ids[row.remote_id], row.pk
        Message.objects.filter(parent_id=taken).update(parent_id=row.pk)
        Message.objects.filter(post_id=taken).update(post_id=row.pk)


def _note_answers(parents: Sequence[int]) -> None:
    if parents:
        mark_sent(Message.objects.filter(pk__in=parents).incoming().comments())


def _refresh(
    row: Message, item: Item, changed: StoreResult, verdict: Classification | None, *, now: datetime
) -> None:
    """Mark what changed at the source. Who hears of new words finds them judged."""
    if item.is_deleted:
        if row.deleted_at is None:
            _mark(row, "message.deleted", now, deleted_at=now)
            changed.deleted += 1
        return
    facts: dict[str, Any] = {} if row.deleted_at is None else {"deleted_at": None}
    if _is_reworded(row, item):
        facts |= {"title": item.title, "content": item.content, "edited_at": item.edited_at or now}
        changed.edited += 1
        if verdict and row.direction == Direction.INCOMING:
            # Except where an operator decided.
            Message.objects.filter(pk=row.pk, spam_decision=None).update(
                spam_status=verdict.status,
                spam_score=verdict.score,
                spam_reasons=[list(reason) for reason in verdict.reasons],
                fingerprint=verdict.fingerprint,
            )
    if facts:
        _mark(row, "message.edited", now, **facts)
    if row.deleted_at is not None:
        # It is there after all: what was decided because it was gone is decided again.
        reopen_returned(Message.objects.filter(pk=row.pk))
        end_waits(row, "deleted_at")
    told = {"score": item.score, "url": item.url or None}
    moved = {name: value for name, value in told.items() if value not in (None, getattr(row, name))}
    if moved:
        Message.objects.filter(pk=row.pk).update(**moved)


def _mark(row: Message, action: str, now: datetime, **facts: Any) -> None:
    Message.objects.filter(pk=row.pk).update(**facts)
    AuditEvent.objects.record(
        action, actor="watcher", subject=row, at_source=True, before=row.content[:4000]
    )


def mark_deleted(row: Message, *, now: datetime) -> int:
    """Mark a row that is no longer there; return how many were marked."""
    if row.deleted_at is not None:
        return 0
    _mark(row, "message.deleted", now, deleted_at=now)
    return 1


def note_checked(account: Account, post_ids: Sequence[str], *, now: datetime) -> None:
    """Remember when the service last said how many comments these threads have."""
    if post_ids:
        posts = Message.objects.filter(account=account, remote_id__in=post_ids)
        posts.update(thread_checked_at=now)


def note_thread(
    account: Account, post_id: str, thread: ThreadItems, *, now: datetime, count: int | None = None
) -> int:
    """Remember that a thread was read; mark what is gone, and count it."""
    posts = Message.objects.filter(account=account, remote_id=post_id)
    post = posts.only("id", "account", "content", "deleted_at").first()
    if post is None:
        return 0
    if thread.root and thread.root.comment_count is not None:
        count = thread.root.comment_count
    facts: dict[str, Any] = {"thread_read_at": now, "thread_checked_at": now}
    if not thread.is_gone:
        facts["thread_is_whole"] = thread.is_complete
    if count is not None:
        facts["comment_count"] = count
    Message.objects.filter(pk=post.pk).update(**facts)
    if thread.is_gone:
        return mark_deleted(post, now=now)
    if not thread.is_complete:
        return 0
    here = {item.remote_id for item in thread.comments} | {s.remote_id for s in thread.skipped}
    gone = Message.objects.filter(post=post, deleted_at=None, seen_at__lt=now - SETTLING)
    gone = gone.comments().incoming().exclude(remote_id__in=here)
    return gone.update(deleted_at=now)
