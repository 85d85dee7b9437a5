"""Keys that nobody gave us: made once, readable by us alone, changed while we run."""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
from cryptography.fernet import Fernet
from django.core.management import call_command

from config import keys as config_keys
from config.env import BASE
from surfaces.models import Account
from tests.factories import make_account


@pytest.mark.parametrize("name", ["secret_key", "credential_keys"])
def test_a_key_is_made_once_and_only_we_may_read_it(tmp_path: Path, name: str):
    def key() -> Any:
        made = getattr(config_keys, name)("" if name == "secret_key" else (), tmp_path)
        return made

    first = key()
    assert first
    assert key() == first
    assert [path.name for path in tmp_path.iterdir()] == [name]
    assert (tmp_path / name).stat().st_mode & 0o777 == 0o600


def test_a_given_key_is_used_and_nothing_is_written(tmp_path: Path):
    assert config_keys.secret_key("given", tmp_path / "data") == "given"
    assert config_keys.credential_keys(("a", "b"), tmp_path / "data") == ["a", "b"]
    assert not (tmp_path / "data").exists()


def test_of_two_first_starts_one_key_wins_for_both(tmp_path: Path):
    ask = "import sys; from config import keys; from pathlib import Path;"
    ask += "print(*keys.credential_keys((), Path(sys.argv[1])))"
    words = [sys.executable, "-c", ask, str(tmp_path)]
    starts = [subprocess.Popen(words, cwd=BASE, stdout=subprocess.PIPE) for _ in range(6)]
    assert len({start.communicate()[0] for start in starts}) == 1


@pytest.fixture
def keys(settings: Any, tmp_path: Path) -> Path:
    settings.DATA_DIR = tmp_path
    settings.READ_CREDENTIAL_KEYS = lambda: config_keys.credential_keys((), tmp_path)
    return tmp_path / "credential_keys"


@pytest.mark.django_db
def test_rotated_keys_are_as_private_as_the_first(keys: Path):
    make_account(token="moltbook_sk_secret")
    call_command("rotate_keys", "--new", "--forget")
    assert keys.stat().st_mode & 0o777 == 0o600
    assert [path.name for path in keys.parent.iterdir()] == ["credential_keys"]


@pytest.mark.django_db
def test_a_running_process_reads_what_was_sealed_with_a_newer_key(keys: Path):
    make_account(token="moltbook_sk_secret")
    read_before = Account.objects.get()
    call_command("rotate_keys", "--new")
    assert read_before.credential == "moltbook_sk_secret"
    assert Account.objects.get().credential == "moltbook_sk_secret"


@pytest.mark.django_db
def test_a_row_read_before_the_old_key_was_dropped_is_read_again(keys: Path):
    make_account(token="moltbook_sk_secret")
    read_before = Account.objects.get()
    call_command("rotate_keys", "--new", "--forget")
    assert read_before.credential == "moltbook_sk_secret"


@pytest.mark.django_db(transaction=True)
def test_reading_while_keys_are_rotated_never_fails(keys: Path):
    from django.db import connection

    account = make_account(token="moltbook_sk_secret")
    done, wrong = threading.Event(), []

    def read() -> None:
        try:
            while not done.is_set():
                found = Account.objects.get(pk=account.pk).credential
                if found != "moltbook_sk_secret":
                    wrong.append(found)
        finally:
            connection.close()

    thread = threading.Thread(target=read)
    thread.start()
    try:
        for _ in range(5):
            call_command("rotate_keys", "--new", "--forget")
    finally:
        done.set()
        thread.join()
    assert wrong == []
    assert len(keys.read_text().split()) == 1
    assert Fernet(keys.read_text().strip())
