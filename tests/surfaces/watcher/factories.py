"""Accounts on a fake Moltbook, and rounds over them."""

from __future__ import annotations

from typing import Any

from django.utils import timezone

from surfaces.accounts.connect import connect
from surfaces.models import Account, WatchRound
from surfaces.watcher import rounds
from tests.fakes.moltbook import FakeMoltbook


def connected(moltbook: FakeMoltbook, name: str = "iris", key: str = "") -> Account:
    account = connect(
        "moltbook", agent=name, base_url=moltbook.url, token=key or moltbook.key,
        by="operator:mira", now=timezone.now(),
    )  # fmt: skip
    account.surface.dialect = moltbook.world.dialect
    account.surface.save(update_fields=["dialect"])
    return account


def look(account: Account, **given: Any) -> WatchRound:
    done = rounds.round_of(account, **given)
    assert done is not None
    account.refresh_from_db()
    return done
