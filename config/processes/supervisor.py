"""Run several processes as one: start them, restart what dies, end them all together.

Each process leads a session of its own, so Ctrl-C reaches only the supervisor.
It then asks the main process of each, never the group: django-q2 hangs for good
when its parts are asked one by one. What still lives after `patience` is killed
with its whole session. If the supervisor itself is killed, Linux asks the others.

One thread does everything; a second one would make forking unsafe.
"""

import ctypes
import os
import selectors
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import IO, cast

PATIENCE = 4.0  # seconds to end in good order; the rest of the promised five is for the database
LONGEST_WAIT = 30.0
STEADY = 60.0  # who ran this long is not blamed for earlier deaths
TICK = 0.05
PR_SET_PDEATHSIG = 1  # from <linux/prctl.h>

Say = Callable[[str, str], None]  # (name of the process, one line)
_libc = ctypes.CDLL(None) if sys.platform == "linux" else None


@dataclass(frozen=True, kw_only=True, slots=True)
class Process:
    name: str
    command: Sequence[str]


@dataclass(kw_only=True, slots=True)
class Child:
    """One process through all its lives."""

    process: Process
    main: subprocess.Popen[bytes] | None = None
    started_at: float = 0.0
    start_again_at: float = 0.0
    deaths: int = 0

    def wait_after_death(self, now: float) -> float:
        """Count a death, and return how long to wait before the next life."""
        self.deaths = 1 if now - self.started_at > STEADY else self.deaths + 1
        wait = min(LONGEST_WAIT, 2.0 ** (self.deaths - 1))
        self.start_again_at = now + wait
        return wait


@dataclass(slots=True)
class Output:
    """What a child writes, cut into lines."""

    name: str
    pipe: IO[bytes]
    begun: bytes = b""

    def lines(self, more: bytes) -> list[str]:
        *whole, self.begun = (self.begun + more).split(b"\n")
        return [line.decode("utf-8", "replace").rstrip("\r") for line in whole]


@dataclass(slots=True)
class Supervisor:
    processes: Iterable[Process]
    say: Say
    environment: Mapping[str, str] = field(default_factory=lambda: dict(os.environ))
    folder: Path = Path()
    patience: float = PATIENCE
    # Called now and then while all is well.
    meanwhile: Callable[[], None] = lambda: None
    children: list[Child] = field(init=False)
    selector: selectors.DefaultSelector = field(default_factory=selectors.DefaultSelector)
    asked_to_stop: int = 0

    def __post_init__(self) -> None:
        self.children = [Child(process=process) for process in self.processes]

    def run(self) -> None:
        """Return when somebody asked us to stop and nothing of ours runs any more."""
        with _signals(self._asked):
            try:
                while not self.asked_to_stop:
                    self._revive()
                    self.meanwhile()
                    self._listen()
            finally:
                self._end()

    def _asked(self, number: int, frame: FrameType | None) -> None:
        self.asked_to_stop += 1

    def _revive(self) -> None:
        now = time.monotonic()
        for child in self.children:
            if child.main is None and now >= child.start_again_at:
                self._start(child)
            elif child.main is not None and child.main.poll() is not None:
                self._bury(child, child.main)

    def _start(self, child: Child) -> None:
        child.started_at = time.monotonic()
        child.main = subprocess.Popen(
            child.process.command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            cwd=self.folder,
            env={**self.environment, "PGAPPNAME": f"colloquy {child.process.name}"},
            start_new_session=True,
            preexec_fn=_end_with(os.getpid()),
        )
        pipe = cast("IO[bytes]", child.main.stdout)
        os.set_blocking(pipe.fileno(), False)
        self.selector.register(pipe, selectors.EVENT_READ, Output(child.process.name, pipe))

    def _bury(self, child: Child, main: subprocess.Popen[bytes]) -> None:
        """Say that a process died, and clear away what it left, which may hold its port."""
        kill_session(main.pid)
        wait = child.wait_after_death(time.monotonic())
        child.main = None
        self._listen()  # its last words come first
        status = main.returncode
        ended = f"ended with status {status}"
        if status < 0:
            ended = f"was ended by {signal.Signals(-status).name}"
        self._tell(child.process.name, f"{ended}; again in {wait:.0f} s")

    def _listen(self, wait: float = TICK) -> bool:
        """Pass on what the children wrote; return whether there was anything."""
        heard = self.selector.select(wait)
        for key, _ in heard:
            output: Output = key.data
            more = os.read(key.fd, 65536)
            # At its end, an unfinished line is a line too.
            for line in output.lines(more or b"\n" * bool(output.begun)):
                self._tell(output.name, line)
            if not more:
                self.selector.unregister(key.fileobj)
                output.pipe.close()
        return bool(heard)

    def _tell(self, name: str, line: str) -> None:
        try:
            self.say(name, line)
        except OSError:
            # Nobody reads us any more. That is a wish to stop, and no reason to stop badly.
            self.asked_to_stop = max(1, self.asked_to_stop)

    def _end(self) -> None:
        """Ask each main process, wait a little, then kill what is left of its session."""
        mains = [child.main for child in self.children if child.main]
        for main in mains:
            main.send_signal(signal.SIGTERM)
        deadline = time.monotonic() + self.patience
        already_asked = self.asked_to_stop
        while any(main.poll() is None for main in mains) and time.monotonic() < deadline:
            self._listen()
            if self.asked_to_stop > already_asked:
                break  # a second Ctrl-C: no more patience
        for main in mains:
            kill_session(main.pid)
            main.wait()
        while self.selector.get_map() and self._listen(wait=0):
            pass
        self.selector.close()


@contextmanager
def _signals(handler: Callable[[int, FrameType | None], None]) -> Iterator[None]:
    """Hand every wish to stop to one handler for a while: a key, a command, a closed window."""
    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    before = {number: signal.signal(number, handler) for number in numbers}
    try:
        yield
    finally:
        for number, was in before.items():
            signal.signal(number, was)


def kill_session(leader: int) -> None:
    """Kill every process of a session. None of them can refuse."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(leader, signal.SIGKILL)
    # Its other process groups, too. Linux only.
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError, ValueError, IndexError):
            # pid (name) state parent group session …; the name may hold spaces
            if int(stat.read_text("utf-8").rpartition(")")[2].split()[3]) == leader:
                os.kill(int(stat.parent.name), signal.SIGKILL)


def _end_with(parent: int) -> Callable[[], None]:
    def ask_the_kernel() -> None:
        if _libc is not None:
            _libc.prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
            if os.getppid() != parent:  # too late: it died while we were being made
                os._exit(1)

    return ask_the_kernel
