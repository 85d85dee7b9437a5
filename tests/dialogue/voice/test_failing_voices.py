"""Every way in which a model can fail: nothing is lost, and all is on the books."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from threading import Thread

import pytest
from django.db import connection

from dialogue.activations import services as activation_services
from dialogue.agents.models.settings import OutputStyle
from dialogue.budgets import services as budget_services
from dialogue.inbox import collect
from dialogue.models import (
    Activation,
    AgentSettings,
    ModelEndpoint,
    Notification,
    Reservation,
    Spending,
)
from dialogue.replies import loop
from surfaces import crypto
from surfaces.models import AuditEvent, Draft, Message
from tests.factories import NOON, make_message, make_presence
from tests.fakes.openai_chat import FakeOpenAI, Outcome

pytestmark = [pytest.mark.django_db, pytest.mark.engine]
KEY = "sk-a-key-that-nobody-may-ever-see"


@pytest.fixture
def openai() -> Iterator[FakeOpenAI]:
    with FakeOpenAI() as fake:
        yield fake


class World:
    def __init__(self, openai: FakeOpenAI, **brain) -> None:
        self.presence = make_presence(settings={"voice": "model", "timeout_seconds": 5})
        self.agent, self.now = self.presence.agent, NOON
        self.add_brain(openai, **brain)
        self.comment = make_message(
            account=self.presence.account, author="ana", content="Is a tide table a promise?"
        )

    def add_brain(self, openai: FakeOpenAI, rank: int = 0, **brain) -> None:
        ModelEndpoint.objects.create(
            agent=self.agent, rank=rank, model=f"openai-chat:model-{rank}", base_url=openai.url,
            sealed_key=crypto.encrypt(KEY), **brain,
        )  # fmt: skip

    def round(self):
        collect.collect(now=self.now)
        return loop.answer_due("a worker", clock=lambda: self.now)

    @property
    def notification(self) -> Notification:
        return Notification.objects.get()


PASSING = [
    "429", "429-retry-after", "500", "503", "cut-before", "cut", "malformed", "length",
    "refusal", "content_filter", "401", "404", "insufficient_quota", "empty",
]  # fmt: skip


@pytest.mark.parametrize("streams", [False, True], ids=["plain", "streamed"])
@pytest.mark.parametrize("name", PASSING)
def test_a_failed_request_leaves_the_comment_open_and_its_story_told(openai, name, streams):
    world = World(openai, streams=streams)
    openai.always(Outcome(name, seconds=900.0))
    assert world.round().failed == 1
    woken, notification = Activation.objects.get(), world.notification
    assert (woken.state, notification.read_at) == ("failed", None)
    kinds = [step.kind for step in woken.steps.all()]
    assert kinds[0] == "asked"
    assert kinds[-1] in {"failed", "answered"}
    world.comment.refresh_from_db()
    assert (world.comment.reply_attempts, world.comment.reply_status) == (1, "pending")
    assert str(world.comment.reply_why) == f"Attempt 1 failed: {woken.outcome}"
    wait = notification.look_at - world.now
    assert wait == timedelta(minutes=15 if name == "429-retry-after" else 5)
    held = set(Spending.objects.values_list("held_tokens", "held_money"))
    assert held == {(0, 0)}, "nothing stays held"
    spent = Spending.objects.get(owner=f"agent:{world.agent.slug}", period="day")
    assert (spent.money, spent.tokens) == (woken.cost, woken.tokens_in + woken.tokens_out)

    openai.always("good")
    world.now = notification.look_at
    assert world.round().drafted == 1
    assert Draft.objects.get().target == world.comment
    assert Activation.objects.count() == 2


@pytest.mark.parametrize("style", OutputStyle.values)
@pytest.mark.parametrize("streams", [False, True], ids=["plain", "streamed"])
def test_good_words_become_a_draft_and_cost_what_the_provider_counted(openai, style, streams):
    world = World(openai, streams=streams, output_style=style)
    assert world.round().drafted == 1
    draft, woken = Draft.objects.get(), Activation.objects.get()
    assert draft.origin == "openai-chat:model-0"
    assert draft.text == "\n\n".join(filter(None, [draft.terms, draft.pointer, draft.exit]))
    assert woken.tokens_in > 0
    assert woken.tokens_out > 0
    assert woken.cost > 0
    assert woken.cost_is_guess, "nobody knows the price of a model of our own"


def test_a_hang_ends_with_the_timeout(openai):
    world = World(openai)
    AgentSettings.objects.update(timeout_seconds=1)
    openai.always(Outcome("hang", seconds=60))
    assert world.round().failed == 1
    assert world.notification.read_at is None


def test_a_wrong_form_is_asked_for_again_once_and_both_are_on_the_books(openai):
    world = World(openai)
    openai.script("wrong_schema")
    assert world.round().drafted == 1
    steps = Activation.objects.get().steps
    assert steps.filter(kind="answered").count() == 2
    world = None


def test_words_that_fail_a_check_are_written_anew_once_with_the_reason(openai):
    world = World(openai)
    openai.script(Outcome("good", words={"pointer": "Ask @nobody_here about it."}))
    assert world.round().drafted == 1
    assert "nobody_here" in openai.requests[1].system + openai.requests[1].user
    assert "@nobody_here" not in Draft.objects.get().text
    faults = [
        step.facts["faults"] for step in Activation.objects.get().steps.filter(kind="checked")
    ]
    assert faults[0]
    assert not faults[1]
    world.comment.refresh_from_db()
    assert world.comment.reply_attempts == 1, "one rewrite belongs to the try"


def test_words_that_fail_twice_are_a_failed_try_with_the_reason(openai):
    world = World(openai)
    openai.always(Outcome("good", words={"pointer": "Ask @nobody_here about it."}))
    assert world.round().failed == 1
    assert len(openai.requests) == 2
    assert "nobody_here" in str(Activation.objects.get().outcome)
    assert not Draft.objects.exists()


def test_another_brain_answers_where_the_first_is_down(openai):
    with FakeOpenAI() as second:
        world = World(openai)
        world.add_brain(second, rank=1)
        openai.always("503")
        assert world.round().drafted == 1
    assert Draft.objects.get().origin.startswith("openai-chat:model-")
    kinds = list(Activation.objects.get().steps.values_list("kind", flat=True))
    assert kinds == ["asked", "failed", "asked", "answered", "checked"]


def test_a_provider_that_is_down_and_names_a_long_wait_is_left_alone_that_long(openai):
    world = World(openai)
    openai.always(Outcome("503-retry-after", seconds=7_200))
    assert world.round().failed == 1
    assert world.notification.look_at - NOON >= timedelta(hours=2)


def test_a_thread_too_long_is_shortened_once(openai):
    world = World(openai)
    openai.script("context_too_long")
    assert world.round().drafted == 1


def test_no_money_for_the_request_means_no_request_and_no_try(openai):
    world = World(openai)
    AgentSettings.objects.update(tokens_per_day=10)
    assert world.round().waits == 1
    assert openai.requests == []
    world.comment.refresh_from_db()
    assert world.comment.reply_attempts == 0
    assert world.notification.verdict == "spent"
    assert Activation.objects.get().state == "exhausted"


def test_told_to_stop_while_the_model_thinks_it_gives_the_comment_back(openai):
    world = World(openai)
    openai.always(Outcome("hang", seconds=60))
    collect.collect(now=NOON)
    tally = loop.answer_due("a worker", clock=lambda: NOON, until=lambda: bool(openai.requests))
    assert tally.given_back == 1
    assert Activation.objects.get().state == "released"
    assert (world.notification.look_at, world.notification.read_at) == (NOON, None)


def test_the_key_is_nowhere_to_be_read(openai):
    world = World(openai)
    openai.script("401", "500", "refusal")
    for _ in range(4):
        world.round()
        world.now += timedelta(hours=1)
    rows = [
        *Activation.objects.values(), *Notification.objects.values(), *Draft.objects.values(),
        *AuditEvent.objects.values(),
        *(step for woken in Activation.objects.all() for step in woken.steps.values()),
    ]  # fmt: skip
    assert KEY not in repr(rows)
    assert any(KEY in str(seen.headers) for seen in openai.requests), "it is used, though"
    assert all(KEY not in seen.system + seen.user for seen in openai.requests)


@pytest.mark.parametrize("words", [r"Look at \u0000 here", r'"\u0000"', r"a\u0000b", "\\"])
def test_a_comment_about_escapes_is_answered_and_noted_as_it_was_shown(openai, words):
    world = World(openai)
    Message.objects.filter(pk=world.comment.pk).update(content=words)
    assert world.round().drafted == 1
    asked = Activation.objects.get().steps.get(kind="asked")
    assert f"| {words}" in asked.facts["shown"].splitlines()


@pytest.mark.django_db(transaction=True)
def test_who_is_taken_back_while_it_reserves_leaves_nothing_held(openai, monkeypatch):
    world, reserve = World(openai), budget_services.reserve
    later = NOON + activation_services.LEASE + timedelta(seconds=1)

    def take_back() -> None:
        activation_services.reclaim_abandoned(now=later)
        connection.close()

    taker = Thread(target=take_back)

    def reserve_late(*args, **given):
        taker.start()
        taker.join(0.5)  # it must wait for us, or have been before us
        return reserve(*args, **given)

    monkeypatch.setattr(budget_services, "reserve", reserve_late)
    monkeypatch.setattr(activation_services, "LEASE", timedelta(seconds=1))
    world.round()
    taker.join()
    assert set(Spending.objects.values_list("held_tokens", "held_money")) <= {(0, 0)}
    assert not Reservation.objects.filter(settled_at=None).exists()


def test_a_key_that_nobody_can_open_is_a_failed_try_that_says_so(openai):
    world = World(openai)
    ModelEndpoint.objects.update(sealed_key=b"sealed under a key we lost")
    assert world.round().failed == 1
    assert "The key of openai-chat:model-0 cannot be decrypted." in str(
        Activation.objects.get().outcome
    )


def test_a_key_that_nobody_can_open_hinders_no_voice_that_needs_none(openai):
    world = World(openai)
    ModelEndpoint.objects.update(sealed_key=b"sealed under a key we lost")
    AgentSettings.objects.update(voice="scripted")
    assert world.round().drafted == 1
