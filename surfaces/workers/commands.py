"""A management command that runs in a loop until SIGTERM and retries while the database is down."""

import json
import signal
import threading
from collections.abc import Callable, Iterable
from typing import Any

from django.core.management.base import BaseCommand
from django.db import DatabaseError, InterfaceError, connection
from django.utils import timezone

from surfaces.workers import heartbeat

LONGEST_PAUSE = 15.0  # seconds between attempts while the database is away


class PollingCommand(BaseCommand):
    """A command with `--once`. Prints one JSON line per round that did something."""

    every = 1.0  # seconds between steps
    kind = ""  # of worker: its heartbeat is shown on Home; "" has none
    works = "works"  # shown on Home while a step runs

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.ending = threading.Event()  # set by SIGTERM; a step stops at its next chance

    def add_arguments(self, parser: Any) -> None:
        parser.add_argument("--once", action="store_true", help="run one round and exit")

    def step(self) -> Iterable[dict[str, Any]]:
        """Do what is due; return one line per result, printed as they come."""
        raise NotImplementedError

    def handle(self, **options: Any) -> None:
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGTERM, signal.SIGINT):
                signal.signal(number, lambda *_: self.ending.set())
        if options["once"]:
            if not self._say_all(self.step()):
                self.say(self.nothing())
        elif self.kind:
            with heartbeat.alive(self.kind, clock=timezone.now) as beat:
                self._loop(beat.doing)
        else:
            self._loop(lambda words: None)

    def _loop(self, doing: Callable[[str], None]) -> None:
        pause = self.every
        while not self.ending.is_set():
            try:
                doing(self.works)
                self._say_all(self.step())
                pause = self.every
            except (DatabaseError, InterfaceError) as error:
                pause = min(pause * 2, LONGEST_PAUSE)
                self.say({"error": "the database is unreachable", "kind": type(error).__name__,
                          "again_in_s": pause})  # fmt: skip
                connection.close()
            doing("")
            self.ending.wait(pause)

    def _say_all(self, lines: Iterable[dict[str, Any]]) -> bool:
        """Print the lines; return whether there was one."""
        any_said = False
        for line in lines:
            self.say(line)
            any_said = True
        return any_said

    def nothing(self) -> dict[str, Any]:
        return {"did": 0}

    def say(self, line: dict[str, Any]) -> None:
        self.stdout.write(json.dumps(line, ensure_ascii=False, default=str))
        self.stdout.flush()
