"""Run the whole program in one terminal: web, worker, watcher, sender, replier and agents."""

import http.client
import io
import os
import socket
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

from django.conf import settings
from django.contrib.auth import get_user_model
from django.core.management import BaseCommand, CommandError, CommandParser, call_command
from django.db import OperationalError, connections

from config.processes.supervisor import Process, Supervisor

MANAGE = [sys.executable, "manage.py"]
# Each process with the colour of its label.
PROCESSES = {
    "web": (36, [
        sys.executable, "-m", "config.processes.web", "--host={host}", "--port={port}",
    ]),
    "worker": (35, [*MANAGE, "qcluster"]),
    "watcher": (33, [*MANAGE, "watch"]),
    "sender": (32, [*MANAGE, "deliver"]),
    "replier": (34, [*MANAGE, "reply"]),
    # A process of its own, so that no reply waits for an exploration.
    "agents": (36, [*MANAGE, "activate", "--pool", "exploration"]),
}  # fmt: skip
PORTS_TO_TRY = 100


class Command(BaseCommand):
    help = "Set up the database, then run all processes until Ctrl-C."
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--host", default=settings.ENV.host, help="address of the web process")
        parser.add_argument(
            "--port", type=int, default=settings.ENV.port, help="port of the web process"
        )

    def handle(self, *, host: str, port: int, **options: Any) -> None:
        self.began = time.monotonic()
        self.has_colours = sys.stdout.isatty() and "NO_COLOR" not in os.environ
        with suppress(KeyboardInterrupt):  # it comes as one before the processes have started
            self.run(host, port)
        with suppress(OSError):  # the terminal may be gone
            self.stdout.write("All processes have stopped.")

    def run(self, host: str, port: int) -> None:
        password = self.prepare()
        free = free_port(host, port)
        if free != port:
            self.stdout.write(f"Port {port} is in use. Using port {free}.")
        self.banner(f"http://{shown(host, free)}/", password)
        self.at, self.is_ready = (host, free), False
        processes = [
            Process(name=name, command=[word.format(host=host, port=free) for word in command])
            for name, (_, command) in PROCESSES.items()
        ]
        # Output as it comes; in words, if a person reads it.
        readable = {"LOG_FORMAT": "text"} if sys.stdout.isatty() else {}
        environment = {**readable, **os.environ, "PYTHONUNBUFFERED": "1"}
        Supervisor(
            processes, self.say, environment, settings.BASE_DIR, meanwhile=self.tell_when_ready
        ).run()

    def prepare(self) -> str:
        """Bring the database up to date; return the first operator's password if it is new."""
        try:
            call_command("migrate", interactive=False, verbosity=0)
        except OperationalError as error:
            raise CommandError(f"The database cannot be used: {error}") from error
        # Static files come from where they lie, yet whitenoise warns of an absent root.
        Path(settings.STATIC_ROOT).mkdir(parents=True, exist_ok=True)
        call_command("sync_schedules", stdout=io.StringIO())
        password = call_command("first_operator", stdout=io.StringIO())
        call_command("demo", "--if-empty")
        connections.close_all()
        return password or ""

    def banner(self, address: str, password: str) -> None:
        operator = get_user_model().objects.order_by("pk").first()
        name = operator.get_username() if operator else "none yet"
        connections.close_all()
        known = "unchanged (to reset it: manage.py changepassword)"
        self.stdout.write(
            f"\n  Colloquy   {address}\n  operator   {name}\n"
            f"  password   {password or known}\n  Press Ctrl-C to stop.\n\n"
        )
        self.stdout.flush()

    def tell_when_ready(self) -> None:
        if not self.is_ready and answers(*self.at):
            self.is_ready = True
            self.say("web", f"ready after {time.monotonic() - self.began:.1f} s")

    def say(self, name: str, line: str) -> None:
        label = f"{name:<8}|"
        if self.has_colours:
            label = f"\033[{PROCESSES[name][0]}m{label}\033[0m"
        self.stdout.write(f"{label} {line}")
        self.stdout.flush()


def shown(host: str, port: int) -> str:
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def free_port(host: str, wanted: int) -> int:
    """Return the wanted port, or the next that nobody listens on."""
    for port in range(wanted, min(wanted + PORTS_TO_TRY, 65536)):
        if is_free(host, port):
            return port
    raise CommandError(f"No free port from {wanted} up on {host}. Choose one with --port.")


def is_free(host: str, port: int) -> bool:
    try:
        family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    except socket.gaierror as error:
        raise CommandError(f"The host {host} is not an address of this machine.") from error
    with socket.socket(family) as taken:
        taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            taken.bind(address)
        except PermissionError as error:
            raise CommandError(f"Port {port} needs root rights. Choose one above 1023.") from error
        except OSError:
            return False
    return True


def answers(host: str, port: int) -> bool:
    """Whether the program itself answers, not only its port."""
    everywhere = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104 - only read here
    connection = http.client.HTTPConnection(everywhere.get(host, host), port, timeout=0.5)
    try:
        connection.request("GET", "/healthz")
        return connection.getresponse().status < 500
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()
