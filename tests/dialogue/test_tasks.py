"""The timetable of the queue does everything: it polls, answers and sends."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from typing import Any

import pytest
from django.conf import settings
from django.core.management import call_command
from django.db import connection
from django_q.models import Schedule

from surfaces.models import Draft, Message
from surfaces.workers import deadline
from tests.fakes.moltbook import FakeMoltbook
from tests.stories.test_first_reply import connect, moltbook, replies

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.engine]
__all__ = ["moltbook"]


def run_the_timetable() -> None:
    """What the queue does in one minute, in the order of the table."""
    call_command("sync_schedules")
    for row in Schedule.objects.filter(schedule_type=Schedule.MINUTES, minutes=1).order_by("pk"):
        task(row.func)()


def task(path: str) -> Callable[[], Any]:
    module, name = path.rsplit(".", 1)
    return getattr(import_module(module), name)


def test_the_timetable_alone_polls_answers_and_sends(moltbook: FakeMoltbook, monkeypatch: Any):
    connect(moltbook, monkeypatch, "auto")
    run_the_timetable()
    [reply] = replies(moltbook)
    assert reply["parent_id"] == moltbook.question
    assert Message.objects.incoming().comments().get().reply_status == "sent"


def test_each_is_due_every_minute():
    each_minute = {name for name, minutes in settings.SCHEDULES.values() if minutes == 1}
    assert each_minute >= {
        "surfaces.tasks.watch_due", "dialogue.tasks.reply_due", "surfaces.tasks.deliver_due",
    }  # fmt: skip


def test_timetables_at_the_same_time_do_nothing_twice(moltbook: FakeMoltbook, monkeypatch: Any):
    post = next(iter(moltbook.posts))
    for number in range(6):
        moltbook.add_comment(post, "ana", f"Is rule {number} of the harbour a kind of promise?")
    monkeypatch.setenv("GABRIELS_KEY", moltbook.key)
    connect(moltbook, monkeypatch, "auto")
    at_once = threading.Barrier(4)

    def one() -> None:
        try:
            at_once.wait(10)
            for _ in range(3):
                run_the_timetable()
        finally:
            connection.close()

    with ThreadPoolExecutor(4) as queues:
        for queue in [queues.submit(one) for _ in range(4)]:
            queue.result()
    assert moltbook.duplicates("gabriel") == []
    said = [reply["parent_id"] for reply in replies(moltbook)]
    assert len(said) == len(set(said)) > 0
    assert Draft.objects.filter(state="unknown").count() == 0


def test_a_task_ends_before_the_next_of_its_kind_is_due(monkeypatch: pytest.MonkeyPatch):
    seconds = [100.0]
    monkeypatch.setattr(deadline.time, "monotonic", lambda: seconds[0])
    is_over = deadline.end_of_task()
    seconds[0] += deadline.TASK_SECONDS - 1
    assert not is_over()
    seconds[0] += 1
    assert is_over()
    assert deadline.TASK_SECONDS < 60
