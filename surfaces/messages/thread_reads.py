"""Remember that a thread was read, and what is no longer in it."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from surfaces.accounts.models.account import Account
from surfaces.adapters.types import ThreadItems
from surfaces.messages.models import Message
from surfaces.messages.store import SETTLING


def note_thread(
    account: Account, post_id: str, thread: ThreadItems, *, now: datetime, count: int | None = None
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
