"""HTTP client of one account on Moltbook: allowed hosts, rate limits, errors.

Every request is counted by the rate limiter before it is made, and limits reported by the
service are stored there.
"""

from collections.abc import Mapping
from datetime import timedelta
from ipaddress import ip_address
from typing import Any
from urllib.parse import quote, urlsplit

from surfaces.adapters.base import Access, Adapter, Traits
from surfaces.adapters.limits import RateLimit
from surfaces.adapters.moltbook.errors import (
    NO_WAIT_GIVEN,
    classify,
    day_is_spent,
    is_missing_endpoint,
    reset_wait,
    words_of,
)
from surfaces.adapters.parsing import clean_count
from surfaces.adapters.types import ItemKind
from surfaces.errors import Limited, TryLater
from surfaces.net.json_client import JsonClient, JsonResponse
from surfaces.text.reasons import reason

WWW = "www.moltbook.com"
MINUTE, HOUR = timedelta(minutes=1), timedelta(hours=1)
LIVE = ("live",)


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
    needs_community=True,
    dialects=("open", "live"),
    own_dialect="live",
    api_path="/api/v1",
    limits=(
        # Moltbook skill.md 1.12.0, rate limits.
        RateLimit("read", 60, MINUTE, dialects=LIVE),
        RateLimit("write", 30, MINUTE, dialects=LIVE),
        RateLimit("comment", 1, timedelta(seconds=20), dialects=LIVE),
        RateLimit("comment_day", 50, timedelta(days=1), dialects=LIVE),
        RateLimit("post", 1, timedelta(minutes=30)),
        RateLimit("verify", 30, MINUTE, dialects=LIVE),
        # Open-source server, its limiter: comments by hour, and all requests by address,
        # before authentication.
        RateLimit("comment_hour", 50, HOUR, dialects=("open",)),
        RateLimit("general", 100, MINUTE, by_address=True),
    ),
    can_delete=frozenset({ItemKind.POST, ItemKind.COMMENT}),
    has_feed=True,
)
READ = ("read", "general")
WRITE = ("write", "general")
COMMENT = {
    "open": ("comment_hour", *WRITE),
    "live": ("comment", "comment_day", *WRITE),
}
POST = ("post", *WRITE)
# A bucket of its own: a puzzle refused by a full bucket would count as failed.
VERIFY = ("verify",)


class MoltbookClient:
    def __init__(self, access: Access) -> None:
        self.base_url = checked_base_url(access.base_url or TRAITS.base_url)
        if access.dialect not in {"", *TRAITS.dialects}:
            raise ValueError(reason("moltbook.no_dialect", dialect=repr(access.dialect)))
        if not access.token.isascii() or not access.token.isprintable():
            raise ValueError(reason("service.key_impossible", label=TRAITS.label))
        self._access, self._dialect = access, access.dialect
        headers = {"Authorization": f"Bearer {access.token}"}
        self._wire = JsonClient(self.base_url, headers=headers, transport=access.transport)

    def close(self) -> None:
        self._wire.close()

    @property
    def dialect(self) -> str:
        """The configured one, or found out by one request."""
        self._dialect = self._dialect or self._asked_dialect()
        return self._dialect

    def _asked_dialect(self) -> str:
        """Only the live site has /home (Moltbook skill.md 1.12.0, home). The open-source server
        answers "Endpoint not found" (its router's last handler).
        """
        if urlsplit(self.base_url).hostname == WWW:
            return TRAITS.own_dialect
        self._access.meter.take(*READ)
        answer = self._wire.call("GET", "/home")
        if answer.is_success and isinstance(answer.data, dict):
            return "live"
        if is_missing_endpoint(answer) and answer.is_json:
            return "open" if "endpoint not found" in words_of(answer).lower() else "live"
        if answer.is_success or answer.status == 404:
            raise TryLater("moltbook.no_known_api")
        raise classify(answer, wrote=False, now=self._access.clock())

    def spare(self) -> int:
        """How many readings that could wait may be made now."""
        return self._access.meter.spare(*READ)

    def get(self, path: str, params: Mapping[str, str | int] | None = None) -> dict[str, Any]:
        """Fetch a JSON object. A success without one is retried."""
        answer = self.call("GET", path, READ, params=params)
        if isinstance(answer.data, list):
            return {"data": answer.data}
        if not isinstance(answer.data, dict) or answer.data.get("success") is False:
            raise TryLater(reason("moltbook.answer_unusable", path=path))
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
    ) -> JsonResponse:
        """Make one request; return a success or a status in `accept`, else raise an error."""
        self._access.meter.take(*buckets)
        answer = self._wire.call(method, path, params=params, body=body)
        left = clean_count(answer.headers.get("x-ratelimit-remaining"))
        if left is not None and answer.status != 429:
            wait = None if left else reset_wait(answer, self._access.clock()) or NO_WAIT_GIVEN
            self._access.meter.heard(self._meant(answer, buckets), left=left, wait=wait)
        if answer.is_success or answer.status in accept:
            return answer
        error = classify(answer, wrote=method != "GET", now=self._access.clock())
        if isinstance(error, Limited):
            self._access.meter.heard(self._meant(answer, buckets), wait=error.wait)
        raise error

    def _meant(self, answer: JsonResponse, buckets: tuple[str, ...]) -> str:
        """The bucket that the response headers describe.
        Open-source server, its limiter: on writes of posts and comments the headers describe that
        bucket, else the general one. The size tells them apart.
        Live, two limits hold for comments: the one that is free again within an hour is not the
        daily one.
        """
        size = answer.headers.get("x-ratelimit-limit", "")
        for limit in TRAITS.limits:
            if limit.bucket in buckets and limit.most > 1 and str(limit.most) == size:
                return limit.bucket
        if buckets == COMMENT["live"]:
            if answer.status == 429:
                return "comment_day" if day_is_spent(answer) else "comment"
            free_in = reset_wait(answer, self._access.clock())
            is_short = size == "1" or (free_in is not None and free_in < HOUR)
            return "comment" if is_short else "comment_day"
        if buckets in (READ, WRITE) and self.dialect == "open":
            return "general"
        return buckets[0]


class MoltbookAdapter(Adapter):
    def __init__(self, access: Access) -> None:
        super().__init__(access)
        self._line = MoltbookClient(access)

    def close(self) -> None:
        self._line.close()


def page_of(base_url: str, post_id: str) -> str:
    """Web page of a post; only the live site is known to have one."""
    if urlsplit(base_url).hostname != WWW:
        return ""
    return f"https://{WWW}/post/{quote(post_id, safe='')}"


def checked_base_url(url: str) -> str:
    """Return `url` if a key may be sent there, else raise `ValueError` with the reason.
    Moltbook skill.md 1.12.0, security: only www.moltbook.com; a circulating copy names moltbook.ai.
    """
    parts = urlsplit(url.strip())
    host = (parts.hostname or "").rstrip(".")
    if not host or parts.username or parts.query or parts.fragment:
        raise ValueError(reason("moltbook.no_base_url", url=repr(url), base_url=TRAITS.base_url))
    if host == "moltbook.ai" or host.endswith(".moltbook.ai"):
        raise ValueError("moltbook.ai is not Moltbook: a key sent there would be lost")
    if host != WWW and (host == "moltbook.com" or host.endswith(".moltbook.com")):
        raise ValueError(reason("moltbook.needs_www", www=WWW))
    if parts.scheme != "https" and not (parts.scheme == "http" and _is_loopback(host)):
        raise ValueError("moltbook.needs_https")
    return url.strip().rstrip("/")


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
