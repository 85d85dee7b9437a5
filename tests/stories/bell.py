"""A tool that touches the world outside of the database, and processes that have it.

Each ring is one line of a file. At every second ring the process dies by SIGKILL, before or after
it rang, until a file of peace is there.
"""

from __future__ import annotations

import os
import signal
import time
from collections import Counter
from multiprocessing.context import ForkServerProcess
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from dialogue.tools.base import Tool, ToolContext, ToolResult
from dialogue.tools.registry import TOOLS
from tests.stories import processes


class RingArguments(BaseModel):
    model_config = ConfigDict(extra="forbid")

    bell: str


class Bell:
    """Its ledger: a line for each call, a line for each ring, a line for each death in it."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.ledger, self.peace = folder, folder / "ledger", folder / "peace"
        self.ledger.touch()

    def tool(self) -> Tool:
        return Tool(
            name="ring", description="Ring a bell, which everybody hears.",
            arguments=RingArguments, risk="external", scope="bells:ring", run=self.ring,
            is_slow=True,
        )  # fmt: skip

    def ring(self, context: ToolContext, asked: RingArguments) -> ToolResult:
        turn = 0 if self.peace.exists() else self.lines("called").total() % 4
        self.note(f"called {asked.bell}")
        if turn == 1:
            self.die("before")
        self.note(f"rang {asked.bell}")
        if turn == 3:
            self.die("after")
        time.sleep(0.05)
        return ToolResult(text=f"{asked.bell} rang")

    def die(self, when: str) -> None:
        self.note(f"died {when}")
        os.killpg(os.getpid(), signal.SIGKILL)

    def note(self, line: str) -> None:
        with self.ledger.open("a") as ledger:
            ledger.write(f"{line}\n")

    def lines(self, verb: str) -> Counter[str]:
        """What happened how often, of one verb: called, rang, died."""
        lines = (line.split(" ", 1) for line in self.ledger.read_text().splitlines())
        return Counter(rest for found, rest in lines if found == verb)


def start(command: str, bell: Bell) -> ForkServerProcess:
    return processes.start(command, str(bell.folder), target=run)


def run(command: str, arguments: tuple[str, ...]) -> None:
    tool = Bell(Path(arguments[0])).tool()
    TOOLS[tool.name] = tool
    processes.run(command, ())
