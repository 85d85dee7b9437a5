"""Connect an account: surface, name, credential, interval and mode, in one step."""

from __future__ import annotations

import ipaddress
import re
from datetime import datetime
from urllib.parse import urlsplit

from django.db import transaction
from django.utils.text import slugify

from surfaces.adapters import READERS
from surfaces.errors import BadInput
from surfaces.hub import community
from surfaces.models import Account, AuditEvent, Surface
from surfaces.models.account import Mode, State

TOKEN = re.compile(r"[\x21-\x7e]{1,4096}")
SLUG = re.compile(r"[a-z0-9][a-z0-9-]{0,62}")


@transaction.atomic
def connect(
    kind: str,
    *,
    agent: str,
    handle: str = "",
    base_url: str = "",
    token: str = "",
    every: int = 5,
    mode: str = Mode.REVIEW,
    by: str,
    now: datetime,
) -> Account:
    """Make or update; said twice, it is said once. A token given replaces the old one."""
    _check(kind, agent=agent, base_url=base_url, token=token, every=every, mode=mode)
    surface = _surface(kind, base_url.rstrip("/"))
    name = f"{agent}@{surface.slug}"
    account = Account.objects.filter(name=name).select_for_update().first()
    is_new = account is None
    account = account or Account(
        name=name, surface=surface, next_watch_at=now, state=State.OK, state_since=now
    )
    if is_new and not token and _is_built_in(surface):
        token = _join_hub(handle or agent, now=now)
    if is_new and surface.traits.needs_token and not token:
        raise BadInput(f"{surface.traits.label} needs a token. Give the name of its variable.")
    _apply(account, handle=handle, token=token, every=every, mode=mode, now=now)
    account.save()
    action = "account.connected" if is_new else "account.changed"
    AuditEvent.objects.record(action, actor=by, subject=account, every=every, mode=mode)
    return account


def _apply(
    account: Account, *, handle: str, token: str, every: int, mode: str, now: datetime
) -> None:
    account.every, account.mode = every, mode
    account.handle = handle or account.handle
    if token:
        account.sealed_credential = account.seal(token)
        account.remote_id = ""  # who we are is asked again with a new credential
        account.state, account.state_why, account.state_until = State.OK, "", None
        account.state_since = account.next_watch_at = now


def _is_built_in(surface: Surface) -> bool:
    return surface.kind == "hub" and not surface.base_url


def _join_hub(name: str, *, now: datetime) -> str:
    """Be somebody in the built-in community; its key never leaves this database."""
    _, key = community.join(name=name, is_bot=True, now=now)
    return key


def _surface(kind: str, base_url: str) -> Surface:
    found = Surface.objects.filter(kind=kind, base_url=base_url).first()
    if found:
        return found
    traits = READERS[kind].traits
    place = slugify(urlsplit(base_url).netloc.replace(".", "-").replace(":", "-"))
    slug = slugify(f"{kind}-{place}" if base_url else kind)[:64]
    name = f"{traits.label} at {urlsplit(base_url).netloc}" if base_url else traits.label
    return Surface.objects.create(kind=kind, base_url=base_url, slug=slug, name=name[:80])


def _check(kind: str, *, agent: str, base_url: str, token: str, every: int, mode: str) -> None:
    if kind not in READERS:
        raise BadInput(f"{kind!r} is no kind of surface; there are {', '.join(READERS)}.")
    if not SLUG.fullmatch(agent):
        raise BadInput(f"{agent!r} is no agent's name; use small letters, digits and hyphens.")
    if mode not in Mode.values:
        raise BadInput(f"{mode!r} is no mode; there are {', '.join(Mode.values)}.")
    if not 1 <= every <= 1440:
        raise BadInput(f"Look every 1 to 1440 minutes; {every} is neither.")
    if token and not TOKEN.fullmatch(token):
        raise BadInput("The token holds blanks or characters that no header can carry.")
    _check_url(base_url)


def _check_url(base_url: str) -> None:
    if not base_url:
        return
    parts = urlsplit(base_url)
    if parts.scheme not in {"http", "https"} or not parts.hostname or parts.username:
        raise BadInput(f"{base_url!r} is no address; it must look like https://host/api/v1.")
    if parts.scheme == "http" and not _is_loopback(parts.hostname):
        raise BadInput(
            "Over http a token travels in the clear; use https (http only for 127.0.0.1)."
        )


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
