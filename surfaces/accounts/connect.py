"""Connect an account: surface, name, credential, interval and mode, in one step."""

from __future__ import annotations

import ipaddress
import re
from datetime import datetime
from itertools import chain, count
from urllib.parse import urlsplit

import httpx
from django.db import connection, transaction
from django.utils.text import slugify
from django.utils.translation import gettext_lazy as _lazy

from surfaces.accounts.models.account import Account, AccountState, ReplyMode
from surfaces.accounts.models.surface import Surface
from surfaces.adapters import READERS
from surfaces.adapters.base import Access
from surfaces.audit.models import AuditEvent
from surfaces.errors import BadInput
from surfaces.hub import services as hub_services
from surfaces.text.reasons import reason_of

TOKEN = re.compile(r"[\x21-\x7e]{1,4096}")
LONGEST_NAME = 120  # characters, as the columns are
LONGEST_URL = 300
SLUG = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,62}")


@transaction.atomic
def connect(
    kind: str,
    *,
    agent: str,
    handle: str = "",
    base_url: str = "",
    token: str = "",
    every: int | None = None,
    mode: str | None = None,
    dialect: str | None = None,
    by: str,
    now: datetime,
) -> Account:
    """Create or update an account. Idempotent; values that are not given are kept.

    A given token replaces the old one.
    """
    _check(kind, agent=agent, base_url=base_url, token=token, every=every, mode=mode)
    _try_out(kind, base_url, token)
    _one_at_a_time()
    surface = _surface(kind, _one_spelling(base_url))
    if dialect is not None:
        _speak(surface, dialect)
    name = f"{agent}@{surface.slug}"
    _check_lengths(name, handle)
    account = Account.objects.filter(name=name).select_for_update().first()
    is_new = account is None
    account = account or Account(
        name=name, surface=surface, next_watch_at=now, state=AccountState.OK, state_since=now
    )
    if is_new and not token and _is_built_in(surface):
        token = _join_hub(handle or agent, now=now)
    if is_new and surface.traits.needs_token and not token:
        raise BadInput(
            _lazy("%(label)s needs a token to sign in with."), label=surface.traits.label
        )
    _apply(account, handle=handle, token=token, every=every, mode=mode, now=now)
    account.save()
    action = "account.connected" if is_new else "account.changed"
    AuditEvent.objects.record(
        action, actor=by, subject=account, every=account.every, mode=account.mode
    )
    return account


def _apply(
    account: Account,
    *,
    handle: str,
    token: str,
    every: int | None,
    mode: str | None,
    now: datetime,
) -> None:
    account.every = account.every if every is None else every
    account.mode = mode or account.mode
    account.handle = handle or account.handle
    if token:
        account.sealed_credential = account.seal(token)
        account.remote_id = ""  # fetch the identity again
        account.state, account.state_why, account.state_until = AccountState.OK, "", None
        account.state_since = account.next_watch_at = now


def _speak(surface: Surface, dialect: str) -> None:
    """Choose the protocol variant of the service."""
    if dialect not in surface.traits.dialects:
        known = ", ".join(surface.traits.dialects) or "none"
        raise BadInput(
            _lazy("%(label)s has no dialect %(dialect)s; there is %(known)s."),
            label=surface.traits.label,
            dialect=repr(dialect),
            known=known,
        )
    Surface.objects.filter(pk=surface.pk).update(dialect=dialect)
    surface.dialect = dialect


def _is_built_in(surface: Surface) -> bool:
    return surface.kind == "hub" and not surface.base_url


def _join_hub(name: str, *, now: datetime) -> str:
    """Create an author in the built-in hub; its key never leaves this database."""
    _, key = hub_services.join(name=name, is_bot=True, now=now)
    return key


def _surface(kind: str, base_url: str) -> Surface:
    traits = READERS[kind].traits
    if base_url == traits.base_url:
        base_url = ""  # one surface per service, or every comment is answered twice
    for surface in Surface.objects.filter(kind=kind):
        if _one_spelling(surface.base_url) == base_url:
            return surface
    place = slugify(urlsplit(base_url).netloc.replace(".", "-").replace(":", "-"))
    slug = _free_slug(slugify(f"{kind}-{place}" if base_url else kind)[:60])
    name = f"{traits.label} at {urlsplit(base_url).netloc}" if base_url else traits.label
    return Surface.objects.create(kind=kind, base_url=base_url, slug=slug, name=name[:80])


def _free_slug(slug: str) -> str:
    """Find a free slug: two paths on one host are two surfaces."""
    taken = set(Surface.objects.filter(slug__startswith=slug).values_list("slug", flat=True))
    numbered = (f"{slug}-{number}" for number in count(2))
    return next(name for name in chain([slug], numbered) if name not in taken)


def _one_at_a_time() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(hashtext('connecting'))")


def _try_out(kind: str, base_url: str, token: str) -> None:
    """Let the adapter validate address and token, without a request."""
    try:
        READERS[kind](Access(token=token, base_url=base_url)).close()
    except (ValueError, httpx.InvalidURL) as error:
        raise BadInput(
            _lazy("This cannot be connected: %(error)s."), error=reason_of(error)
        ) from error


def _check_lengths(name: str, handle: str) -> None:
    for what, given in (("account's name", name), ("handle", handle)):
        if len(given) > LONGEST_NAME:
            raise BadInput(
                _lazy("The %(what)s %(given)s… is too long; %(longest_name)s characters fit."),
                what=what,
                given=given[:30],
                longest_name=LONGEST_NAME,
            )


def _check(
    kind: str, *, agent: str, base_url: str, token: str, every: int | None, mode: str | None
) -> None:
    if kind not in READERS:
        raise BadInput(
            _lazy("%(kind)s is no kind of surface; there are %(value)s."),
            kind=repr(kind),
            value=", ".join(READERS),
        )
    if not SLUG.fullmatch(agent):
        raise BadInput(
            _lazy("%(agent)s is no agent's name; use letters, digits and hyphens."),
            agent=repr(agent),
        )
    if mode is not None and mode not in ReplyMode.values:
        raise BadInput(
            _lazy("%(mode)s is no mode; there are %(value)s."),
            mode=repr(mode),
            value=", ".join(ReplyMode.values),
        )
    if every is not None and not 1 <= every <= 1440:
        raise BadInput(_lazy("Look every 1 to 1440 minutes; %(every)s is neither."), every=every)
    if token and not TOKEN.fullmatch(token):
        raise BadInput(_lazy("The token holds blanks or characters that no header can carry."))
    _check_url(base_url)


def _one_spelling(base_url: str) -> str:
    """Normalise a base URL: lower-case host, no default port."""
    return str(httpx.URL(base_url)).rstrip("/")


def _check_url(base_url: str) -> None:
    if not base_url:
        return
    if len(base_url) > LONGEST_URL:
        raise BadInput(
            _lazy("The address is too long; %(longest_url)s characters fit."),
            longest_url=LONGEST_URL,
        )
    try:
        parts = urlsplit(base_url)
        is_address = parts.scheme in {"http", "https"} and parts.hostname and parts.port != 0
        is_address = is_address and bool(httpx.URL(base_url).host)  # decodes names
    except (ValueError, httpx.InvalidURL):
        is_address = False
    if not is_address or parts.username is not None or not parts.hostname:
        raise BadInput(_lazy("That is no address; it must look like https://host/api/v1."))
    if parts.scheme == "http" and not is_loopback(parts.hostname):
        raise BadInput(
            _lazy("Over http a token travels in the clear; use https (http only for 127.0.0.1).")
        )


def is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
