"""Random histories: whatever happens in whatever order, the promises hold after each step."""

from __future__ import annotations

import random
from collections import Counter
from contextlib import suppress
from datetime import time, timedelta
from itertools import pairwise
from typing import Any

import pytest

from dialogue.agents.active_hours import next_opening
from dialogue.inbox import collect
from dialogue.models import Activation, ActivationItem, AgentSettings, ModelEndpoint, Notification
from dialogue.replies import loop
from surfaces.delivery.sender import deliver_due
from surfaces.drafts import retry
from surfaces.drafts import services as draft_services
from surfaces.errors import RuleBroken
from surfaces.models import AuditEvent, Draft, Message, Pause
from surfaces.pauses import services as pause_services
from surfaces.spam import feedback
from surfaces.workers.locks import WorkerLock
from tests.factories import make_agent, make_message, make_post, make_presence
from tests.surfaces.delivery.scripted_service import (
    Clock,
    ScriptedMoltbook,
    hanging,
    saying,
    unreachable,
)

pytestmark = [pytest.mark.django_db, pytest.mark.engine]
BY = "operator:mira"


class History:
    """One agent in auto mode among strangers, a moody service and a busy operator."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(f"history {seed}")
        self.clock, self.sender, self.service = Clock(), WorkerLock(), ScriptedMoltbook()
        hours = self.rng.choice([(None, None), (time(6), time(22)), (time(19), time(13))])
        self.limits = {
            "replies_per_day": self.rng.choice([2, 5, 40]),
            "replies_per_thread": self.rng.choice([2, 4, 9]),
            "spacing_seconds": self.rng.choice([0, 60, 1800]),
            "tries": self.rng.choice([2, 10]),
        }
        agent = make_agent(
            active_from=hours[0],
            active_to=hours[1],
            settings={"mode": "auto", "timeout_seconds": 5, **self.limits},
        )
        self.presence = make_presence(agent=agent)
        self.agent, self.account = agent, self.presence.account
        self.posts = [make_post(account=self.account) for _ in range(4)]
        self.asked = Counter[int]()  # per comment: how often a person gave it new tries
        ModelEndpoint.objects.create(
            agent=agent, model="openai-chat:x", base_url="http://127.0.0.1:9/v1"
        )

    # ── what may happen ───────────────────────────────────────────────────

    def a_comment(self) -> None:
        make_message(
            post=self.rng.choice(self.posts),
            author=self.rng.choice(["ana", "ben", "chen"]),
            content=f"What does number {self.rng.randrange(10**9)} leave out, and for whom?",
            seen_at=self.clock(),
        )

    def time_passes(self) -> None:
        self.clock.pass_by(minutes=self.rng.choice([1, 5, 30, 90, 400]))

    def the_voice_breaks(self) -> None:
        AgentSettings.objects.update(voice="model")

    def the_voice_mends(self) -> None:
        AgentSettings.objects.update(voice="scripted")

    def the_service_fails(self) -> None:
        self.service.next.append(
            self.rng.choice(
                [saying(500), unreachable, hanging, saying(429), saying(403), saying(404),
                 self.service.store_and_hang, self.service.store_and_say(500)]
            )
        )  # fmt: skip

    def a_pause(self) -> None:
        pause_services.pause("agent", self.agent.slug, why="", by=BY, now=self.clock())

    def the_pause_ends(self) -> None:
        for pause in Pause.objects.live():
            pause_services.resume(pause.scope, pause.subject, by=BY, now=self.clock())

    def spam(self) -> None:
        if message := self._some_comment():
            feedback.mark(message, is_spam=True, by=BY, now=self.clock())

    def no_spam(self) -> None:
        if message := Message.objects.spam().order_by("?").first():
            feedback.unmark(message, by=BY, now=self.clock())

    def deleted(self) -> None:
        if (message := self._some_comment()) and self.rng.random() < 0.3:
            Message.objects.filter(pk=message.pk).update(deleted_at=self.clock())

    def asked_again(self) -> None:
        if message := self._some_comment():
            retry.retry_message(message, by=BY, now=self.clock())
            self.asked[message.pk] += 1

    def rejected(self) -> None:
        if draft := Draft.objects.filter(state__in=["waiting", "approved"]).first():
            draft_services.withdraw(draft, by=BY, now=self.clock(), why="Off topic")

    def _some_comment(self) -> Message | None:
        rows = list(Message.objects.incoming().comments())
        return self.rng.choice(rows) if rows else None

    # ── what the program does ─────────────────────────────────────────────

    def work(self) -> None:
        now = self.clock()
        collect.collect(now=now)
        loop.release_held(now=now)
        loop.answer_due("a worker", clock=self.clock)
        deliver_due(self.sender, clock=self.clock, transport=self.service)

    def live(self, steps: int) -> None:
        events = [
            *[self.a_comment] * 6, *[self.time_passes] * 6, self.the_voice_breaks,
            *[self.the_voice_mends] * 2, *[self.the_service_fails] * 2, self.a_pause,
            *[self.the_pause_ends] * 2, self.spam, self.no_spam, self.deleted, self.asked_again,
            self.rejected,
        ]  # fmt: skip
        for _ in range(steps):
            with suppress(RuleBroken):  # the operator was told why not
                self.rng.choice(events)()
            self.work()
            self.check()

    # ── what must hold ────────────────────────────────────────────────────

    def check(self) -> None:
        replies = Counter(comment["parent_id"] for comment in self.service.comments)
        assert set(replies.values()) <= {1}, "nobody is answered twice"
        begun = ActivationItem.objects.exclude(started_at=None).order_by()
        tries = Counter(begun.values_list("notification__message_id", flat=True))
        for message, number in tries.items():
            allowed = self.limits["tries"] * (1 + self.asked[message])
            assert number <= allowed, "no comment is tried more often than allowed"
        assert not Message.objects.filter(reply_attempts__gt=10).exists()
        passed = Notification.objects.filter(outcome="passed")
        assert not passed.filter(why="").exists(), "nothing is passed without a reason"
        assert not Notification.objects.filter(read_at=None).exclude(outcome="").exists()

    def check_limits(self) -> None:
        agent, days, threads = self.agent, Counter[Any](), Counter[int]()
        for woken in Activation.objects.all():
            closed = next_opening(
                woken.started_at, zone=agent.zone, start=agent.active_from, end=agent.active_to
            )
            assert closed is None, "it speaks inside its hours only"
        for draft in Draft.objects.filter(state="sent"):
            days[draft.sent_at.date()] += 1
            threads[draft.target.post_id] += 1
        assert max(days.values(), default=0) <= self.limits["replies_per_day"]
        asked = sum(self.asked.values())
        assert max(threads.values(), default=0) <= self.limits["replies_per_thread"] + asked
        made = sorted(Draft.objects.values_list("made_at", "state"))
        alive = [at for at, state in made if state == "sent"]
        spacing = timedelta(seconds=self.limits["spacing_seconds"])
        for earlier, later in pairwise(alive):
            assert later - earlier >= spacing, "between two replies lies the spacing"


@pytest.mark.parametrize("seed", range(6))
def test_whatever_happens_the_promises_hold(seed: int):
    history = History(seed)
    history.live(45)
    history.check_limits()
    assert Notification.objects.exists()
    lines = AuditEvent.objects.called("message.try_failed").count()
    assert lines == ActivationItem.objects.filter(state="failed").count()
