"""What holds a conversation that waits for approval, as its agent stands now."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from datetime import timedelta

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from dialogue.activations.models import ItemState
from dialogue.approvals import services
from dialogue.inbox import suspensions, thread_annotations
from dialogue.models import ActivationItem, Agent, Notification, ToolCall
from dialogue.replies.decision import Reason, ReplyAction, ReplyVerdict
from surfaces.models import Account
from surfaces.operators.scope import UNRESTRICTED
from surfaces.pauses import services as pause_services
from surfaces.text.reasons import reason
from tests.dialogue.agents.pages import html
from tests.dialogue.approvals.factories import MIRA, CallWorld, tools
from tests.factories import make_notification

pytestmark = pytest.mark.django_db
WAITS = "a tool call of its activation waits for approval"


@pytest.fixture(autouse=True)
def _tools_of_every_risk() -> Iterator[None]:
    with tools():
        yield


class Held:
    """A comment whose conversation waits for the approval of one call."""

    def __init__(self) -> None:
        self.world = CallWorld()
        self.agent, self.call = self.world.agent, self.world.asked()
        ActivationItem.objects.update(state=ItemState.WAITING, why="activation.suspended")
        why = ReplyVerdict(ReplyAction.WAIT, Reason.TOOL_WAITS)
        self.world.notification.note(
            verdict=why.why.code, why=why.reason, look_at=None, considered_at=timezone.now()
        )

    def decide(self) -> None:
        services.approve(self.call, digest=self.call.digest, by=MIRA, now=self.world.now)

    def inbox(self, client: Client) -> str:
        page = html(client, "agent_inbox", self.agent.slug)
        return page.partition('class="soft reason"')[2].partition("</span>")[0]

    def thread(self) -> str:
        told = thread_annotations.of_messages([self.world.comment], [], UNRESTRICTED)
        steps = [step.why for step in told.steps[self.world.comment.pk]]
        notes = [note.words for note in told.notes[self.world.comment.pk]]
        return " ".join([*steps, *notes])


@pytest.fixture
def held() -> Held:
    return Held()


def switch_off(held: Held) -> None:
    held.world.set(is_autonomous=False)


def pause(held: Held) -> None:
    pause_services.pause("agent", held.agent.slug, why="Lunch", by=MIRA, now=held.world.now)


def pause_everything(held: Held) -> None:
    pause_services.pause("all", why="Storm", by=MIRA, now=held.world.now)


def move_elsewhere(held: Held) -> None:
    Agent.objects.update(lives="elsewhere")


def suspend_account(held: Held) -> None:
    Account.objects.update(state="suspended", state_why="Too many posts")


def back_off(held: Held) -> None:
    Agent.objects.update(backs_off_until=timezone.now() + timedelta(hours=1))


def spend(held: Held) -> None:
    held.world.set(tokens_per_day=0)


def test_where_only_the_approval_is_missing_it_says_so(held: Held, desk: Client):
    assert WAITS in held.inbox(desk)
    assert WAITS in held.thread().lower()


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (switch_off, str(reason("verdict.switched_off"))), (pause, "Lunch"),
        (pause_everything, "Storm"), (move_elsewhere, str(reason("verdict.elsewhere"))),
        (suspend_account, "Too many posts"), (back_off, str(reason("verdict.backed_off"))),
        (spend, "token limit for today"),
    ],
)  # fmt: skip
def test_what_really_holds_it_is_said_on_both_pages(held: Held, desk: Client, change, says: str):
    change(held)
    for page in (held.inbox(desk), held.thread()):
        assert says.lower() in page.lower()
        assert "besides, a tool call waits for approval" in page
        assert WAITS not in page.lower()
    ToolCall.objects.update(state="denied", ended_at=held.world.now)
    for page in (held.inbox(desk), held.thread()):
        assert says.lower() in page.lower()
        assert "a tool call waits" not in page


def test_what_is_decided_goes_on_as_soon_as_a_worker_is_free(held: Held, desk: Client):
    held.decide()
    assert "a free worker goes on with it" in held.inbox(desk)


def test_a_limit_that_held_it_when_it_went_on_is_named(held: Held, desk: Client):
    held.decide()
    full = reason("decision.waits", why=reason("verdict.day_full"))
    ActivationItem.objects.update(why=full)
    assert str(reason("verdict.day_full")) in held.inbox(desk)


def test_it_is_said_on_the_page_of_the_thread(held: Held, desk: Client):
    switch_off(held)
    page = desk.get(reverse("surfaces:thread", args=[held.world.comment.post_id])).content.decode()
    assert "besides, a tool call waits for approval" in page


def test_queries_do_not_grow_with_what_waits_and_there_are_none_where_nothing_does(held: Held):
    one = [held.world.notification.pk]
    for _ in range(3):
        note = make_notification(presence=held.world.presence)
        ActivationItem.objects.create(
            activation=held.world.activation, notification=note, state=ItemState.WAITING,
            position=note.pk, started_at=held.world.now,
        )  # fmt: skip
    every = list(Notification.objects.values_list("pk", flat=True))
    suspensions.holds(one, now=timezone.now())  # makes the row of the shared budget
    for asked, most in (([], 0), (one, 4), (every, 4)):
        assert queries_for(asked) == most
    pause_services.pause("all", why="Look first.", by=MIRA, now=timezone.now())
    assert queries_for(every) == 5


def queries_for(notifications: Collection[int]) -> int:
    with CaptureQueriesContext(connection) as queries:
        suspensions.holds(notifications, now=timezone.now())
    return len(queries)
