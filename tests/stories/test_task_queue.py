"""A house that runs only the task queue watches, replies and sends; nothing is done twice."""

from __future__ import annotations

from collections import Counter
from datetime import timedelta
from typing import Any

import pytest
from django.conf import settings
from django.core.management import call_command
from django.utils import timezone
from django_q.models import Schedule, Success

import dialogue.tasks
import surfaces.tasks
from dialogue.models import Activation, Agent, AgentSettings, ModelEndpoint, ToolCall
from surfaces.models import Message
from surfaces.settings.services import change
from tests.fakes.openai_chat import FakeOpenAI, Outcome
from tests.stories import processes, test_first_reply
from tests.stories.test_first_reply import connect, replies
from tests.stories.test_first_reply import moltbook as moltbook
from tests.stories.test_first_reply import running as running

pytestmark = [
    pytest.mark.story,
    pytest.mark.django_db(transaction=True),
]
PATIENCE = 240  # seconds: the queue looks at its schedules every 30 s
LIMITS = {"spacing_seconds": 0, "replies_per_thread": 50, "replies_per_day": 500}


@pytest.fixture(autouse=True)
def patience(monkeypatch):
    monkeypatch.setattr(test_first_reply, "PATIENCE", PATIENCE)


def test_the_schedules_alone_carry_a_comment_from_the_service_to_its_reply(moltbook, monkeypatch):
    connect(moltbook, monkeypatch, "auto")
    assert surfaces.tasks.watch_due() == 1
    assert dialogue.tasks.activate_due() == 1
    assert surfaces.tasks.deliver_due() == 1
    [reply] = replies(moltbook)
    assert reply["parent_id"] == moltbook.question
    assert (surfaces.tasks.watch_due(), dialogue.tasks.activate_due()) == (0, 0)
    assert surfaces.tasks.deliver_due() == 0


SEARCHES = [("hub_search", {"query": "harbour lights"})]
WRITES = [("hub_post", {"title": "A tide diary", "content": "I begin a diary of low water."})]


def test_a_running_qcluster_is_enough_for_an_agent_with_tools(moltbook, monkeypatch):
    """It reads, searches, answers and posts; the model asks for one thing after the other."""
    moltbook.add_post("ana", "On harbour lights", "Who lights the harbour lights at night?")
    connect(moltbook, monkeypatch, "auto")
    agent = Agent.objects.get()
    AgentSettings.objects.filter(agent=agent).update(voice="model", grants=["moltbook:*"])
    agent.presences.update(stones_per_day=1)
    call_command("sync_schedules")
    processes.serve_forks()
    with FakeOpenAI() as openai:
        ModelEndpoint.objects.create(agent=agent, model="openai-chat:fake", base_url=openai.url)
        post = moltbook.stored(kind="post", author="gabriel")[0]["id"]
        reads = [("hub_get_thread", {"post_id": f"item:{post}"}), ("hub_get_notifications", {})]
        openai.script(*[Outcome("calls", calls=calls) for calls in (reads, SEARCHES, WRITES)])
        cluster = processes.Program("qcluster")
        try:
            test_first_reply.eventually(lambda: is_all_said(moltbook))
        finally:
            processes.kill(cluster)
    last = openai.requests[-1]
    thread, notifications, found, written = last.results
    assert "What does the tide table leave out?" in thread
    assert "Is a tide table a kind of promise?" in notifications
    assert "Who lights the harbour lights at night?" in found
    assert "was written, a new post" in written
    [reply], [diary] = replies(moltbook), diaries(moltbook)
    assert reply["parent_id"] == moltbook.question
    assert diary["text"] == "I begin a diary of low water."
    assert [*ToolCall.objects.values_list("state", flat=True)] == ["done"] * 4


def is_all_said(moltbook) -> bool:
    """As if each half minute of the queue were over: all its schedules are due again."""
    Schedule.objects.update(next_run=timezone.now() - timedelta(seconds=1))
    return bool(replies(moltbook) and diaries(moltbook))


def diaries(moltbook) -> list[dict[str, Any]]:
    return [
        p for p in moltbook.stored(kind="post", author="gabriel") if p["title"] == "A tide diary"
    ]


def test_a_cluster_named_after_a_pool_takes_its_kind_and_nothing_else(moltbook, monkeypatch):
    connect(moltbook, monkeypatch, "review")
    assert surfaces.tasks.watch_due() == 1
    call_command("sync_schedules")
    due = timezone.now() - timedelta(seconds=1)
    Schedule.objects.update(next_run=due)
    processes.serve_forks()
    pools = ["exploration", "notification"]
    clusters = [processes.Program("qcluster", Q_CLUSTER_NAME=pool) for pool in pools]
    try:
        ran = test_first_reply.eventually(
            lambda: len(done := [*Success.objects.order_by("group")]) == 2 and done
        )
    finally:
        for cluster in clusters:
            processes.kill(cluster)
    # What each wrote: one draft, by the cluster that answers.
    assert [(task.group, task.args, task.result) for task in ran] == [
        ("activate agents: exploration", ("exploration",), 0),
        ("activate agents: notification", ("notification",), 1),
    ]
    left = Schedule.objects.filter(next_run=due).values_list("name", flat=True)
    others = {f"activate agents: {pool}" for pool in pools}
    assert set(left) == set(settings.SCHEDULES) - others


def test_tasks_have_time_for_an_activation_that_begins_last():
    """60 s of beginning and the 300 s of an activation, before the queue ends the task."""
    whole = dialogue.tasks.SECONDS + AgentSettings().seconds_per_run
    assert whole < dialogue.tasks.LONGEST < settings.Q_CLUSTER["timeout"]


SAID = [
    "Why does the tide not ask the harbour first?",
    "I disagree, an agent has no harbour at all.",
    "By memory I mean what changes what we do next.",
    "We should keep a shared diary for a month.",
    "Agents never forget anything that matters.",
]
ENOUGH = 4  # the checks of a voice may hold one back


def test_beside_the_loops_nothing_is_said_twice(moltbook, running, monkeypatch):
    post = moltbook.stored(kind="post", author="gabriel")[0]["id"]
    for number, words in enumerate(SAID):
        moltbook.add_agent(f"stranger{number}")
        moltbook.add_comment(post, f"stranger{number}", words)
    connect(moltbook, monkeypatch, "auto")
    agent = Agent.objects.select_related("settings").get()
    change(agent, LIMITS, by="operator:mira", now=timezone.now())
    running()

    def enough_are_answered() -> bool:
        surfaces.tasks.watch_due()
        dialogue.tasks.activate_due()
        surfaces.tasks.deliver_due()
        return Message.objects.filter(reply_status="sent").count() >= ENOUGH

    test_first_reply.eventually(enough_are_answered)
    answered = Counter(reply["parent_id"] for reply in replies(moltbook))
    assert set(answered.values()) == {1}
    done = Activation.objects.filter(purpose="reply", state="done")
    assert len(set(done.values_list("notification", flat=True))) == done.count()
