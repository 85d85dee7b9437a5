"""Keep the embedded server: start it, or adopt it, and stop it with the last of its holders.

A process of its own, in a session of its own: `python -m config.postgres.keeper HOME WHEEL on|off`.
The command returns when the server takes connections; the keeper itself stays
behind. It waits for the exclusive lock on `holders`, which the kernel grants
when the last process that shares it has ended, in whatever way.

Nothing is imported here but the standard library: it starts in 20 ms and
outlives an upgrade of everything else.
"""

import fcntl
import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import FrameType
from typing import NoReturn

from config.postgres import cluster
from config.postgres.system_user import EmbeddedFailed, owner_of, within_reach

SOON = 10  # seconds for an orderly stop; after that the server drops its work and recovers later
READY, FAILED, BUSY = 0, 1, 3  # what the command ends with
Wait = Callable[[], object]


def main(home: Path, wheel: Path, *, is_safe: bool) -> int:
    """Leave a keeper behind, and return when it is ready or has failed."""
    reads, writes = os.pipe()
    if os.fork() == 0:
        os.close(reads)
        _keep(home, wheel, writes, is_safe=is_safe)
    os.close(writes)
    with os.fdopen(reads, encoding="utf-8", errors="replace") as pipe:
        status, _, sentence = pipe.read().partition(" ")
    sys.stderr.write(sentence)
    return int(status or FAILED)


def _keep(home: Path, wheel: Path, report: int, *, is_safe: bool) -> NoReturn:
    try:
        os.setsid()
        os.chdir(home)
        # Kept open, hence locked, until the process ends.
        lock = os.open(home / "keeper", os.O_RDONLY | os.O_CREAT, 0o644)
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        pid, wait = _serve(home, wheel, is_safe=is_safe)
        _stop_with_the_last_holder(home, pid)
        _say(report, READY)
        wait()
    except BlockingIOError:
        _say(report, BUSY)
    except EmbeddedFailed as error:
        _say(report, FAILED, str(error))
    except BaseException as error:  # noqa: BLE001 - a fork must not return into its parent's code
        _say(report, FAILED, cluster.sentence(home, repr(error)))
    finally:
        os._exit(0)


def _say(report: int, status: int, sentence: str = "") -> None:
    """Tell who started us, and let go of their terminal and pipes."""
    with suppress(BrokenPipeError):  # they may have lost patience, or been killed
        os.write(report, f"{status} {sentence}".encode())
    os.close(report)
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nothing, stream)


def _serve(home: Path, wheel: Path, *, is_safe: bool) -> tuple[int, Wait]:
    """Return a server that is ready, and a way to wait for its end."""
    owner = owner_of(home)
    install = within_reach(cluster.install_for(home, wheel), home, owner)
    while running := cluster.postmaster(home):
        if running.is_ready:
            cluster.ensure_roles(home, install, owner, socket_folder=running.socket_folder)
            return running.pid, lambda: _outlive(home, running.pid)
        time.sleep(0.02)
    cluster.create(home, install, owner, is_safe=is_safe)
    server = cluster.start(home, install, owner, is_safe=is_safe)
    if ready := cluster.postmaster(home):
        cluster.ensure_roles(home, install, owner, socket_folder=ready.socket_folder)
    return server.pid, server.wait


def _outlive(home: Path, pid: int) -> None:
    """Wait for the end of an adopted server, which is not our child."""
    while (running := cluster.postmaster(home)) and running.pid == pid:
        time.sleep(0.1)


def _stop_with_the_last_holder(home: Path, pid: int) -> None:
    def stop(number: int, frame: FrameType | None) -> None:
        signal.alarm(SOON)
        _send(pid, signal.SIGINT)

    def watch_holders() -> None:
        # The lock is never given back: whoever comes now waits until we are gone.
        fcntl.flock(os.open(home / "holders", os.O_RDONLY), fcntl.LOCK_EX)
        os.kill(os.getpid(), signal.SIGTERM)

    def stop_at_once(number: int, frame: FrameType | None) -> None:
        _send(pid, signal.SIGQUIT)

    signal.signal(signal.SIGALRM, stop_at_once)
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, stop)
    threading.Thread(target=watch_holders, daemon=True).start()


def _send(pid: int, number: signal.Signals) -> None:
    with suppress(ProcessLookupError):
        os.kill(pid, number)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), Path(sys.argv[2]), is_safe=sys.argv[3] == "on"))
