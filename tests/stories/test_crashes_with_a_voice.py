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
from decimal import Decimal
from typing import Any

import pytest
from django.utils import timezone

from dialogue.activations.models import UNFINISHED, ActivationState, ItemState
from dialogue.agents import presences
from dialogue.agents import services as agent_services
from dialogue.models import (
    Activation,
    ActivationItem,
    Agent,
    AgentSettings,
    ModelEndpoint,
    Notification,
    SharedBudget,
)
from surfaces.drafts.models import DraftState
from surfaces.models import Draft, Message
from tests.fakes.openai_chat import FakeOpenAI, Outcome
from tests.stories import processes
from tests.stories.test_crashes import (
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

NAMES = ["deliver", "deliver", "watch", "reply", "reply"]
WRITERS = slice(3, 5)


class MurderousOpenAI(FakeOpenAI):
    """Kills whoever asks, sometimes, while it thinks."""

    def __init__(self, rng: random.Random, **given: Any) -> None:
        super().__init__(**given)
        self.rng, self.askers, self.kills = rng, [], 0

    def take(self, body: dict[str, Any], headers: dict[str, str]) -> Outcome:
        outcome = super().take(body, headers)
        if self.rng.random() < 0.2:
            for process in self.askers:
                if process.is_alive():
                    processes.kill(process)
                    self.kills += 1
        return outcome


@pytest.mark.story
@pytest.mark.timeout(DEADLINE + 60)
@pytest.mark.xdist_group("crash")
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


def an_agent(account: Any, url: str) -> None:
    agent = agent_services.make_agent("iris", by="operator:mira", is_autonomous=True)
    AgentSettings.objects.filter(agent=agent).update(
        mode="auto", voice="model", spacing_seconds=0, replies_per_day=500, replies_per_thread=50,
        money_per_day=Decimal(1000), money_per_month=Decimal(1000),
        tokens_per_day=100_000_000, tokens_per_month=100_000_000, timeout_seconds=10,
    )  # fmt: skip
    SharedBudget.objects.create(
        pk=1,
        money_per_day=Decimal(1000),
        money_per_month=Decimal(1000),
        tokens_per_day=100_000_000,
        tokens_per_month=100_000_000,
    )
    ModelEndpoint.objects.create(agent=agent, model="openai-chat:fake", base_url=url, streams=True)
    presences.join(agent, account, by="operator:mira", now=timezone.now())


def let_voices_try_again() -> None:
    now = timezone.now()
    Agent.objects.exclude(backs_off_until=None).update(backs_off_until=None)
    Notification.objects.filter(read_at=None, look_at__gt=now).update(look_at=now, not_before=None)
    # A story of a minute has no room for tries that are ten: what counts is that none is lost.
    Message.objects.filter(reply_attempts__gt=5, reply_status="pending", drafts=None).update(
        reply_attempts=2
    )


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
