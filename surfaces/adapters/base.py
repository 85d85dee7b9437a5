"""What every surface must be able to do. How it can fail us: `surfaces.errors`.

An adapter knows HTTP and one service's words. It knows no database rows and
no policy. Reading and writing are two classes, in two modules: whoever holds
a `Reader` cannot speak.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from enum import Enum, StrEnum
from typing import Any, ClassVar, Protocol

import httpx

from surfaces.errors import Refused

# ── budgets ───────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class Limit:
    """At most `most` requests of `bucket` per `per`, counted by credential or by address."""

    bucket: str
    most: int
    per: timedelta
    by_address: bool = False


class Meter(Protocol):
    """The shared budget that every request is taken from."""

    def take(self, *buckets: str) -> None:
        """Take one request out of every bucket, or none and raise `Limited(asked=False)`."""

    def heard(self, bucket: str, *, left: int | None = None, wait: timedelta | None = None) -> None:
        """Remember what the service said: `left` requests, or nothing before `wait` is over."""


class Unmetered:
    """A meter that never says no: for tests, and for surfaces without limits."""

    def take(self, *buckets: str) -> None:
        return None

    def heard(self, bucket: str, *, left: int | None = None, wait: timedelta | None = None) -> None:
        return None


# ── what is read ──────────────────────────────────────────────────────────


class Kind(StrEnum):
    POST = "post"
    COMMENT = "comment"


@dataclass(frozen=True, kw_only=True, slots=True)
class Identity:
    """Who the service says we are."""

    remote_id: str
    handle: str
    display_name: str = ""
    note: str = ""  # e.g. "not claimed yet": shown to operators


@dataclass(frozen=True, kw_only=True, slots=True)
class Item:
    """One post or comment as the service has it; text already cleaned for storage."""

    remote_id: str
    kind: Kind
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
    url: str = ""  # link to the item on the surface, "" if unknown
    community: str = ""
    comment_count: int | None = None  # posts only, as the service counts
    raw: dict[str, Any] = field(default_factory=dict)  # as sent, without nested replies


@dataclass(frozen=True, slots=True)
class Skipped:
    """An item we could not use, and why; the round goes on without it."""

    remote_id: str
    why: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Thread:
    """A post with its comments, parents before children.

    `is_complete` false means: what is not here may still exist.
    `root` None with `is_gone` true: the service says the post is not there.
    """

    root: Item | None
    comments: tuple[Item, ...] = ()
    is_complete: bool = True
    is_gone: bool = False
    skipped: tuple[Skipped, ...] = ()


@dataclass(frozen=True, slots=True)
class Known:
    """What we remember of a post we watch."""

    comment_count: int | None  # the service's own count when we last read the thread
    read_at: datetime | None


@dataclass(frozen=True, kw_only=True, slots=True)
class News:
    """What a round should look at.

    `touched`: remote post ids whose threads have news.
    `counts`: the service's comment count per post id, for every known post it told us about.
    `posts`: posts of ours (or newly met) that came along for nothing and should be stored.
    `unheard`: known post ids the service said nothing about: looked at in rotation.
    `cursor`: opaque JSON, handed back at the next round.
    """

    touched: tuple[str, ...] = ()
    counts: Mapping[str, int] = field(default_factory=dict)
    posts: tuple[Item, ...] = ()
    unheard: tuple[str, ...] = ()
    cursor: dict[str, Any] = field(default_factory=dict)
    skipped: tuple[Skipped, ...] = ()
    community_note: str = ""  # e.g. an announcement: shown, never obeyed


@dataclass(frozen=True, kw_only=True, slots=True)
class Page:
    """A page of our own history, newest first, for `backfill`. `cursor` None: that was all."""

    posts: tuple[Item, ...]
    cursor: str | None
    skipped: tuple[Skipped, ...] = ()


# ── what is written ───────────────────────────────────────────────────────


@dataclass(frozen=True, kw_only=True, slots=True)
class Challenge:
    """A puzzle to solve before what we wrote is shown. Keep it before solving it."""

    code: str
    text: str
    expires_at: datetime


@dataclass(frozen=True, kw_only=True, slots=True)
class Sent:
    """What the service made of our words. `content` None: it did not say."""

    remote_id: str
    content: str | None = None
    created_at: datetime | None = None
    url: str = ""
    challenge: Challenge | None = None
    raw: dict[str, Any] = field(default_factory=dict)


class Verified(Enum):
    """What became of an answered challenge."""

    YES = "the service took the answer"
    WRONG = "the service says the answer is wrong"
    EXPIRED = "the challenge had expired"
    USED = "the challenge was answered before"


@dataclass(frozen=True, kw_only=True, slots=True)
class Found:
    """What we meant to say is there."""

    item: Item


@dataclass(frozen=True, slots=True)
class Absent:
    """The whole list was read; it is not there."""


@dataclass(frozen=True, slots=True)
class CannotTell:
    """The list is known to be cut, or cannot be read: it proves nothing."""

    why: str


Look = Found | Absent | CannotTell


# ── the contract ──────────────────────────────────────────────────────────


@dataclass(frozen=True, kw_only=True, slots=True)
class Access:
    """All that an adapter needs to act as one account."""

    token: str
    base_url: str = ""  # "" = the service's own
    handle: str = ""
    remote_id: str = ""
    dialect: str = ""  # "" = the adapter's first
    meter: Meter = field(default_factory=Unmetered)
    transport: httpx.BaseTransport | None = None
    clock: Callable[[], datetime] = lambda: datetime.now(UTC)


@dataclass(frozen=True, kw_only=True, slots=True)
class Traits:
    """What a service is like. Sizes as the service counts them, in characters."""

    kind: str
    label: str
    base_url: str
    text_limit: int
    title_limit: int
    post_limit: int | None = None  # for the body of a post, where it differs
    dialects: tuple[str, ...] = ("",)
    limits: tuple[Limit, ...] = ()
    max_depth: int | None = None  # deepest level a reply may have; roots are 0
    can_delete: frozenset[Kind] = frozenset()
    needs_token: bool = True
    takes_idempotency_key: bool = False

    def length(self, text: str) -> int:
        """The length of `text` as this service counts it."""
        return len(text)


class Reader(ABC):
    """The listening half of an adapter. Closes its connections on `close()`."""

    traits: ClassVar[Traits]

    def __init__(self, access: Access) -> None:
        self.access = access

    @abstractmethod
    def close(self) -> None: ...

    @abstractmethod
    def who_am_i(self) -> Identity: ...

    @abstractmethod
    def news(self, known: Mapping[str, Known], cursor: dict[str, Any]) -> News:
        """Say which threads have news, in as few requests as the service allows."""

    @abstractmethod
    def thread(self, post_id: str, *, count: int | None = None) -> Thread:
        """Read one thread. `count`: what the service just said it holds, if it did;
        then the post itself need not be asked for, and `root` may be None.
        """

    @abstractmethod
    def history(self, cursor: str | None) -> Page:
        """One page of our own posts."""

    @abstractmethod
    def find_own_reply(
        self, *, post_id: str, parent_id: str | None, text: str, since: datetime
    ) -> Look:
        """Look whether our `text` stands under `parent_id` (None: under the post itself)."""

    @abstractmethod
    def find_own_post(self, *, title: str, text: str, since: datetime) -> Look: ...


class Writer(ABC):
    """The speaking half. Only `surfaces.delivery` may hold one."""

    def __init__(self, access: Access) -> None:
        self.access = access

    @abstractmethod
    def close(self) -> None: ...

    @abstractmethod
    def reply(self, *, post_id: str, parent_id: str | None, text: str, key: str) -> Sent:
        """Answer `parent_id`, or the post itself. `key` names this intent for ever."""

    @abstractmethod
    def create_post(self, *, title: str, text: str, community: str, key: str) -> Sent: ...

    def answer_challenge(self, challenge: Challenge) -> Verified:
        """Solve and answer. Raise `Refused` if the puzzle cannot be solved."""
        raise Refused("this service sets no challenges")

    def delete(self, *, kind: Kind, remote_id: str) -> None:
        """Take back what we said. A thing that is gone already is a success."""
        raise Refused("this service cannot delete")
