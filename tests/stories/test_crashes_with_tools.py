"""Comments that take tools and people's decisions, while every process is killed.

A model searches, remembers, rings a bell that an operator must allow, writes posts, calls tools
that do not exist. Whoever asks it is killed while it thinks, while a tool runs, between a decision
and its run, and senders between the POST and its record. The bell's ledger and the service tell
what really happened: each reply, post and ring at most once, none missing.
"""

from __future__ import annotations

import json
import random
import re
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from django.db.models.fields.json import KT
from django.utils import timezone

from dialogue.activations.models import UNFINISHED
from dialogue.approvals import services as approvals
from dialogue.approvals.models import ENDED
from dialogue.models import (
    Activation,
    ActivationItem,
    AgentSettings,
    Conversation,
    Notification,
    Reservation,
    ToolCall,
    TranscriptStep,
)
from dialogue.tools.registry import TOOLS
from surfaces.drafts.models import DraftState
from surfaces.errors import StaleState
from surfaces.models import Draft, InstanceSettings
from tests.fakes.openai_chat import Outcome
from tests.stories import bell, processes
from tests.stories.bell import Bell
from tests.stories.crashes import (
    FAULTS,
    KILLS,
    LONGEST_DELAY,
    PART,
    MurderousMoltbook,
    MurderousOpenAI,
    an_agent,
    connect_to,
    let_time_pass,
    let_voices_try_again,
    some_words,
)

DEADLINE = 900 if PART == 1 else 240  # seconds for the whole story
NAMES = ["deliver", "watch", "reply", "reply"]
WRITERS = slice(2, 4)
MIRA = "operator:mira"
# What a conversation about a case does, stage by stage; {n} is its number.
ANSWER, LOOK, ALLOWED, EDITED, DENIED, EXPIRED, POST, BOTH, WRONG = range(9)
RING = [("ring", {"bell": "bell {n}"})]
WRITE = [("hub_post", {"title": "Notes of {n}", "content": "Part {n} of a diary of low water."})]
STAGES: dict[int, list[list[tuple[str, Any]]]] = {
    ANSWER: [],
    LOOK: [[("hub_search", {"query": "tides"}), ("remember", {"words": "Low water is at six."})]],
    ALLOWED: [RING],
    EDITED: [RING],
    DENIED: [RING],
    EXPIRED: [RING],
    POST: [WRITE],
    BOTH: [[*RING, ("recall", {"query": "water"})], WRITE],
    WRONG: [[("hub_search", "{not json"), ("rm_rf", {"path": "/"})]],
}
CASES = len(STAGES) * (2 if PART > 1 else 10)
RINGS, POSTS = {ALLOWED, EDITED, BOTH}, {POST, BOTH}


def kind_of(case: int) -> int:
    return case % len(STAGES)


class WorkingModel(MurderousOpenAI):
    """Calls what the case asks for, in its order, and then answers."""

    def take(self, body: dict[str, Any], headers: dict[str, str]) -> Outcome:
        with self._lock:
            if calls := self.calls_left(body):
                self.script(Outcome("calls", calls=calls))
        return super().take(body, headers)

    def calls_left(self, body: dict[str, Any]) -> list[tuple[str, Any]]:
        said = [str(each.get("content")) for each in body["messages"] if each["role"] == "user"]
        case = re.search(r"Case (\d+)\b", "\n".join(said))
        if not case or not body.get("tools"):
            return []
        called = [
            call["function"]["name"]
            for message in body["messages"]
            for call in message.get("tool_calls") or ()
        ]
        for stage in STAGES[kind_of(int(case[1]))]:
            if stage[0][0] not in called:
                return [(name, numbered(given, case[1])) for name, given in stage]
        return []


def numbered(given: Any, case: str) -> Any:
    return given if isinstance(given, str) else json.loads(json.dumps(given).replace("{n}", case))


class Operator:
    """Decides on every call that waits, and settles what nobody knows by the bell's ledger."""

    def __init__(self, bells: Bell) -> None:
        self.bells, self.did = bells, Counter[str]()

    def work(self) -> None:
        for call in ToolCall.objects.filter(state="unknown"):
            self.settle(call)
        for call in ToolCall.objects.filter(state="waiting"):
            try:
                self.decide(call)
            except StaleState as error:
                self.did[f"came too late: {error}"] += 1

    def settle(self, call: ToolCall) -> None:
        now = timezone.now()
        if self.rang(call):
            approvals.settle_as_run(call, result="I heard it.", by=MIRA, now=now)
            self.did["settled: it rang"] += 1
        else:
            approvals.run_again(call, by=MIRA, now=now)
            self.did["run again"] += 1

    def decide(self, call: ToolCall) -> None:
        now, kind = timezone.now(), kind_of(case_of(call))
        if kind == EXPIRED:
            ToolCall.objects.filter(pk=call.pk).update(expires_at=now)
        elif kind == DENIED or self.rang(call):
            approvals.deny(call, words="Leave it.", by=MIRA, now=now)
        elif kind == EDITED:
            arguments = {"bell": f"small bell {case_of(call)}"}
            approvals.approve(call, digest=call.digest, by=MIRA, now=now, arguments=arguments)
        else:
            approvals.approve(call, digest=call.digest, by=MIRA, now=now)
        self.did[f"decided on {call.tool}"] += 1

    def rang(self, call: ToolCall) -> bool:
        return case_of(call) in {int(name.split()[-1]) for name in self.bells.lines("rang")}


def case_of(call: ToolCall) -> int:
    return int(call.asked_arguments["bell"].split()[-1])


@pytest.mark.story
@pytest.mark.timeout(DEADLINE + 60)
@pytest.mark.django_db(transaction=True)
def test_nothing_is_said_or_run_twice_whoever_dies_with_tools(
    capsys: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    rng, bells = random.Random("crash with tools"), Bell(tmp_path)
    monkeypatch.setitem(TOOLS, "ring", bells.tool())
    processes.serve_forks()
    model = WorkingModel(rng, faults_by_chance=0.05, seed=5)
    with MurderousMoltbook(rng, dialect="live") as moltbook, model:
        moltbook.faults_by_chance(7, FAULTS, match="POST .*/comments", latest=LONGEST_DELAY)
        comments = furnish(moltbook, rng)
        prepare(connect_to(moltbook, "live"), model.url)
        operator = Operator(bells)
        kills = live_through(moltbook, model, operator, rng)
        moltbook.store_late(by=float("inf"))
        replies = Counter(x["parent_id"] for x in moltbook.stored(kind="comment", author="iris"))
        titles = [post["title"] for post in moltbook.stored(kind="post", author="iris")]

    posts = Counter(int(title.split()[-1]) for title in titles if title.startswith("Notes of"))
    rings = Counter[int]()
    for name, times in bells.lines("rang").items():
        rings[int(name.split()[-1])] += times
    states = Counter(ToolCall.objects.values_list("tool", "state").order_by())
    ends = Counter(Activation.objects.values_list("state", flat=True).order_by())
    lost = {
        "replies": [case for case, comment in comments.items() if comment not in replies],
        "rings": [case for case in comments if kind_of(case) in RINGS and not rings[case]],
        "posts": [case for case in comments if kind_of(case) in POSTS and not posts[case]],
    }
    twice = {
        name: counted.total() - len(+counted)
        for name, counted in (("replies", replies), ("rings", rings), ("posts", posts))
    }
    with capsys.disabled():
        print(
            f"\nwith tools: {CASES} cases, {kills.total()} kills {dict(kills)}, activations"
            f" {dict(ends)}, calls { {' '.join(key): n for key, n in sorted(states.items())} },"
            f" the operator {dict(operator.did)}, {replies.total()} replies, {rings.total()} rings,"
            f" {posts.total()} posts; twice {twice}, missing {lost}"
        )
    assert kills.total() >= KILLS
    assert kills["while the model thinks"] >= 10 // PART
    in_tools = sum(kills[f"in a tool, {when} it acted"] for when in ("before", "after"))
    assert in_tools >= 10 // PART  # of thirty rings, or six
    assert twice == {"replies": 0, "rings": 0, "posts": 0}
    assert lost == {"replies": [], "rings": [], "posts": []}
    assert {kind_of(case) for case in +rings} == RINGS, "none rang that was denied or expired"
    assert {kind_of(case) for case in +posts} == POSTS
    check_books()


def check_books() -> None:
    """Nothing is under way or held any more, and each transcript tells all of it in order."""
    assert not ToolCall.objects.exclude(state__in=ENDED).exists()
    assert not Conversation.objects.exists()
    assert not Reservation.objects.filter(settled_at=None).exists()
    assert not ActivationItem.objects.filter(state__in=UNFINISHED).exists()
    unread = Notification.objects.unread()
    assert not unread.exclude(draft__state=DraftState.SENT).exists()
    for activation in Activation.objects.all():
        numbers = [*activation.steps.order_by("number").values_list("number", flat=True)]
        assert numbers == [*range(1, len(numbers) + 1)]
    returned = TranscriptStep.objects.filter(kind="returned").values_list("facts__call", flat=True)
    told = Counter(returned.order_by())
    done = ToolCall.objects.filter(state="done").alias(code=KT("why__code"))
    ran = {told[pk] for pk in done.exclude(code="approval.settled").values_list("pk", flat=True)}
    assert ran == {1}, "the result of each call that ran is told once"
    settled = {told[pk] for pk in done.filter(code="approval.settled").values_list("pk", flat=True)}
    assert settled <= {0, 1}, "what an operator settled is told where its activation goes on"


def furnish(moltbook: MurderousMoltbook, rng: random.Random) -> dict[int, str]:
    """A comment for each case, each in a thread of its own."""
    moltbook.key = moltbook.add_agent("iris")
    comments = {}
    for case in range(CASES):
        stranger = f"stranger_{case % 20}"
        if case < 20:
            moltbook.add_agent(stranger)
        post = moltbook.add_post("iris", f"On harbours {case}", "What is left out?")
        comments[case] = moltbook.add_comment(post, stranger, f"Case {case}: {some_words(rng)}?")
    return comments


def prepare(account: Any, url: str) -> None:
    an_agent(account, url)
    AgentSettings.objects.update(grants=["*:*"], has_memory=True, posts_per_day=500)
    account.presences.update(stones_per_day=100)
    InstanceSettings.objects.update_or_create(pk=1, defaults={"undo_seconds": 0})


def live_through(
    moltbook: MurderousMoltbook, model: WorkingModel, operator: Operator, rng: random.Random
) -> Counter[str]:
    """Keep all alive, and kill them, until everything is said and nothing waits."""
    ends_at, kills = time.monotonic() + DEADLINE, moltbook.kills
    alive = [start(name, operator.bells) for name in NAMES]
    wanted = CASES + sum(kind_of(case) in POSTS for case in range(CASES))
    try:
        while time.monotonic() < ends_at:
            in_tools = operator.bells.lines("died").total()
            total = kills.total() + model.kills + in_tools
            few = 12 // PART
            moltbook.senders = alive[:1] if total < KILLS else []
            model.askers = alive[WRITERS] if model.kills < 3 * few else []
            if in_tools >= 3 * few:
                operator.bells.peace.touch()
            time.sleep(rng.uniform(0.1, 0.3))
            sent = Draft.objects.filter(state=DraftState.SENT).count()
            if sent == wanted and total >= KILLS and not is_anything_left():
                break
            let_time_pass()
            let_voices_try_again()
            operator.work()
            victim = rng.choice([0, 1, 2, 3, *[None] * 8]) if total < KILLS else None
            if victim is not None and alive[victim].is_alive():
                processes.kill(alive[victim])
                kills[f"{NAMES[victim]}, any moment"] += 1
            for number, process in enumerate(alive):
                if not process.is_alive():
                    alive[number] = start(NAMES[number], operator.bells)
    finally:
        for process in alive:
            processes.kill(process)
    kills["while the model thinks"] = model.kills
    for when, times in operator.bells.lines("died").items():
        kills[f"in a tool, {when} it acted"] = times
    return kills


def is_anything_left() -> bool:
    return (
        Notification.objects.unread().exists()
        or ToolCall.objects.exclude(state__in=ENDED).exists()
        or Activation.objects.filter(ended_at=None).exists()
    )


def start(name: str, bells: Bell) -> Any:
    return bell.start(name, bells) if name == "reply" else processes.start(name)
