"""The interface of adapters. Errors are in `surfaces.errors`.

An adapter knows HTTP and the API of one service, but no database rows and no policy. Reading
and writing are two classes in two modules, so code with a `Reader` cannot write.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, ClassVar

import httpx

from surfaces.adapters import types
from surfaces.adapters.limits import Meter, RateLimit, Unmetered
from surfaces.errors import Refused


@dataclass(frozen=True, kw_only=True, slots=True)
class Access:
    token: str
    base_url: str = ""  # "" = the service's own
    handle: str = ""
    remote_id: str = ""
    dialect: str = ""  # "" = not known yet: the adapter finds it out
    meter: Meter = field(default_factory=Unmetered)
    transport: httpx.BaseTransport | None = None
    clock: Callable[[], datetime] = lambda: datetime.now(UTC)


@dataclass(frozen=True, kw_only=True, slots=True)
class Traits:
    """Properties of a service. Sizes in characters as the service counts them."""

    kind: str
    label: str
    base_url: str
    text_limit: int
    title_limit: int
    post_limit: int | None = None  # for the body of a post, where it differs
    dialects: tuple[str, ...] = ("",)
    own_dialect: str = ""  # spoken at `base_url`
    api_path: str = ""  # every base URL ends with it, where there is one
    limits: tuple[RateLimit, ...] = ()
    max_depth: int | None = None  # deepest level a reply may have; roots are 0
    can_delete: frozenset[types.ItemKind] = frozenset()
    honours_key: bool = False  # the same idempotency key again writes once
    needs_token: bool = True
    needs_community: bool = False  # a post without one is refused
    has_feed: bool = False  # `Reader.feed` shows posts of others
    has_search: bool = False

    def length(self, text: str) -> int:
        return len(text)


class Adapter(ABC):
    """Acts as one account. `close()` closes its connections."""

    def __init__(self, access: Access) -> None:
        self.access = access

    @abstractmethod
    def close(self) -> None: ...


class Reader(Adapter):
    traits: ClassVar[Traits]

    @abstractmethod
    def who_am_i(self) -> types.Identity: ...

    @abstractmethod
    def news(self, known: Mapping[str, types.KnownThread], cursor: dict[str, Any]) -> types.News:
        """Find the threads with news, in as few requests as possible."""

    @abstractmethod
    def thread(
        self, post_id: str, *, count: int | None = None, known: int | None = None
    ) -> types.ThreadItems:
        """Read one thread. `count`: the number of comments the service just reported, if any;
        then the post need not be fetched, and `root` may be None. `known`: the number at our last
        reading; where the post still says so, its comments need not be read.
        """

    def comment(self, post_id: str, remote_id: str) -> types.Item | None:
        """Read one comment by its id, also where the list is cut; None: it does not exist."""
        raise Refused("service.no_single_comment")

    @abstractmethod
    def history(self, cursor: str | None) -> types.ItemPage:
        """One page of our own posts."""

    def feed(self, communities: Sequence[str], limit: int) -> types.Feed:
        """The newest posts of anybody, in these communities or in all; own ones included."""
        raise Refused("service.no_feed")

    def search(
        self, words: str, *, community: str = "", author: str = "", limit: int
    ) -> types.Feed:
        """Posts with all of `words`, newest first, as far as the service finds them."""
        raise Refused("service.no_search")

    @abstractmethod
    def find_own_reply(
        self, *, post_id: str, parent_id: str | None, text: str, since: datetime
    ) -> types.Look:
        """Search for our `text` under `parent_id` (None: under the post)."""

    @abstractmethod
    def find_own_post(self, *, title: str, text: str, since: datetime) -> types.Look: ...


class Writer(Adapter):
    """Writes to a service. Only `surfaces.delivery.sender` may use it."""

    @abstractmethod
    def reply(self, *, post_id: str, parent_id: str | None, text: str, key: str) -> types.SentItem:
        """Reply to `parent_id`, or to the post. `key` is the idempotency key."""

    @abstractmethod
    def create_post(self, *, title: str, text: str, community: str, key: str) -> types.SentItem: ...

    def answer_challenge(self, challenge: types.Challenge) -> types.Verified:
        """Solve and answer a challenge. Raise `Refused` if it cannot be solved."""
        raise Refused("service.no_challenges")

    def delete(self, *, kind: types.ItemKind, remote_id: str) -> None:
        """Delete what we wrote. If it is already deleted, that is a success."""
        raise Refused("service.cannot_delete")
