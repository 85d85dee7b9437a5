"""What the stories of killed processes share: services that kill, and a world that is asked."""

from __future__ import annotations

import math
import os
import random
from collections import Counter
from datetime import timedelta
from decimal import Decimal
from typing import Any

from django.utils import timezone

from dialogue.agents import presences
from dialogue.agents import services as agent_services
from dialogue.models import Agent, AgentSettings, ModelEndpoint, Notification, SharedBudget
from surfaces.accounts.connect import connect
from surfaces.drafts.models import DraftState
from surfaces.models import Account, Draft, Message
from tests.fakes.moltbook import FakeMoltbook
from tests.fakes.openai_chat import FakeOpenAI, Outcome
from tests.stories import processes

PART = 1 if os.environ.get("COLLOQUY_LONG_TESTS") else 10
COMMENTS = 200 // PART
KILLS = 100 // PART
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


def let_time_pass() -> None:
    """What waits for minutes need not wait in a story; leases and looks keep their seconds."""
    now = timezone.now()
    Draft.objects.filter(state=DraftState.APPROVED, not_before__gt=now).update(not_before=now)
    Account.objects.update(quiet_until=None, next_watch_at=now)
    Account.objects.filter(watch_lease_until__gt=now + timedelta(seconds=3)).update(
        watch_lease_until=now
    )


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
