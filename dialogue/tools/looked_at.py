"""Store what was only looked at, in the moment something is said about it.

A feed stores nothing: of a thousand posts that an agent passes by, none fills the inbox. What it
answers becomes a message like any that the watcher reads, with its root and the comments above it.
"""

from collections.abc import Sequence
from datetime import datetime

from surfaces.adapters.types import Item
from surfaces.errors import NotAllowed
from surfaces.messages.models import SpamStatus
from surfaces.messages.store import store
from surfaces.models import Account, Message
from surfaces.spam import classify


def keep(account: Account, item: Item, *, above: Sequence[Item] = (), now: datetime) -> Message:
    """Store `item` and return its message. `above`: its root, and the comments it hangs under.

    Raises `NotAllowed` if it is spam or suspect, was deleted, or its root is not known.
    """
    store(account, [*above, item], now=now, judge=classify.classify_items)
    rows = Message.objects.select_related("post", "account__surface")
    message = rows.filter(account=account, remote_id=item.remote_id).first()
    if message is None:
        raise NotAllowed("looked_at.no_root")
    if message.deleted_at or message.post.deleted_at:
        raise NotAllowed("looked_at.deleted")
    if message.spam_status in {SpamStatus.SPAM, SpamStatus.SUSPECT}:
        raise NotAllowed("looked_at.held")
    return message
