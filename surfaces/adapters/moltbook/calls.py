"""One account's line to Moltbook: where it may lead, what it costs, what it answers.

Every request is taken from the meter before it is made, and what the service
says about the budget is passed on to the meter.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from ipaddress import ip_address
from typing import Any
from urllib.parse import quote, urlsplit

from surfaces.adapters.base import Access, Kind, Limit, Traits
from surfaces.adapters.moltbook.failures import classify, day_is_spent
from surfaces.adapters.parsing import clean_count
from surfaces.errors import Limited, TryLater
from surfaces.http import Answer, Wire

WWW = "www.moltbook.com"
MINUTE = timedelta(minutes=1)


class MoltbookTraits(Traits):
    def length(self, text: str) -> int:
        """Open-source server, services: JavaScript's `length`, so 🦞 counts two."""
        return len(text.encode("utf-16-le", "surrogatepass")) // 2


TRAITS = MoltbookTraits(
    kind="moltbook",
    label="Moltbook",
    base_url=f"https://{WWW}/api/v1",
    # Open-source server, comment and post services.
    text_limit=10_000,
    post_limit=40_000,
    title_limit=300,
    max_depth=10,
    dialects=("open", "live"),
    limits=(
        # Moltbook skill.md 1.12.0, rate limits.
        Limit("read", 60, MINUTE),
        Limit("write", 30, MINUTE),
        Limit("comment", 1, timedelta(seconds=20)),
        Limit("comment_day", 50, timedelta(days=1)),
        Limit("post", 1, timedelta(minutes=30)),
        Limit("verify", 30, MINUTE),
        # Open-source server, its limiter: keyed by address, before it knows who asks.
        Limit("general", 100, MINUTE, by_address=True),
    ),
    can_delete=frozenset({Kind.POST, Kind.COMMENT}),
)
SIZES = {str(limit.most): limit.bucket for limit in TRAITS.limits if limit.most > 1}

READ = ("read", "general")
WRITE = ("write", "general")
COMMENT = ("comment", "comment_day", *WRITE)
POST = ("post", *WRITE)
# On its own: a puzzle refused by a crowded budget would count as failed.
VERIFY = ("verify",)


class Line:
    """A `Wire` to one Moltbook that pays, listens to limits, and judges the status."""

    def __init__(self, access: Access) -> None:
        self.base_url = checked_base_url(access.base_url or TRAITS.base_url)
        self.dialect = access.dialect or TRAITS.dialects[0]
        if self.dialect not in TRAITS.dialects:
            raise ValueError(f"Moltbook has no dialect {self.dialect!r}: use open or live")
        if not access.token.isascii() or not access.token.isprintable():
            raise ValueError("the Moltbook key holds characters that no key has")
        self._access = access
        self._wire = Wire(
            self.base_url,
            headers={"Authorization": f"Bearer {access.token}"},
            transport=access.transport,
        )

    def close(self) -> None:
        self._wire.close()

    def get(self, path: str, params: Mapping[str, str | int] | None = None) -> dict[str, Any]:
        """Read an object. Anything else that calls itself a success is worth another try."""
        answer = self.call("GET", path, READ, params=params)
        if isinstance(answer.data, list):
            return {"data": answer.data}
        if not isinstance(answer.data, dict) or answer.data.get("success") is False:
            raise TryLater(f"the answer to GET {path} cannot be used")
        return answer.data

    def call(
        self,
        method: str,
        path: str,
        buckets: tuple[str, ...],
        *,
        params: Mapping[str, str | int] | None = None,
        body: Mapping[str, Any] | None = None,
        accept: frozenset[int] = frozenset(),
    ) -> Answer:
        """Make one request; return a success or a status in `accept`, else raise its meaning."""
        self._access.meter.take(*buckets)
        answer = self._wire.call(method, path, params=params, body=body)
        self._hear(answer, buckets)
        if answer.is_success or answer.status in accept:
            return answer
        error = classify(answer, wrote=method != "GET", now=self._access.clock())
        if isinstance(error, Limited):
            self._access.meter.heard(self._meant(answer, buckets), wait=error.wait)
        raise error

    def _hear(self, answer: Answer, buckets: tuple[str, ...]) -> None:
        left = clean_count(answer.headers.get("x-ratelimit-remaining"))
        if left is not None and answer.status != 429:
            self._access.meter.heard(self._meant(answer, buckets), left=left)

    def _meant(self, answer: Answer, buckets: tuple[str, ...]) -> str:
        """Which budget the answer speaks of.

        Open-source server, its limiter: on writes of posts and comments the headers
        describe that bucket, else the general one. The size tells them apart.
        """
        by_size = SIZES.get(answer.headers.get("x-ratelimit-limit", ""), "")
        if by_size in buckets:
            return by_size
        if buckets == COMMENT:
            refused_now = answer.status == 429 and not day_is_spent(answer)
            return "comment" if refused_now else "comment_day"
        if buckets in (READ, WRITE) and self.dialect == "open":
            return "general"
        return buckets[0]


def at(template: str, remote_id: str) -> str:
    """Put an id into a path. An id is a stranger's word and may hold a slash."""
    return template.format(quote(remote_id, safe=""))


def page_of(base_url: str, post_id: str) -> str:
    """The page of a post for people; only the live site is known to have one."""
    if urlsplit(base_url).hostname != WWW:
        return ""
    return f"https://{WWW}/post/{quote(post_id, safe='')}"


def checked_base_url(url: str) -> str:
    """Return `url` if a key may be sent there, else raise `ValueError` with the reason.

    Moltbook skill.md 1.12.0, security: only www.moltbook.com; a circulating copy
    names moltbook.ai.
    """
    parts = urlsplit(url.strip())
    host = (parts.hostname or "").rstrip(".")
    if not host or parts.username or parts.query or parts.fragment:
        raise ValueError(f"{url!r} is no base URL: use {TRAITS.base_url}")
    if host == "moltbook.ai" or host.endswith(".moltbook.ai"):
        raise ValueError("moltbook.ai is not Moltbook: a key sent there would be lost")
    if host != WWW and (host == "moltbook.com" or host.endswith(".moltbook.com")):
        raise ValueError(f"write {WWW}: without www Moltbook redirects and the key is dropped")
    if parts.scheme != "https" and not (parts.scheme == "http" and _is_loopback(host)):
        raise ValueError("use https: a key must not travel in the open")
    return url.strip().rstrip("/")


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
