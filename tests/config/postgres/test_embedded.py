"""Real servers, real processes, real kills."""

import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import psutil
import psycopg
import pytest

from config.postgres import cluster, embedded
from config.postgres.system_user import EmbeddedFailed
from tests.config.postgres.holders import (
    Holder,
    clean,
    eventually,
    keepers,
    kill,
    servers,
    started_with,
)

is_root = os.geteuid() == 0


def test_two_processes_share_one_server_and_it_stops_with_the_last(data: Path):
    first, second = Holder(data), Holder(data)
    assert first.host == second.host
    assert len(servers(data / "pg")) == 1

    first.leave()
    assert second.query("SELECT 1") == "1"

    second.leave()
    assert eventually(lambda: not servers(data / "pg") and not keepers(data / "pg"))


def test_many_first_starts_at_once_make_one_server(data: Path):
    holders = [Holder(data, waits=False) for _ in range(6)]
    assert len({holder.line() for holder in holders}) == 1
    assert len(servers(data / "pg")) == len(keepers(data / "pg")) == 1
    assert [holder.leave() for holder in holders] == [""] * 6
    assert eventually(lambda: not servers(data / "pg"))


def test_a_killed_holder_does_not_keep_the_server(data: Path):
    killed, other = Holder(data), Holder(data)
    killed.kill()
    assert other.query("SELECT 1") == "1"
    other.leave()
    assert eventually(lambda: not servers(data / "pg"))


def test_a_fork_keeps_the_server_that_its_parent_joined(data: Path):
    holder = Holder(data)
    holder.say("fork")
    fork = psutil.Process(holder.process.pid).children()[0]
    holder.leave()
    time.sleep(0.3)
    assert holder.query("SELECT 1") == "1"

    fork.kill()
    assert eventually(lambda: not servers(data / "pg"))


def test_a_killed_keeper_is_replaced_by_the_next_to_join(data: Path):
    first = Holder(data)
    before = servers(data / "pg")
    kill(keepers(data / "pg"))

    second = Holder(data)
    assert servers(data / "pg") == before, "the server itself goes on"
    assert len(keepers(data / "pg")) == 1

    first.kill()
    second.kill()
    assert eventually(lambda: not servers(data / "pg"))


def test_who_leaves_last_has_the_server_stopped_even_if_its_keeper_was_killed(data: Path):
    holder = Holder(data)
    kill(keepers(data / "pg"))
    holder.leave()
    assert eventually(lambda: not servers(data / "pg") and not keepers(data / "pg"))


def test_a_killed_server_comes_back_for_the_next_connection_with_its_data(data: Path):
    holder = Holder(data, safe=True)
    holder.query("CREATE TABLE kept AS SELECT 42 AS answer")
    kill(servers(data / "pg"))

    holder.say("again")
    assert holder.query("SELECT answer FROM kept") == "42"

    kill(servers(data / "pg"))
    newcomer = Holder(data)
    assert newcomer.query("SELECT answer FROM kept") == "42"
    holder.leave(), newcomer.leave()


def test_the_program_has_a_role_that_is_no_superuser(data: Path):
    holder = Holder(data)
    asks = "SELECT current_user || ' ' || current_setting('is_superuser')"
    assert holder.query(asks, user="colloquy_app") == "colloquy_app off"
    holder.query("CREATE TABLE made_later AS SELECT 42 AS answer")
    assert holder.query("SELECT answer FROM made_later", user="colloquy_app") == "42"
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        holder.query("DROP TABLE made_later", user="colloquy_app")
    holder.leave()


def test_a_data_folder_of_the_version_with_one_role_gets_the_second(data: Path):
    holder = Holder(data)
    holder.query("DROP OWNED BY colloquy_app; DROP ROLE colloquy_app")
    holder.query("CREATE TABLE kept AS SELECT 42 AS answer")
    holder.query("CREATE TABLE surfaces_auditevent (id bigserial, actor text)")
    holder.query("INSERT INTO surfaces_auditevent (actor) VALUES ('a')")
    holder.leave()
    assert eventually(lambda: not servers(data / "pg") and not keepers(data / "pg"))

    newcomer = Holder(data)
    assert newcomer.query("UPDATE kept SET answer = 43 RETURNING answer", user="colloquy_app")
    assert newcomer.query("SELECT actor FROM surfaces_auditevent", user="colloquy_app") == "a"
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        newcomer.query("DELETE FROM surfaces_auditevent", user="colloquy_app")
    newcomer.leave()


def test_a_server_whose_keeper_died_before_it_made_the_roles_gets_them(data: Path):
    first = Holder(data)
    kill(keepers(data / "pg"))
    first.query("DROP OWNED BY colloquy_app; DROP ROLE colloquy_app")
    second = Holder(data)
    assert second.query("SELECT 1", user="colloquy_app") == "1"
    first.leave(), second.leave()


def test_a_server_comes_back_after_everything_was_killed(data: Path):
    """And though its file of pids names a process that is somebody else by now."""
    holder = Holder(data)
    holder.query("CREATE TABLE kept AS SELECT 42 AS answer")
    server = servers(data / "pg")[0]
    kill([*keepers(data / "pg"), server])
    holder.kill()
    pidfile = data / "pg" / "cluster" / "postmaster.pid"
    somebody = {"user": pidfile.stat().st_uid} if is_root else {}
    with subprocess.Popen(["sleep", "600"], **somebody) as stranger:
        pidfile.write_text(pidfile.read_text().replace(str(server), str(stranger.pid), 1))
        newcomer = Holder(data)
        stranger.kill()

    assert newcomer.query("SELECT answer FROM kept") == "42"
    newcomer.leave()


def test_an_empty_file_of_pids_does_not_keep_the_server_from_starting(data: Path):
    Holder(data).leave()
    assert eventually(lambda: not keepers(data / "pg"))
    (data / "pg" / "cluster" / "postmaster.pid").touch()
    holder = Holder(data)
    assert holder.query("SELECT 1") == "1"
    holder.leave()


def test_a_first_start_that_was_killed_halfway_is_begun_anew(data: Path):
    halfway = Holder(data, waits=False)
    assert eventually(lambda: [*data.glob("pg/new-*/base")])
    kill([*keepers(data / "pg"), *started_with(f"initdb -D {data}/pg/new-")])
    halfway.kill()
    assert not (data / "pg" / "cluster").exists()

    holder = Holder(data)
    assert holder.query("SELECT 1") == "1"
    assert not [*data.glob("pg/new-*")]
    holder.leave()


def test_a_server_is_private_careful_and_speaks_unicode(data: Path):
    holder = Holder(data, safe=True)
    show = {
        name: holder.query(f"SHOW {name}")
        for name in ("listen_addresses", "fsync", "server_encoding", "timezone", "max_connections")
    }
    assert show == {
        "listen_addresses": "",
        "fsync": "on",
        "server_encoding": "UTF8",
        "timezone": "UTC",
        "max_connections": "200",
    }
    assert holder.query("SELECT lower('ÄÖÜ МИР')") == "äöü мир"
    assert Path(holder.host).stat().st_mode & 0o077 == 0
    holder.leave()


def test_a_path_too_long_for_a_socket_is_no_obstacle(data: Path):
    deep = data / ("long" * 25)
    deep.mkdir()
    holder = Holder(deep)
    assert holder.query("SELECT 1") == "1"
    assert Path(holder.host).stat().st_mode & 0o077 == 0
    holder.leave()
    assert eventually(lambda: not servers(deep / "pg"))
    shutil.rmtree(holder.host)


@pytest.mark.skipif(not is_root, reason="only root's server runs as somebody else")
def test_a_server_of_root_lives_elsewhere_if_it_cannot_enter_the_data_folder(data: Path):
    data.chmod(0o700)
    holder = Holder(data)
    elsewhere = (data / "pg").resolve()
    assert elsewhere.parent == embedded.OUT_OF_REACH
    assert holder.query("SELECT 1") == "1"
    assert data.stat().st_mode & 0o777 == 0o700, "nobody's permissions are widened"
    assert str(elsewhere) in holder.leave()
    assert eventually(lambda: not servers(elsewhere))


@pytest.fixture
def small_disk(data: Path) -> Iterator[Path]:
    disk = data / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=20m,mode=755", "tmpfs", str(disk)]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("a disk can only be filled where we may mount one: as root, with CAP_SYS_ADMIN")
    yield disk
    clean(disk)
    subprocess.run(["umount", "--lazy", str(disk)], check=True)


def fill(path: Path) -> None:
    with suppress(OSError), path.open("wb", buffering=0) as ballast:
        while ballast.write(bytes(4096)):
            pass


def test_a_full_disk_is_said_in_one_sentence_and_harms_nothing(small_disk: Path):
    said = Holder(small_disk).leave()
    assert "is full" in said
    assert "free some space" in said
    assert "\n" not in said

    subprocess.run(["mount", "-o", "remount,size=150m", str(small_disk)], check=True)
    holder = Holder(small_disk)
    holder.query("CREATE TABLE kept AS SELECT 42 AS answer")
    holder.leave()
    assert eventually(lambda: not keepers(small_disk / "pg"))

    fill(small_disk / "ballast")
    assert "is full" in Holder(small_disk).leave()

    (small_disk / "ballast").unlink()
    holder = Holder(small_disk)
    assert holder.query("SELECT answer FROM kept") == "42"
    holder.leave()


def test_a_cluster_of_another_version_is_named_in_one_sentence(data: Path):
    Holder(data).leave()
    assert eventually(lambda: not keepers(data / "pg"))
    (data / "pg" / "cluster" / "PG_VERSION").write_text("12\n")
    said = Holder(data).leave()
    assert "was made by PostgreSQL 12" in said
    assert "\n" not in said


def test_a_folder_that_cannot_be_written_is_named_in_one_sentence(data: Path):
    said = Holder(Path("/proc/nowhere")).leave()
    assert "/proc/nowhere cannot be used" in said
    assert "DATABASE_URL" in said
    assert "\n" not in said


def test_missing_programs_are_named_in_one_sentence(tmp_path: Path):
    with pytest.raises(EmbeddedFailed, match="PostgreSQL programs are missing"):
        cluster.installs(tmp_path)
