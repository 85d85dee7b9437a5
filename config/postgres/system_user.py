"""Name the system user who runs the database server, and bring its files within reach.

PostgreSQL refuses to run as root. Started by root, it runs as a user of its
own, who can enter neither root's home nor a private checkout. What it cannot
reach is copied to where it can; nobody's permissions are widened.
"""

import os
import pwd
import shutil
import stat
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

LOGIN = "colloquy-pg"
# Nothing of ours: PGPORT and the like would change the server, secrets do not concern it.
ENVIRONMENT = {"PATH": os.defpath, "LC_ALL": "C.UTF-8"}
Words = Sequence[str | Path]


class EmbeddedFailed(Exception):
    """The embedded server cannot be used. The message is one sentence saying what to do."""


@dataclass(frozen=True, slots=True)
class SystemUser:
    """Who runs the server. Without a uid: we ourselves."""

    uid: int | None = None
    gid: int | None = None

    def run(self, command: Words, said: str = "") -> subprocess.CompletedProcess[str]:
        """Run a program to its end; `stdout` holds all it said."""
        told: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
        return subprocess.run(
            command, input=said, encoding="utf-8", errors="replace", **told, **self._as_them()
        )

    def start(self, command: Words, *, log: int) -> subprocess.Popen[bytes]:
        """Start a program in a session of its own."""
        streams: dict[str, Any] = {"stdin": subprocess.DEVNULL, "stdout": log, "stderr": log}
        return subprocess.Popen(command, start_new_session=True, **streams, **self._as_them())

    def _as_them(self) -> dict[str, Any]:
        them: dict[str, Any] = {"user": self.uid, "group": self.gid, "extra_groups": []}
        return {"env": ENVIRONMENT, **({} if self.uid is None else them)}

    def takes(self, path: Path) -> None:
        """Give them a file or an empty folder."""
        if self.uid is not None and self.gid is not None:
            os.chown(path, self.uid, self.gid)

    def has_private(self, folder: Path) -> bool:
        """Whether a folder is theirs and nobody else can enter it."""
        found = folder.lstat()
        theirs = os.geteuid() if self.uid is None else self.uid
        return stat.S_ISDIR(found.st_mode) and found.st_uid == theirs and not found.st_mode & 0o077

    def can_enter(self, folder: Path) -> bool:
        return self.uid is None or self.run(["/bin/sh", "-c", 'cd "$0"', folder]).returncode == 0

    def can_run(self, program: Path) -> bool:
        try:
            return self.run([program, "--version"]).returncode == 0
        except PermissionError:
            return False


def owner_of(home: Path) -> SystemUser:
    """Return who runs the server of `home`: us, or for root whoever owns the files."""
    if os.geteuid() != 0:
        return SystemUser()
    for path in (home / "cluster", home):
        if path.exists() and path.stat().st_uid != 0:
            return SystemUser(path.stat().st_uid, path.stat().st_gid)
    return root_stand_in()


def root_stand_in() -> SystemUser:
    """Return the user who runs servers for root, and make it if need be."""
    try:
        found = pwd.getpwnam(LOGIN)
    except KeyError:
        no_login = ["--no-create-home", "--home-dir=/nonexistent", "--shell=/usr/sbin/nologin"]
        command = ["useradd", "--system", "--user-group", *no_login, LOGIN]
        try:
            subprocess.run(command, capture_output=True, check=False)
            found = pwd.getpwnam(LOGIN)
        except (OSError, KeyError):
            raise EmbeddedFailed(
                f"PostgreSQL does not run as root, and the user {LOGIN} could not be made: "
                "make that user, or start as an ordinary one."
            ) from None
    return SystemUser(found.pw_uid, found.pw_gid)


def within_reach(install: Path, home: Path, owner: SystemUser) -> Path:
    """Return an install that the owner can run: the wheel's, or a copy of it in `home`."""
    server = install / "bin" / "postgres"
    if owner.can_run(server):
        return install
    version = subprocess.run([server, "--version"], capture_output=True, text=True, check=True)
    copy = home / f"postgresql-{version.stdout.split()[-1]}"
    if not copy.exists():
        _copy(install, fresh := Path(tempfile.mkdtemp(prefix="new-", dir=home)))
        fresh.rename(copy)
    return copy / install.parent.name / install.name


def _copy(install: Path, to: Path) -> None:
    """Copy an install with its libraries, which it finds by a relative path."""
    package = install.parent
    libraries = f"{package.name}.libs"
    shutil.copytree(install, to / package.name / install.name)
    shutil.copytree(package.with_name(libraries), to / libraries)
    for path in (to, *to.rglob("*")):  # open to read
        if not path.is_symlink():
            is_program = path.is_dir() or path.stat().st_mode & 0o100
            path.chmod(0o755 if is_program else 0o644)
