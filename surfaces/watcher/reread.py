"""Read a thread again before a reply, so that deleted and edited comments are not answered."""

from contextlib import closing, suppress
from datetime import datetime, timedelta

from surfaces.accounts.clients import Clock, open_reader
from surfaces.adapters.base import Reader
from surfaces.errors import Limited, Refused
from surfaces.messages.models import Message
from surfaces.messages.store import mark_deleted, store
from surfaces.spam import classify
from surfaces.watcher.rounds import Transport, WatchReport, identify, read_thread
from surfaces.workers.wait_bounds import CLOCKS_DIFFER

OLDEST_READING = timedelta(seconds=60)


def is_outdated(post: Message, *, now: datetime) -> bool:
    """A time that a clock that ran ahead wrote says nothing."""
    read_at = post.thread_read_at
    return read_at is None or not now - OLDEST_READING <= read_at <= now + CLOCKS_DIFFER


def read_again(comment: Message, *, clock: Clock, transport: Transport = None) -> None:
    """Read the thread of `comment` where its last reading is too old and the limit allows it.

    Raises `TryLater` where the service does not answer, and what an operator must mend.
    """
    post = comment.post
    if not is_outdated(post, now=clock()):
        return
    account = comment.account
    # The requests are those of reading: they take nothing from what is kept for sending.
    reader = open_reader(account, clock=clock, transport=transport)
    with closing(reader), suppress(Limited, Refused):
        identify(account, reader)
        read_thread(account, reader, post.remote_id, WatchReport(), clock=clock)
        post.refresh_from_db(fields=["thread_is_whole", "deleted_at"])
        is_cut = post.thread_is_whole is False and post.deleted_at is None
        if is_cut and not comment.is_post:
            _read_single(comment, reader, clock=clock)


def _read_single(comment: Message, reader: Reader, *, clock: Clock) -> None:
    """A list that is cut may leave the comment out: ask for it by its id."""
    found = reader.comment(comment.post.remote_id, comment.remote_id)
    if found is None:
        mark_deleted(comment, now=clock())
    else:
        store(comment.account, [found], now=clock(), judge=classify.classify_items)
