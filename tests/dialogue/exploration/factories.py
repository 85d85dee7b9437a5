"""Posts by others that an exploration may offer."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from surfaces.models import Message
from tests.factories import NOON, make_post

HOUR = timedelta(hours=1)


def stored_post(presence: Any, **given: Any) -> Message:
    """A question about tides by a stranger, an hour ago."""
    ordinary = {
        "account": presence.account, "direction": "incoming", "author": "odile",
        "author_id": "u-odile", "submolt": "general", "created_at": NOON - HOUR,
        "seen_at": NOON - HOUR,
    }  # fmt: skip
    return make_post(**(ordinary | given))
