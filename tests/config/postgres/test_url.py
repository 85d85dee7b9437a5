import subprocess
import sys
from pathlib import Path

import pytest

from config.postgres.url import database

ROOT = Path(__file__).resolve().parents[3]
DATA = Path("/data")


def test_without_a_url_the_server_is_our_own():
    ours = database(None, DATA)
    assert ours["EMBEDDED"] == {"DATA": DATA, "IS_SAFE": True}
    assert database("", DATA) == ours


def test_a_url_is_read_as_postgresql_reads_it():
    theirs = database(
        "postgresql://ann:p%40ss%2Fword@db.example.org:5433/desk?sslmode=require", DATA
    )
    wanted = {
        "USER": "ann",
        "PASSWORD": "p@ss/word",
        "HOST": "db.example.org",
        "PORT": "5433",
        "NAME": "desk",
    }
    assert {name: theirs[name] for name in wanted} == wanted
    assert theirs["OPTIONS"]["sslmode"] == "require"
    assert "EMBEDDED" not in theirs


def test_a_url_may_name_a_socket():
    assert database("postgres:///desk?host=/run/postgresql", DATA)["HOST"] == "/run/postgresql"


@pytest.mark.parametrize("url", [None, "postgresql://db/desk"])
def test_connections_are_kept_checked_and_given_up_when_the_other_side_is_gone(url: str | None):
    settings = database(url, DATA)
    assert settings["CONN_MAX_AGE"] is None
    assert settings["CONN_HEALTH_CHECKS"]
    assert settings["OPTIONS"]["keepalives_idle"] == 30
    assert settings["OPTIONS"]["application_name"] == "colloquy"


def test_what_the_url_says_wins():
    assert database("postgres://db/desk?connect_timeout=3", DATA)["OPTIONS"]["connect_timeout"] == (
        "3"
    )


@pytest.mark.parametrize(
    ("url", "complaint"),
    [
        ("mysql://db/desk", "must begin with postgresql://"),
        ("postgres://ann:secret@db", "names no database"),
        ("postgres://ann:sec/ret@db/desk", "names a port that is not a number"),
        ("postgres://ann:secret@db:0/desk", "names a port that is not a number"),
        ("postgres://ann:secret%zz@db/desk", "cannot be read"),
        ("postgres://ann:secret@db/desk?colour=red", "cannot be read"),
    ],
)
def test_a_wrong_url_is_refused_in_one_sentence_without_its_password(url: str, complaint: str):
    with pytest.raises(ValueError, match=complaint) as refusal:
        database(url, DATA)
    sentence = str(refusal.value)
    assert sentence.startswith("DATABASE_URL")
    assert sentence.endswith(".")
    assert "sec" not in sentence


def test_the_embedded_server_has_an_owner_and_a_role_for_the_program():
    ours = database(None, DATA)
    assert (ours["USER"], ours["OWNER"]) == ("colloquy_app", {"USER": "colloquy"})


def test_an_owner_is_named_by_a_url_of_its_own():
    theirs = database(
        "postgresql://app:one@pooler:6432/desk",
        DATA,
        owner_url="postgresql://ann:two@db:5433/desk?sslmode=require",
    )
    assert (theirs["USER"], theirs["PASSWORD"], theirs["HOST"]) == ("app", "one", "pooler")
    owner = theirs["OWNER"]
    assert (owner["USER"], owner["PASSWORD"], owner["HOST"]) == ("ann", "two", "db")
    assert owner["OPTIONS"]["sslmode"] == "require"
    assert "sslmode" not in theirs["OPTIONS"]


def test_one_role_may_do_everything_on_a_server_of_yours():
    assert database("postgresql://ann@db/desk", DATA)["OWNER"] == {}


@pytest.mark.parametrize(
    ("url", "owner_url", "complaint"),
    [
        ("", "postgresql://ann:secret@db/desk", "DATABASE_URL is not: set both or none"),
        ("postgresql://app@db/desk", "mysql://ann:secret@db/desk", "OWNER_URL must begin with"),
        ("postgresql://app@db/desk", "postgresql://ann:secret@db/other", "name the same database"),
        ("postgresql://db/desk", "postgresql://ann:secret@db/desk", "must name the program's role"),
    ],
)
def test_two_urls_that_do_not_fit_are_refused_in_one_sentence(
    url: str, owner_url: str, complaint: str
):
    with pytest.raises(ValueError, match=complaint) as refusal:
        database(url, DATA, owner_url=owner_url)
    assert "secret" not in str(refusal.value)


def django(data: Path, *code: str) -> subprocess.CompletedProcess[str]:
    """Run Django on an embedded server in `data`, apart from the project's own settings."""
    lines = [
        "from pathlib import Path",
        "import django",
        "from django.conf import settings",
        "from django.db import connection, OperationalError",
        "from config.postgres.url import database",
        f"settings.configure(DATABASES={{'default': database(None, Path({str(data)!r}))}})",
        "django.setup()",
        *code,
    ]
    command = [sys.executable, "-c", "\n".join(lines)]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


def test_commands_that_need_no_database_start_none(tmp_path: Path):
    done = django(
        tmp_path / "data", "from django.core.management import call_command as c; c('check')"
    )
    assert done.returncode == 0, done.stderr
    assert not (tmp_path / "data").exists()


def test_a_server_that_cannot_start_is_djangos_own_kind_of_error():
    asked = ["try: connection.ensure_connection()", "except OperationalError as e: print(e)"]
    done = django(Path("/proc/nowhere"), *asked)
    assert "/proc/nowhere cannot be used" in done.stdout, done.stderr
