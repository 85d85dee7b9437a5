"""A Moltbook that stores a request later than it came, and a clock that both read."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from surfaces.delivery.sender import deliver_due
from surfaces.models import Account, Draft
from surfaces.workers.locks import WorkerLock
from tests.factories import NOON, make_account, make_approved, make_message, make_post, make_surface
from tests.fakes.moltbook import FakeMoltbook
from tests.surfaces.delivery.scripted_service import Clock

WRITES = "POST .*/(comments|posts)$"
LONGEST_DELAY = 600  # seconds, the default of a surface
UNDECIDED = {"sending", "unknown", "approved"}


def share_clock(fake: FakeMoltbook, clock: Clock) -> None:
    """Let the service see the time of our clock."""
    fake.world.now = lambda: clock.now.timestamp()  # type: ignore[method-assign]


def account_on(fake: FakeMoltbook) -> Account:
    key = fake.add_agent("iris")
    surface = make_surface(base_url=fake.url, dialect=fake.world.dialect)
    return make_account(surface=surface, token=key, remote_id=fake.world.agent("iris").id)


def draft_on(
    fake: FakeMoltbook, account: Account, what: str, *, text: str, now: datetime = NOON
) -> Draft:
    """An approved draft with a target that is really there."""
    words: dict[str, Any] = {"what": what, "text": text, "not_before": now, "made_at": now}
    if what == "post":
        return make_approved(account=account, title=f"On {text}", community="general", **words)
    remote_post = fake.add_post("nightjar", "What is left out?")
    post = make_post(account=account, remote_id=remote_post, direction="incoming")
    if what == "comment":
        return make_approved(target=post, **words)
    asked = fake.add_comment(remote_post, "nightjar", "What of the moon?")
    return make_approved(target=make_message(post=post, remote_id=asked), **words)


def run_until_settled(draft: Draft, clock: Clock, *, tick: float = 0.0, rounds: int = 40) -> None:
    """Run senders, each time when the draft is due, until nothing more happens to it."""
    for _ in range(rounds):
        deliver_due(WorkerLock(), clock=clock)
        draft.refresh_from_db()
        if draft.state not in UNDECIDED or draft.needs_person:
            return
        due = draft.look_at if draft.state == "unknown" else draft.not_before
        clock.now = max(due or NOON, clock.now) + timedelta(seconds=tick)
