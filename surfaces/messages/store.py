"""Store items of a surface, each once, however often it is read.

Rows travel through a session-wide temporary table by COPY and are inserted with
ON CONFLICT DO NOTHING, so reading twice, or at the same time, changes nothing.
Nothing is lost: the audit log keeps the text before an edit, and a deletion
is a mark.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db import connection, transaction

from surfaces.accounts.models.account import Account
from surfaces.adapters.types import Item, ItemKind
from surfaces.audit.models import AuditEvent
from surfaces.messages.models import Direction, Message
from surfaces.messages.reply_state import mark_sent
from surfaces.text.reasons import StoredReason

BATCH = 5_000  # rows per transaction
SETTLING = timedelta(minutes=10)  # what we saw so lately may not be listed yet


@dataclass(frozen=True, slots=True)
class Classification:
    """The spam filter's verdict on a new comment, to be stored."""

    status: str | None = None
    score: float | None = None
    reasons: tuple[tuple[str, StoredReason], ...] = ()
    fingerprint: str = ""


Judge = Callable[[Account, Sequence[Item], datetime], Mapping[str, Classification]]


@dataclass(slots=True)
class StoreResult:
    """Counts of changed rows."""

    new: int = 0
    edited: int = 0
    deleted: int = 0
    suspect: int = 0
    spam: int = 0

    def add(self, other: StoreResult) -> None:
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
    "reply_why": "jsonb",
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


def store(account: Account, items: Sequence[Item], *, now: datetime, judge: Judge) -> StoreResult:
    """Store `items`, parents before children; roots of unknown posts must be among them."""
    changed = StoreResult()
    for start in range(0, len(items), BATCH):
        batch = list({i.remote_id: i for i in items[start : start + BATCH] if _is_sane(i)}.values())
        changed.add(_store_batch(account, batch, now=now, judge=judge))
    return changed


def _is_sane(item: Item) -> bool:
    """Refuse a comment that is its own parent."""
    return item.kind == ItemKind.POST or item.remote_id != item.post_id


def _store_batch(
    account: Account, items: Sequence[Item], *, now: datetime, judge: Judge
) -> StoreResult:
    known = _known(account, items)
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


def _is_reworded(row: Message | None, item: Item) -> bool:
    return row is not None and (item.title, item.content) != (row.title, row.content)


def _hang(row: Message, item: Item, ids: Mapping[str, int]) -> None:
    """Link a comment to its parent that was stored later."""
    parent = ids.get(item.parent_id) if item.parent_id else None
    if (
        row.parent_id is None
        and row.kind == ItemKind.COMMENT.value
        and parent not in (None, row.pk)
    ):
        Message.objects.filter(pk=row.pk, parent=None).update(parent_id=parent)
        if row.direction == Direction.OUTGOING:
            _note_answers([parent])


def is_judged(item: Item) -> bool:
    return item.kind == ItemKind.COMMENT and not item.is_ours and not item.is_deleted


def _known(account: Account, items: Iterable[Item]) -> dict[str, Message]:
    """Stored rows of these items, their parents and posts."""
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
    judged: Mapping[str, Classification],
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
    account: Account,
    item: Item,
    ids: Mapping[str, int],
    judged: Classification | None,
    now: datetime,
) -> tuple[Any, ...]:
    verdict = judged or Classification()
    parent = ids.get(item.parent_id) if item.parent_id else None
    own = ids[item.remote_id]
    return (
        own,
        account.pk,
        item.remote_id,
        parent if item.kind == ItemKind.COMMENT and parent != own else None,
        own if item.kind == ItemKind.POST else ids[item.post_id],
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
        "{}",
        item.comment_count if item.kind == ItemKind.POST else None,
    )


def _adopt(account: Account, missed: Sequence[Item], ids: dict[str, int]) -> None:
    """Another process stored these first: link our new children to its rows."""
    rows = Message.objects.filter(account=account, remote_id__in=[i.remote_id for i in missed])
    for row in rows.only("remote_id"):
        taken, ids[row.remote_id] = ids[row.remote_id], row.pk
        Message.objects.filter(parent_id=taken).update(parent_id=row.pk)
        Message.objects.filter(post_id=taken).update(post_id=row.pk)


def _note_answers(parents: Sequence[int]) -> None:
    """Mark messages with a reply of ours as answered."""
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


def _judge_again(row: Message, verdict: Classification) -> None:
    """Store the verdict on edited text, except where an operator decided."""
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
