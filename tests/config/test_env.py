"""Every variable is typed, bounded, documented, and wrong ones are named in one sentence."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from config.env import BASE, Env, WrongValue, dotenv, read


def test_without_anything_the_defaults_are_cautious():
    env = read({})
    assert (env.debug, env.host) == (False, "127.0.0.1")


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"PORT": "eighty"}, "PORT is 'eighty'; it must be a whole number, 1 to 65535."),
        ({"PORT": "0"}, "1 to 65535"),
        ({"DEBUG": "maybe"}, "DEBUG is 'maybe'; it must be on or off."),
        ({"LOG_LEVEL": "LOUD"}, "one of DEBUG, INFO"),
        ({"COLLOQUY_URL": "desk.example.org"}, "https://desk.example.org"),
        ({"SECRET_KEY_FILE": "/nowhere/at/all"}, "cannot be read"),
    ],
)
def test_a_wrong_value_is_named_in_one_sentence(given: dict[str, str], says: str):
    with pytest.raises(WrongValue, match=re.escape(says)) as wrong:
        read(given)
    assert "\n" not in str(wrong.value)


def test_a_secret_may_come_from_a_file(tmp_path: Path):
    path = tmp_path / "key"
    path.write_text("very secret\n")
    assert read({"SECRET_KEY_FILE": str(path)}).secret_key == "very secret"


def test_lists_are_split_at_commas():
    assert read({"ALLOWED_HOSTS": "a.org, b.org,"}).allowed_hosts == ("a.org", "b.org")


def test_the_example_lists_every_variable_and_no_other():
    lines = (BASE / ".env.example").read_text().splitlines()
    named = {found[1].lower() for line in lines if (found := re.match(r"#?([A-Z_]+)=", line))}
    assert named == set(Env.__dataclass_fields__)


def test_nothing_else_reads_the_environment():
    allowed = {"env.py", "bootstrap.py", "supervisor.py", "keeper.py", "cluster.py", "url.py",
               "embedded.py", "keys.py", "manage.py", "wsgi.py", "asgi.py",
               "system_user.py", "run.py", "translations.py"}  # fmt: skip
    for folder in ("config", "surfaces"):
        for path in (BASE / folder).rglob("*.py"):
            if path.name in allowed or path.name == "connect.py":  # it is told a variable's name
                continue
            assert "os.environ" not in path.read_text(), path


def test_a_dotenv_line_that_is_none_is_named(tmp_path: Path):
    path = tmp_path / ".env"
    path.write_text("# fine\nPORT=9000\nnonsense\n")
    with pytest.raises(WrongValue, match="line 3"):
        dotenv(path)


@pytest.mark.parametrize(
    "given", [{"PORT": "x"}, {"DATABASE_URL": "mysql://nope"}, {"DATABASE_URL": "postgresql://%%%"}]
)
def test_the_program_stops_with_that_sentence(given: dict[str, str]):
    done = subprocess.run(
        [sys.executable, "manage.py", "check"],
        cwd=BASE, env={**os.environ, **given}, capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    assert done.returncode != 0
    assert done.stderr.startswith("Colloquy cannot start: ")
    assert len(done.stderr.strip().splitlines()) == 1
