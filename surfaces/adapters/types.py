"""Result types of adapters: items, threads, news, and results of writing."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import Enum, StrEnum
from typing import Any

from surfaces.text.reasons import StoredReason


class ItemKind(StrEnum):
    POST = "post"
    COMMENT = "comment"


@dataclass(frozen=True, kw_only=True, slots=True)
class Identity:
    remote_id: str
    handle: str
    note: str = ""  # e.g. "not claimed yet": shown to operators
    dialect: str = ""  # that the service speaks, where there are several


@dataclass(frozen=True, kw_only=True, slots=True)
class Item:
    remote_id: str
    kind: ItemKind
    post_id: str  # remote id of the root post; a post names itself
    parent_id: str | None = None  # remote id; None for posts and for comments on the post
    author: str
    author_id: str = ""
    author_is_bot: bool | None = None
    is_ours: bool = False
    created_at: datetime
    edited_at: datetime | None = None
    is_deleted: bool = False
    title: str = ""
    content: str = ""
    url: str = ""  # what a link post points to, else the item's page; "" if unknown
    community: str = ""
    comment_count: int | None = None  # posts only, as the service counts
    score: int | None = None  # votes for minus votes against, where the service shows it
    raw: dict[str, Any] = field(default_factory=dict)  # as sent, without nested replies


class Malformed(ValueError):
    """An item without a required field. The message names it."""


@dataclass(frozen=True, slots=True)
class Skipped:
    remote_id: str
    why: str | StoredReason


@dataclass(frozen=True, kw_only=True, slots=True)
class ThreadItems:
    """A post with its comments, parents before children.
    `is_complete` false: missing comments may still exist.
    `is_cut`: a list was cut, and what else was found came by other ways: no proof of absence.
    `root` None with `is_gone` true: the post does not exist.
    `is_unchanged`: the count is still the one we know; the comments were not read.
    """

    root: Item | None
    comments: tuple[Item, ...] = ()
    is_complete: bool = True
    is_cut: bool = False
    is_gone: bool = False
    is_unchanged: bool = False
    skipped: tuple[Skipped, ...] = ()


@dataclass(frozen=True, slots=True)
class KnownThread:
    comment_count: int | None  # the service's own count when we last read the thread
    read_at: datetime | None
    checked_at: datetime | None = None  # when its count was last told, or it was read
    created_at: datetime | None = None
    is_ours: bool = True


@dataclass(frozen=True, kw_only=True, slots=True)
class News:
    """Threads that a round should read.

    `touched`: remote post ids whose threads have news.
    `counts`: the service's comment count per post id, for every known post it told us about.
    `scores`: the score per post id, where the service told it along with the counts.
    `posts`: posts of ours (or newly met) that came along for nothing and should be stored.
    `unheard`: known post ids the service said nothing about: looked at in rotation.
    `spare`: how many requests are left for the unheard.
    `cursor`: JSON, handed back at the next round. `walks` in it: gaps not walked yet, by list.
    """

    touched: tuple[str, ...] = ()
    counts: Mapping[str, int] = field(default_factory=dict)
    scores: Mapping[str, int] = field(default_factory=dict)
    posts: tuple[Item, ...] = ()
    unheard: tuple[str, ...] = ()
    spare: int = 0
    cursor: dict[str, Any] = field(default_factory=dict)
    skipped: tuple[Skipped, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class ItemPage:
    """A page of our own history, newest first, for `backfill`. `cursor` None: that was all."""

    posts: tuple[Item, ...]
    cursor: str | None
    skipped: tuple[Skipped, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class Feed:
    """Posts that were looked at, newest first. Nothing of them is stored."""

    posts: tuple[Item, ...]
    skipped: tuple[Skipped, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class Challenge:
    """A challenge to solve before our text is shown. Store it before solving it."""

    code: str
    text: str
    expires_at: datetime


@dataclass(frozen=True, kw_only=True, slots=True)
class SentItem:
    """Our text as the service stored it. `content` None: unknown."""

    remote_id: str
    content: str | None = None
    created_at: datetime | None = None
    url: str = ""
    challenge: Challenge | None = None
    raw: dict[str, Any] = field(default_factory=dict)


class Verified(Enum):
    YES = "service.answer_taken"
    WRONG = "service.answer_wrong"
    EXPIRED = "service.challenge_expired"
    USED = "service.challenge_used"


@dataclass(frozen=True, kw_only=True, slots=True)
class FoundItem:
    item: Item


@dataclass(frozen=True, slots=True)
class NotFound:
    """The whole list was read without finding it."""


@dataclass(frozen=True, slots=True)
class CannotTell:
    """The list is truncated or unreadable: no conclusion."""

    why: str | StoredReason


Look = FoundItem | NotFound | CannotTell
