"""Connect an account: surface, name, credential, interval and mode, in one step."""

import ipaddress
import re
from datetime import datetime
from itertools import chain, count
from urllib.parse import urlsplit

import httpx
from django.db import connection, transaction
from django.utils.text import slugify
from django.utils.translation import gettext_lazy as _lazy

from surfaces import crypto
from surfaces.accounts.models.account import Account, AccountState, ReplyMode
from surfaces.accounts.models.surface import Surface
from surfaces.adapters import READERS
from surfaces.adapters.base import Access
from surfaces.audit.models import AuditEvent
from surfaces.errors import BadInput
from surfaces.extension_points import end_waits
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
    """Create or update an account. Idempotent; what is not given is kept."""
    _check(kind, agent=agent, base_url=base_url, token=token, every=every, mode=mode)
    with connection.cursor() as cursor:  # one at a time
        cursor.execute("SELECT pg_advisory_xact_lock(hashtext('connecting'))")
    surface = _surface(kind, _one_spelling(_with_api_path(kind, base_url)))
    if dialect is not None:
        _speak(surface, dialect)
    name = f"{agent}@{surface.slug}"
    too_long = _lazy(
        "The %(what)s %(given)s… is too long. Enter at most %(longest_name)s characters."
    )
    for what, given in (("account's name", name), ("handle", handle)):
        if len(given) > LONGEST_NAME:
            raise BadInput(too_long, what=what, given=given[:30], longest_name=LONGEST_NAME)
    account = Account.objects.filter(name=name).select_for_update().first()
    is_new = account is None
    account = account or Account(
        name=name, surface=surface, next_watch_at=now, state=AccountState.OK, state_since=now
    )
    if is_new and not token and kind == "hub" and not surface.base_url:
        # An author in the built-in hub; its key never leaves this database.
        _, token = hub_services.join(name=handle or agent, is_bot=True, now=now)
    traits = surface.traits
    if is_new and traits.needs_token and not token:
        raise BadInput(_lazy("%(label)s needs a credential."), label=traits.label)
    _apply(account, handle=handle, token=token, every=every, mode=mode, now=now)
    action = "account.connected" if is_new else "account.changed"
    AuditEvent.objects.record(
        action, actor=by, subject=account, every=account.every, mode=account.mode
    )
    return account


def _apply(
    account: Account, *, handle: str, token: str, every: int | None, mode: str | None, now: datetime
) -> None:
    if every is not None:
        account.every = every
        account.next_watch_at = min(account.next_watch_at, now + account.interval)
    account.mode = mode or account.mode
    account.handle = handle or account.handle
    if token:
        account.sealed_credential = crypto.encrypt(token)
        account.remote_id = ""  # fetch the identity again
        account.state, account.state_why, account.state_until = AccountState.OK, "", None
        account.state_since = account.next_watch_at = now
        account.quiet_until, account.challenges_failed = None, 0
    account.save()
    if token:
        end_waits(account, "credential", "state")


def _speak(surface: Surface, dialect: str) -> None:
    """Choose the protocol variant of the service."""
    traits = surface.traits
    if dialect not in traits.dialects:
        message = _lazy("%(label)s has no dialect %(dialect)s. Dialects: %(known)s.")
        known = ", ".join(traits.dialects) or "none"
        raise BadInput(message, label=traits.label, dialect=repr(dialect), known=known)
    Surface.objects.filter(pk=surface.pk).update(dialect=dialect)
    surface.dialect = dialect


def _surface(kind: str, base_url: str) -> Surface:
    traits = READERS[kind].traits
    if base_url == traits.base_url:
        base_url = ""  # one surface per service, or every comment is answered twice
    for surface in Surface.objects.filter(kind=kind):
        if _one_spelling(surface.base_url) == base_url:
            return surface
    host = urlsplit(base_url).netloc
    place = slugify(host.replace(".", "-").replace(":", "-"))
    slug = slugify(f"{kind}-{place}" if base_url else kind)[:60]
    # Two paths on one host are two surfaces.
    taken = set(Surface.objects.filter(slug__startswith=slug).values_list("slug", flat=True))
    slugs = chain([slug], (f"{slug}-{number}" for number in count(2)))
    free = next(each for each in slugs if each not in taken)
    name = f"{traits.label} at {host}" if base_url else traits.label
    return Surface.objects.create(kind=kind, base_url=base_url, slug=free, name=name[:80])


def _check(
    kind: str, *, agent: str, base_url: str, token: str, every: int | None, mode: str | None
) -> None:
    if kind not in READERS:
        message = _lazy("There is no kind of surface %(kind)s. Kinds: %(value)s.")
        raise BadInput(message, kind=repr(kind), value=", ".join(READERS))
    if not SLUG.fullmatch(agent):
        message = _lazy("%(agent)s is not a valid short name. Use letters, digits and hyphens.")
        raise BadInput(message, agent=repr(agent))
    if mode is not None and mode not in ReplyMode.values:
        message = _lazy("There is no mode %(mode)s. Modes: %(value)s.")
        raise BadInput(message, mode=repr(mode), value=", ".join(ReplyMode.values))
    if every is not None and not 1 <= every <= 1440:
        raise BadInput(_lazy("The poll interval is 1 to 1440 minutes, not %(every)s."), every=every)
    if token and not TOKEN.fullmatch(token):
        raise BadInput(_lazy("The credential contains spaces or characters that are not allowed."))
    _check_url(base_url)
    try:  # let the adapter validate address and token, without a request
        READERS[kind](Access(token=token, base_url=base_url)).close()
    except (ValueError, httpx.InvalidURL) as error:
        message = _lazy("This cannot be connected: %(error)s.")
        raise BadInput(message, error=reason_of(error)) from error


def _with_api_path(kind: str, base_url: str) -> str:
    """Complete an address that names a host only; refuse one that names another path."""
    path = READERS[kind].traits.api_path
    given = urlsplit(base_url).path.rstrip("/")
    is_known = Surface.objects.filter(kind=kind, base_url=base_url).exists()
    if not base_url or given.endswith(path) or is_known:
        return base_url
    if given:
        message = _lazy("The address must end with %(path)s, and it ends with %(given)s.")
        raise BadInput(message, path=path, given=given[:80])
    return base_url.rstrip("/") + path


def _one_spelling(base_url: str) -> str:
    """Normalise a base URL: lower-case host, no default port."""
    return str(httpx.URL(base_url)).rstrip("/")


def _check_url(base_url: str) -> None:
    if not base_url:
        return
    if len(base_url) > LONGEST_URL:
        message = _lazy("The address is too long. Enter at most %(longest_url)s characters.")
        raise BadInput(message, longest_url=LONGEST_URL)
    try:
        parts = urlsplit(base_url)
        is_address = parts.scheme in {"http", "https"} and parts.hostname and parts.port != 0
        is_address = is_address and bool(httpx.URL(base_url).host)  # decodes names
    except (ValueError, httpx.InvalidURL):
        is_address = False
    if not is_address or parts.username is not None or not parts.hostname:
        raise BadInput(_lazy("This is not a valid address. Enter one like https://host/api/v1."))
    if parts.scheme == "http" and not is_loopback(parts.hostname):
        raise BadInput(
            _lazy(
                "Use https. Over http, others on the network can read the credential. http is "
                "allowed only for 127.0.0.1."
            )
        )


def is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
