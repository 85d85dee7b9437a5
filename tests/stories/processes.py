"""Real processes for stories: the program's own commands, forked from one prepared server.

A fork server loads Django once, so a process lives within milliseconds and a story
can afford to kill a hundred of them.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from urllib.parse import quote

from django.db import connection

ROOT = Path(__file__).resolve().parents[2]


def database_url() -> str:
    """The test database, as a child process must be told."""
    given = connection.settings_dict
    params = connection.get_connection_params()
    host, port = params.get("host", ""), params.get("port") or 5432
    user = quote(str(params.get("user") or given["USER"]))
    if password := given["PASSWORD"]:
        user += f":{quote(password, safe='')}"
    return f"postgresql://{user}@/{params['dbname']}?host={quote(str(host), safe='')}&port={port}"


# The waits of seconds; the first story of a run starts the server for all of them.
ENVIRONMENT = {"SEND_LEASE_SECONDS": "2", "LOOK_AFTER_SECONDS": "1", "LOG_LEVEL": "ERROR"}


def serve_forks() -> None:
    """Make ready to start processes on the test database."""
    os.environ.update(DATABASE_URL=database_url(), DJANGO_SETTINGS_MODULE="config.settings")
    # The fork server looks for what it preloads on its own path.
    os.environ["PYTHONPATH"] = str(ROOT)
    os.environ.update(ENVIRONMENT)
    multiprocessing.set_forkserver_preload(["tests.stories.preload"])


def start(
    command: str, *arguments: str, target: Callable[[str, tuple[str, ...]], None] | None = None
) -> ForkServerProcess:
    """Run `manage.py command` in a process of its own, or `target`, which does so."""
    process = multiprocessing.get_context("forkserver").Process(
        target=target or run, args=(command, arguments)
    )
    process.start()
    return process


class Program(subprocess.Popen[bytes]):
    """`manage.py command` as a user starts it, for commands with children of their own."""

    def __init__(self, command: str, **environment: str) -> None:
        super().__init__(
            [sys.executable, "manage.py", command],
            cwd=ROOT,
            env={**os.environ, **environment},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )

    def is_alive(self) -> bool:
        return self.poll() is None

    def join(self, seconds: float) -> None:
        self.wait(seconds)


def run(command: str, arguments: tuple[str, ...]) -> None:
    from django.core.management import call_command

    os.setsid()  # so that a kill takes its children along
    with open(os.devnull, "w") as nowhere:
        call_command(command, *arguments, stdout=nowhere)


def kill(process: ForkServerProcess | Program) -> None:
    """SIGKILL to it and its children: no goodbye, no cleaning up."""
    if process.pid and process.is_alive():
        os.kill(process.pid, signal.SIGKILL)
        with suppress(ProcessLookupError):  # it may not have come as far as its own group
            os.killpg(process.pid, signal.SIGKILL)
    process.join(10)
