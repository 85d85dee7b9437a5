"""A worker that is killed at its n-th step: before a statement, or before a commit."""

from __future__ import annotations

import os
import signal
from datetime import timedelta
from typing import Any

from asgiref.sync import async_to_sync
from django.db import connection

from dialogue.models import ActivationItem
from dialogue.tools.belt import AgentBelt
from tests.dialogue.approvals.factories import tools
from tests.factories import NOON


class Mortality:
    """Counts steps on the connection of this thread, and dies by SIGKILL at one of them."""

    def __init__(self, dies_at: int) -> None:
        self.dies_at, self.steps = dies_at, 0

    def __call__(self, execute: Any, *statement: Any) -> Any:
        self.step()
        return execute(*statement)

    def step(self) -> None:
        self.steps += 1
        if self.steps == self.dies_at:
            os.kill(os.getpid(), signal.SIGKILL)

    def live(self) -> None:
        connection.ensure_connection()
        commit = connection._commit

        def mortal_commit() -> Any:
            self.step()
            return commit()

        connection._commit = mortal_commit
        connection.execute_wrappers.append(self)


def propose(item: int, name: str, dies_at: int) -> None:
    """A model calls a tool, in a process of its own."""
    with tools():
        belt = _belt(item)
        Mortality(dies_at).live()
        async_to_sync(belt.call)(name, '{"text": "once"}', call_id="the call")


def decided(item: int, dies_at: int) -> None:
    """A worker takes the conversation up, in a process of its own."""
    with tools():
        belt = _belt(item)
        Mortality(dies_at).live()
        belt.decided()


def _belt(pk: int) -> AgentBelt:
    item = ActivationItem.objects.select_related("activation").get(pk=pk)
    return AgentBelt(item, lambda: NOON + timedelta(seconds=1))
