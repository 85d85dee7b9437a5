"""A round of the reply loop among 1,000,000 messages and 20,000 waiting drafts, against 10,000.

And what our loop adds to one request to a model, for an agent without tools and with some that it
does not call, against the library alone.
"""

from __future__ import annotations

import sys
from datetime import timedelta
from statistics import median
from time import process_time

from bench.world import NOON, fill, maintain, seconds

SMALL, LARGE = 10_000, 1_000_000
WAITING = 20_000  # drafts that wait for a person, their notifications parked on them
TIMES = 15
REQUESTS = 60  # of each kind, in turns


def main() -> list[tuple[str, float, str]]:
    return [rounds(), requests()]


def rounds() -> tuple[str, float, str]:
    from tests.factories import make_account, make_presence

    account = make_account()
    presence = make_presence(
        account=account,
        since=NOON - timedelta(days=1),
        settings={
            "spacing_seconds": 0, "replies_per_day": 500, "replies_per_thread": 50,
        },
    )  # fmt: skip
    found = {}
    for name, messages, waiting in (("small", SMALL, WAITING // 100), ("large", LARGE, WAITING)):
        fill(account.pk, messages, tag=name)
        park(presence, waiting)
        warm_up()
        maintain("VACUUM ANALYZE")  # as the server does by itself in time
        found[name] = measure(presence, name)
        idle, one = (median(times) * 1000 for times in found[name])
        sys.stderr.write(f"  {name:6} idle round {idle:6.1f} ms   one reply {one:6.1f} ms\n")
    small, large = (median(found[name][1]) * 1000 for name in ("small", "large"))
    idle = median(found["large"][0]) * 1000
    return (
        "a round that writes one reply, 1,000,000 messages against 10,000",
        large / small,
        f"{large:.1f} ms against {small:.1f} ms; a round with nothing to do {idle:.1f} ms",
    )


def park(presence, number: int) -> None:
    """Waiting drafts over the newest comments, each with its notification."""
    from dialogue.models import Notification
    from surfaces.models import Draft, Message

    rows = Message.objects.awaiting_reply().filter(drafts=None).order_by("-id")
    ids = list(rows.values_list("pk", flat=True)[:number])
    drafts = Draft.objects.bulk_create(
        Draft(account=presence.account, what="reply", target_id=pk, text=f"An answer to {pk}",
              agent="somebody-else", origin="scripted", state="waiting", made_by="agent:x",
              made_at=NOON)
        for pk in ids
    )  # fmt: skip
    Notification.objects.bulk_create(
        Notification(agent=presence.agent, presence=presence, message_id=draft.target_id,
                     kind="reply", made_at=NOON, draft=draft, verdict="drafted")
        for draft in drafts
    )  # fmt: skip


def warm_up() -> None:
    """The first look reads all that came; what is measured is the everyday."""
    from dialogue.inbox import collect
    from dialogue.models import Notification

    for _ in range(3):
        collect.collect(now=NOON)
    Notification.objects.filter(read_at=None, draft=None).update(
        read_at=NOON, outcome="passed", why="Passed: it was there before."
    )


def measure(presence, world: str) -> tuple[list[float], list[float]]:
    from dialogue import replier
    from dialogue.inbox import collect
    from dialogue.replies import loop
    from surfaces.drafts import staleness
    from surfaces.models import Message
    from tests.factories import make_message

    crew = replier.ReplierPool()
    idle, busy, done = [], [], []

    def look(now) -> None:
        done.append(replier.run_round(crew, clock=lambda: now, is_whole=False))

    for number in range(TIMES):
        now = NOON + timedelta(hours=world == "large", minutes=number)  # it never goes back
        idle.append(seconds(lambda now=now: look(now)))
        make_message(
            account=presence.account, author=f"{world} {number}", seen_at=now,
            content=f"What does the {world} chapter {number} leave out? Who reads it at {number}?",
        )  # fmt: skip
        # As if the watcher had read the thread: nothing answers at this account.
        Message.objects.filter(kind="post").update(thread_read_at=now)
        busy.append(seconds(lambda now=now: look(now)))
        assert done[-1].drafted == 1, f"it must have written a reply, and did {done[-1]}"
    for part in (collect.collect, loop.release_held, staleness.mark_stale):
        took = seconds(lambda part=part: part(now=now)) * 1000
        sys.stderr.write(f"  {world:6} {part.__module__}.{part.__name__} {took:.1f} ms\n")
    return idle, busy


def requests() -> tuple[str, float, str]:
    """One request to a model that answers at once: the library alone, our loop, and with tools."""
    from dialogue.voice import open_voice
    from dialogue.voice.base import Brief, GenerationSettings, ModelConfig, ThreadMessage
    from dialogue.voice.llm.event_loop import run_here
    from tests.dialogue.voice.belts import NotedBelt
    from tests.dialogue.voice.usage_recorder import Watching
    from tests.fakes.openai_chat import FakeOpenAI

    thread = tuple(ThreadMessage(author=f"a{n}", text="Word. " * 80) for n in range(10))
    comment = ThreadMessage(author="bob", text="Why does the tide not ask the harbour?")
    brief = Brief(purpose="reply", name="Iris", handle="iris", thread=thread, comment=comment)
    with FakeOpenAI() as fake:
        mind, knobs = (
            ModelConfig(model="openai:m", base_url=fake.url, key="key"),
            GenerationSettings(),
        )
        voice = open_voice("model", [mind], knobs)
        ways = {
            "library": lambda: run_here(_plainly(mind, knobs, brief)),
            "loop": lambda: voice.write(brief, Watching()),
            "tools": lambda: voice.write(brief, Watching(), tools=NotedBelt()),
        }
        took: dict[str, list[float]] = {name: [] for name in ways}
        for _ in range(REQUESTS):
            for name, way in ways.items():
                began = process_time()  # of both sides; waiting for each other is not our cost
                way()
                took[name].append(process_time() - began)
    library, alone, tools = (median(took[name]) * 1000 for name in ways)
    return (
        "a request to a model by an agent without tools, against the library alone",
        alone / library,
        f"{alone:.1f} ms of CPU against {library:.1f} ms; {tools:.1f} ms with uncalled tools",
    )


async def _plainly(mind, knobs, brief) -> object:
    """What the loop does without tools, done by hand."""
    from pydantic_ai import Agent

    from dialogue.voice import prompts
    from dialogue.voice.llm import answers
    from dialogue.voice.llm.providers import open_model, open_wire

    prompt = prompts.build_prompt(brief)
    async with open_wire(knobs.timeout, None) as wire:
        output = answers.output_of(answers.form_of(brief), mind.output_style)
        agent = Agent(open_model(mind, wire), instructions=prompt.system, output_type=output)
        return await agent.run(prompt.user, model_settings={"max_tokens": knobs.output_tokens})
