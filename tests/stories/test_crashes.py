"""Two hundred comments, a hundred killed processes: each is answered exactly once.

A Moltbook with a ledger of its own stores what it is sent, and answers 500, breaks the
connection, hangs after storing, or stores seconds later. Senders and watchers are killed with
SIGKILL at random moments, and on purpose between the POST and its record. `make test-long` tells
the whole story, `make test` a tenth of it.
"""

from __future__ import annotations

import math
import os
import random
import time
from collections import Counter
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from surfaces.accounts.connect import connect
from surfaces.drafts import services as draft_services
from surfaces.drafts.models import DraftState
from surfaces.models import Account, Draft, Message
from tests.fakes.moltbook import FakeMoltbook
from tests.stories import processes

PART = 1 if os.environ.get("COLLOQUY_LONG_TESTS") else 10
COMMENTS = 200 // PART
KILLS = 100 // PART
UNAPPROVED = 10 // PART
LONGEST_DELAY = 3  # seconds; what comes late comes within them
FAULTS = {
    "500-after": 0.04, "reset-after": 0.04, "hang-after": 0.02, "500-before": 0.02,
    "late": 0.06 if PART == 1 else 0.2,
}  # fmt: skip
DEADLINE = 480 if PART == 1 else 120  # seconds for the whole story


class MurderousMoltbook(FakeMoltbook):
    """Kills the senders while one of their requests is under way."""

    def __init__(self, rng: random.Random, **given: Any) -> None:
        super().__init__(**given)
        self.rng, self.senders, self.kills = rng, [], Counter[str]()

    def serve(self, call: Any) -> Any:
        is_reply = call.method == "POST" and call.path.endswith("/comments")
        draw = self.rng.random() if is_reply else 1.0
        if draw < 0.06:
            self.kill_senders("before storing")
        reply = super().serve(call)
        if 0.06 <= draw < 0.24:
            self.kill_senders("after storing, before the answer")
        return reply

    def kill_senders(self, when: str) -> None:
        for process in self.senders:
            if process.is_alive():
                processes.kill(process)
                self.kills[when] += 1


def let_time_pass() -> None:
    """What waits for minutes need not wait in a story; leases and looks keep their seconds."""
    now = timezone.now()
    Draft.objects.filter(state=DraftState.APPROVED, not_before__gt=now).update(not_before=now)
    Account.objects.update(quiet_until=None, next_watch_at=now)
    Account.objects.filter(watch_lease_until__gt=now + timedelta(seconds=3)).update(
        watch_lease_until=now
    )


def approve_what_came_in(refused: set[str]) -> None:
    now = timezone.now()
    for comment in Message.objects.awaiting_reply().exclude(drafts__isnull=False)[:20]:
        if comment.remote_id in refused:
            continue
        draft = draft_services.compose(
            account=comment.account, what="reply", target=comment,
            text=f"An answer to {comment.remote_id}", by="operator:mira", now=now,
        )  # fmt: skip
        draft_services.approve(draft, digest=draft.digest(), by="operator:mira", now=now)


@pytest.mark.story
@pytest.mark.timeout(DEADLINE + 60)
@pytest.mark.xdist_group("crash")
@pytest.mark.parametrize("dialect", ["open"])  # `live` is told with a voice
@pytest.mark.django_db(transaction=True)
def test_every_approved_comment_is_answered_exactly_once(dialect: str, capsys: Any):
    rng = random.Random(f"crash {dialect}")
    processes.serve_forks()
    with MurderousMoltbook(rng, dialect=dialect) as moltbook:
        moltbook.faults_by_chance(7, FAULTS, match="POST .*/comments", latest=LONGEST_DELAY)
        comments = furnish(moltbook, rng)
        refused = set(rng.sample(comments, UNAPPROVED))
        connect_to(moltbook, dialect)
        kills = live_through(moltbook, comments, refused, rng)
        late = count_late(moltbook)
        ledger = moltbook.stored(kind="comment", author="iris")

    answered = Counter(line["parent_id"] for line in ledger)
    replies = sum(answered.values())
    duplicates = replies - len(answered)
    lost = [c for c in comments if c not in refused and c not in answered]
    with capsys.disabled():
        print(
            f"\n{dialect}: {len(comments)} comments, {kills.total()} kills {dict(kills)},"
            f" {late} stored late, {replies} replies, {duplicates} duplicates, {len(lost)} lost"
        )
    assert kills.total() >= KILLS
    assert kills["after storing, before the answer"] >= 10 // PART
    assert late
    assert (duplicates, lost) == (0, [])
    assert not refused & set(answered), "nothing leaves that nobody approved"
    assert Draft.objects.filter(state=DraftState.SENT).count() == COMMENTS - UNAPPROVED
    assert Message.objects.comments().outgoing().count() == COMMENTS - UNAPPROVED


def count_late(moltbook: FakeMoltbook) -> int:
    """Let everything be stored that is still on its way, and count what came late."""
    moltbook.store_late(by=math.inf)
    return sum(name == "late" for name, _ in moltbook.faults.struck)


def furnish(moltbook: FakeMoltbook, rng: random.Random) -> list[str]:
    moltbook.key = moltbook.add_agent("iris")
    strangers = [f"stranger_{n}" for n in range(20)]
    for name in strangers:
        moltbook.add_agent(name)
    posts = [moltbook.add_post("iris", f"On tides {n}", "What is left out?") for n in range(10)]
    return [
        moltbook.add_comment(rng.choice(posts), rng.choice(strangers), some_words(rng) + "?")
        for n in range(COMMENTS)
    ]


WORDS = """
    amber basin coral drift estuary fathom gravel harbour inlet jetty kelp lagoon mussel narrows
    oyster pebble quay reef shoal tide undertow vessel wave salt moon chart ledger listen answer
    silence meaning pattern question listener speaker voice word memory
"""


def some_words(rng: random.Random) -> str:
    """Words that no two strangers share: the same text by many is held as suspect."""
    return "What about the " + " ".join(rng.sample(WORDS.split(), 6))


def connect_to(moltbook: FakeMoltbook, dialect: str) -> Account:
    account = connect(
        "moltbook", agent="iris", base_url=moltbook.url, token=moltbook.key, every=1,
        by="operator:mira", now=timezone.now(),
    )  # fmt: skip
    account.surface.dialect = dialect
    account.surface.longest_delay_seconds = LONGEST_DELAY
    account.surface.save(update_fields=["dialect", "longest_delay_seconds"])
    return account


def begin(name: str) -> Any:
    return processes.Program(name) if name == "qcluster" else processes.start(name)


def enough(kills: Counter[str]) -> bool:
    """So many that the rest may live and finish."""
    after_storing = kills["after storing, before the answer"]
    return kills.total() >= KILLS + 20 // PART and after_storing >= 30 // PART


def live_through(
    moltbook: MurderousMoltbook, comments: list[str], refused: set[str], rng: random.Random
) -> Counter[str]:
    """Keep senders, a task worker and a watcher alive, and kill them, until all is said."""
    ends_at = time.monotonic() + DEADLINE
    wanted = len(comments) - len(refused)
    names = ["deliver", "deliver", "qcluster", "watch"]
    alive = [begin(name) for name in names]
    try:
        while time.monotonic() < ends_at:
            moltbook.senders = [] if enough(moltbook.kills) else alive[:3]
            time.sleep(rng.uniform(0.1, 0.4))
            sent = Draft.objects.filter(state=DraftState.SENT).count()
            if sent == wanted and moltbook.kills.total() >= KILLS:
                break
            let_time_pass()
            approve_what_came_in(refused)
            victim = rng.choice([0, 1, 1, 2, 3, 3, None])
            if enough(moltbook.kills):
                victim = None
            if victim is not None and alive[victim].is_alive():
                processes.kill(alive[victim])
                moltbook.kills[f"{names[victim]}, any moment"] += 1
            for number, process in enumerate(alive):
                if not process.is_alive():
                    alive[number] = begin(names[number])
    finally:
        for process in alive:
            processes.kill(process)
    return moltbook.kills
