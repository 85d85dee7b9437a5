"""What of an account was not read yet, or cannot be read, as its page shows it."""

from dataclasses import dataclass
from typing import Any

from django.db.models import Count, Window

from surfaces.accounts.models.account import Account
from surfaces.messages.models import Message
from surfaces.watcher.models import ReadingPlace
from surfaces.watcher.thread_selection import LEFT

NAMED = 5  # threads with a link


@dataclass(frozen=True, slots=True)
class ReadingState:
    found: int  # posts of ours, where the first look goes on
    is_first_look: bool
    rows_walked: int  # posts by anybody that the first look has passed
    left: int  # threads with news that wait for the next round
    cut: int  # threads that the service does not show whole
    cut_threads: list[Message]
    backfill: ReadingPlace | None  # under way

    @property
    def is_whole(self) -> bool:
        return not (self.is_first_look or self.left or self.cut or self.backfill)


def of_account(account: Account) -> ReadingState:
    posts = Message.objects.filter(account=account).posts().alive()
    cut = posts.filter(thread_is_whole=False).annotate(of=Window(Count("pk")))
    cut_threads: list[Any] = list(
        cut.order_by("-created_at", "-id").only("title", "author")[:NAMED]
    )
    walks = (account.cursor.get("walks") or {}).values()
    is_first = account.is_first_look
    return ReadingState(
        found=posts.outgoing().count() if is_first else 0,
        is_first_look=is_first,
        rows_walked=sum(int(walk.get("rows") or 0) for walk in walks),
        left=len(account.cursor.get(LEFT) or []),
        cut=cut_threads[0].of if cut_threads else 0,
        cut_threads=cut_threads,
        backfill=ReadingPlace.objects.filter(account=account, ended_at=None).first(),
    )
