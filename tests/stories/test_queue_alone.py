"""A house that runs only the task queue: it polls, answers and sends, within some minutes."""

from __future__ import annotations

from typing import Any

import pytest
from django.core.management import call_command

from surfaces.models import Message
from tests.fakes.moltbook import FakeMoltbook
from tests.stories import processes, test_first_reply
from tests.stories.test_first_reply import connect, eventually, moltbook, replies

pytestmark = [
    pytest.mark.story,
    pytest.mark.xdist_group("crash"),
    pytest.mark.django_db(transaction=True),
]
__all__ = ["moltbook"]


def test_qcluster_alone_polls_answers_and_sends(moltbook: FakeMoltbook, monkeypatch: Any):
    # The scheduler looks every 30 s, and each of the three tasks may need a minute of its own.
    monkeypatch.setattr(test_first_reply, "PATIENCE", 240)
    connect(moltbook, monkeypatch, "auto")
    call_command("sync_schedules")
    processes.serve_forks()
    cluster = processes.Program("qcluster")
    try:
        [reply] = eventually(lambda: replies(moltbook))
        eventually(Message.objects.incoming().comments().filter(reply_status="sent").exists)
    finally:
        processes.kill(cluster)
    assert reply["parent_id"] == moltbook.question
