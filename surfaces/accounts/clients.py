"""Open the adapter of an account with its credential, rate limits and HTTP client."""

from collections.abc import Callable
from datetime import datetime
from typing import TypeVar

import httpx
from django.utils import timezone

from surfaces.accounts.models.account import Account
from surfaces.accounts.rate_limits import SharedMeter, address_holder, credential_holder
from surfaces.adapters.base import Access, Reader
from surfaces.errors import AuthFailed
from surfaces.hub.transport import HubTransport
from surfaces.text.reasons import reason, reason_of

Clock = Callable[[], datetime]
Half = TypeVar("Half")


def access_to(
    account: Account,
    *,
    sends: bool,
    clock: Clock = timezone.now,
    transport: httpx.BaseTransport | None = None,
) -> Access:
    """Gather what an adapter needs to act as `account`."""
    surface, token = account.surface, account.credential
    if transport is None and surface.kind == "hub" and not surface.base_url:
        transport = HubTransport()
    credential = credential_holder(surface.kind, token)
    address = address_holder(surface.base_url or surface.traits.base_url)
    sharers = 1 if sends else Account.objects.on().filter(surface=surface).count()
    return Access(
        token=token,
        base_url=surface.base_url,
        handle=account.handle,
        remote_id=account.remote_id,
        dialect=surface.dialect,
        meter=SharedMeter(
            surface.budgets,
            credential=credential,
            address=address,
            sends=sends,
            clock=clock,
            sharers=sharers,
            shared=surface.shared_buckets,
        ),
        transport=transport,
        clock=clock,
    )


def open_reader(
    account: Account,
    *,
    sends: bool = False,
    clock: Clock = timezone.now,
    transport: httpx.BaseTransport | None = None,
) -> Reader:
    """Open the reader. `sends`: the reading belongs to a delivery and has priority."""
    access = access_to(account, sends=sends, clock=clock, transport=transport)
    return open_half(account.surface.reader, access)


def open_half(adapter: Callable[[Access], Half], access: Access) -> Half:
    """Open a reader or writer. Raises an error that an operator must fix if it cannot."""
    try:
        return adapter(access)
    except (ValueError, httpx.InvalidURL) as error:
        raise AuthFailed(reason("account.unusable", error=reason_of(error))) from error
