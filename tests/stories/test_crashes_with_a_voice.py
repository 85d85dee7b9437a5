"""Comment, words by a model, reply: two hundred times, while every process is killed.

The model's server limits, fails, breaks off and talks nonsense now and then, and whoever
asks it is killed while it thinks. Senders are killed between the POST and its record. An
activation answers up to five comments: a kill in the middle leaves what was written and loses
none of the rest.
"""

from __future__ import annotations

import random
import time
from collections import Counter
from typing import Any

import pytest

from dialogue.activations.models import UNFINISHED, ActivationState, ItemState
from dialogue.models import (
    Activation,
    ActivationItem,
    Notification,
)
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
    MurderousOpenAI,
    an_agent,
    connect_to,
    count_late,
    furnish,
    let_time_pass,
    let_voices_try_again,
)

NAMES = ["deliver", "deliver", "watch", "reply", "reply"]
WRITERS = slice(3, 5)


@pytest.mark.story
@pytest.mark.timeout(DEADLINE + 60)
@pytest.mark.django_db(transaction=True)
def test_every_comment_is_answered_once_by_a_voice_whoever_dies(capsys: Any):
    rng = random.Random("crash with a voice")
    processes.serve_forks()
    openai = MurderousOpenAI(rng, faults_by_chance=0.1, seed=3)
    with MurderousMoltbook(rng, dialect="live") as moltbook, openai:
        moltbook.faults_by_chance(7, FAULTS, match="POST .*/comments", latest=LONGEST_DELAY)
        comments = furnish(moltbook, rng)
        an_agent(connect_to(moltbook, "live"), openai.url)
        kills = live_through(moltbook, openai, rng)
        late = count_late(moltbook)
        ledger = moltbook.stored(kind="comment", author="iris")

    answered = Counter(line["parent_id"] for line in ledger)
    duplicates = sum(answered.values()) - len(answered)
    lost = [comment for comment in comments if comment not in answered]
    states = Counter(Activation.objects.values_list("state", flat=True).order_by())
    items = Counter(ActivationItem.objects.values_list("state", flat=True).order_by())
    drafted = ActivationItem.objects.filter(state=ItemState.DRAFTED).order_by()
    left_in_the_middle = drafted.filter(activation__state=ActivationState.ABANDONED).count()
    with capsys.disabled():
        print(
            f"\nwith a voice: {len(comments)} comments, {kills.total()} kills {dict(kills)},"
            f" {late} stored late, {len(openai.requests)} requests to the model,"
            f" wakings {dict(states)}, items {dict(items)}, {left_in_the_middle} written before"
            f" a kill in the same activation, {sum(answered.values())} replies,"
            f" {duplicates} duplicates, {len(lost)} lost"
        )
    assert kills.total() >= KILLS
    assert kills["while the model thinks"] >= 10 // PART
    assert states["abandoned"] >= 10 // PART
    assert late
    assert (duplicates, lost) == (0, [])
    assert Draft.objects.filter(state=DraftState.SENT).count() == COMMENTS
    assert not Message.objects.filter(reply_attempts__gt=10).exists()
    over = ActivationItem.objects.exclude(activation__state=ActivationState.RUNNING)
    assert not over.filter(state__in=UNFINISHED).exists()
    written = Counter(drafted.values_list("draft", flat=True))
    assert set(written.values()) == {1}, "each draft belongs to one item"
    assert len(drafted) > drafted.values("activation").distinct().count(), "several in one"
    unread = Notification.objects.unread()
    assert not unread.exclude(draft__state=DraftState.SENT).exists()


def enough(kills: Counter[str], openai: MurderousOpenAI) -> bool:
    """So many that the rest may live and finish."""
    senders, few = kills["after storing, before the answer"], 12 // PART
    return kills.total() + openai.kills >= KILLS + 5 and min(senders, openai.kills) >= few


def live_through(
    moltbook: MurderousMoltbook, openai: MurderousOpenAI, rng: random.Random
) -> Counter[str]:
    """Keep all alive, and kill them, until everything is said."""
    ends_at, kills = time.monotonic() + DEADLINE, moltbook.kills
    alive = [processes.start(name) for name in NAMES]
    try:
        while time.monotonic() < ends_at:
            if not enough(kills, openai):
                moltbook.senders, openai.askers = alive[:2], alive[WRITERS]
            time.sleep(rng.uniform(0.1, 0.3))
            sent = Draft.objects.filter(state=DraftState.SENT).count()
            read = not Notification.objects.unread().exists()
            if sent == COMMENTS and read and kills.total() + openai.kills >= KILLS:
                break
            let_time_pass()
            let_voices_try_again()
            victim = rng.choice([0, 1, 1, 2, rng.choice([3, 4, None]), None])
            if enough(kills, openai):
                moltbook.senders, openai.askers, victim = [], [], None
            if victim is not None and alive[victim].is_alive():
                processes.kill(alive[victim])
                kills[f"{NAMES[victim]}, any moment"] += 1
            for number, process in enumerate(alive):
                if not process.is_alive():
                    alive[number] = processes.start(NAMES[number])
    finally:
        for process in alive:
            processes.kill(process)
    kills["while the model thinks"] = openai.kills
    return kills
