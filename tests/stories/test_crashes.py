"""Two hundred comments, a hundred killed processes: each is answered exactly once.

A Moltbook with a ledger of its own stores what it is sent, and answers 500, breaks the
connection, hangs after storing, or stores seconds later. Senders and watchers are killed with
SIGKILL at random moments, and on purpose between the POST and its record. `make test-long` tells
the whole story, `make test` a tenth of it.
"""

from __future__ import annotations

import random
import time
from collections import Counter
from typing import Any

import pytest
from django.utils import timezone

from surfaces.drafts import services as draft_services
from surfaces.drafts.models import DraftState
from surfaces.models import Draft, Message
from tests.stories import processes
from tests.stories.crashes import (
    COMMENTS,
    DEADLINE,
    FAULTS,
    KILLS,
    LONGEST_DELAY,
    PART,
    MurderousMoltbook,
    connect_to,
    count_late,
    furnish,
    let_time_pass,
)

UNAPPROVED = 10 // PART


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
