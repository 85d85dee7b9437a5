"""Open an account's surface: its credential, its budget, its wire."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import TypeVar

import httpx
from django.utils import timezone

from surfaces.adapters.base import Access, Reader
from surfaces.budgets import SharedMeter, address_holder, credential_holder
from surfaces.errors import AuthFailed
from surfaces.hub.transport import HubTransport
from surfaces.models import Account

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
    return Access(
        token=token,
        base_url=surface.base_url,
        handle=account.handle,
        remote_id=account.remote_id,
        dialect=surface.dialect,
        meter=SharedMeter(
            surface.budgets,
            credential=credential_holder(surface.kind, token),
            address=address_holder(surface.base_url or surface.traits.base_url),
            sends=sends,
            clock=clock,
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
    """Open the listening half. `sends`: the reading serves a sending and comes first."""
    access = access_to(account, sends=sends, clock=clock, transport=transport)
    return opened(account.surface.reader, access)


def opened(adapter: Callable[[Access], Half], access: Access) -> Half:
    """Open one half of an adapter. What it cannot work with, a person must put right."""
    try:
        return adapter(access)
    except (ValueError, httpx.InvalidURL) as error:
        raise AuthFailed(f"the account cannot be used as it is: {error}") from error
