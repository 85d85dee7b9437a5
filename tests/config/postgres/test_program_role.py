"""What the program's role of the database may do, and what it may not, on a migrated database."""

from __future__ import annotations

from contextlib import suppress

import pytest
from django.core.management import CommandError, call_command
from django.db import ProgrammingError, connection, transaction

from config.management.commands.migrate import let_program_in
from surfaces.audit.models import AuditEvent
from tests import truncate

pytestmark = [pytest.mark.django_db, pytest.mark.engine]

FORBIDDEN = {
    "switch a trigger off": "ALTER TABLE surfaces_auditevent DISABLE TRIGGER audit_is_append_only",
    "silence all triggers": "SET session_replication_role = replica",
    "change an entry": "UPDATE surfaces_auditevent SET actor = 'nobody'",
    "delete an entry": "DELETE FROM surfaces_auditevent",
    "empty the audit log": "TRUNCATE surfaces_auditevent",
    "set the audit log's ids back":
        "SELECT setval(pg_get_serial_sequence('surfaces_auditevent', 'id'), 1)",
    "empty a table": "TRUNCATE django_session",
    "drop a table": "DROP TABLE django_session",
    "add a column": "ALTER TABLE messages ADD COLUMN extra text",
    "replace a trigger function":
        "CREATE OR REPLACE FUNCTION colloquy_refuse_audit_change() RETURNS trigger"
        " LANGUAGE plpgsql AS $$ BEGIN RETURN NEW; END $$",
    "create a table": "CREATE TABLE extra (id int)",
    "create a function": "CREATE FUNCTION extra() RETURNS int LANGUAGE sql AS 'SELECT 1'",
    "create a role": "CREATE ROLE extra",
    "pretend to have migrated": "INSERT INTO django_migrations (app, name, applied)"
        " VALUES ('surfaces', 'x', now())",
}  # fmt: skip


def program_sql(sql: str) -> list[tuple]:
    with connection.cursor() as cursor:
        cursor.execute(sql)
        return cursor.fetchall() if cursor.description else []


@pytest.mark.parametrize("act", FORBIDDEN)
def test_the_program_may_not(act: str):
    refused = pytest.raises(ProgrammingError, match=r"permission denied|must be owner")
    with refused, transaction.atomic():
        program_sql(FORBIDDEN[act])


def test_the_program_is_no_superuser_and_owns_nothing():
    assert program_sql(
        "SELECT rolsuper, rolcreaterole, rolcreatedb, rolreplication, rolbypassrls"
        " FROM pg_roles WHERE rolname = current_user"
    ) == [(False,) * 5]
    assert program_sql(
        "SELECT relname FROM pg_class"
        " WHERE relowner = current_user::regrole AND relpersistence <> 't'"
    ) == []  # fmt: skip


def test_the_program_adds_to_the_audit_log_and_reads_it():
    AuditEvent.objects.record("test.act", actor="operator:mira", subject="")
    assert AuditEvent.objects.filter(action="test.act").count() == 1


def test_the_program_may_use_temporary_tables_copy_locks_and_notices():
    with connection.cursor() as cursor:
        cursor.execute("CREATE TEMPORARY TABLE arrived (id int) ON COMMIT DELETE ROWS")
        with cursor.copy("COPY arrived FROM STDIN") as stream:
            stream.write_row([1])
        cursor.execute("SELECT pg_try_advisory_lock(1), pg_advisory_unlock(1)")
        cursor.execute("LISTEN colloquy; NOTIFY colloquy; UNLISTEN colloquy")


@pytest.mark.django_db(transaction=True)
def test_a_table_that_a_later_version_adds_can_be_used():
    with truncate.owner().cursor() as cursor:
        cursor.execute("CREATE TABLE later_table (id bigserial PRIMARY KEY, words text)")
        try:
            program_sql("INSERT INTO later_table (words) VALUES ('a')")
            assert program_sql("SELECT words FROM later_table") == [("a",)]
        finally:
            cursor.execute("DROP TABLE later_table")


@pytest.mark.django_db(transaction=True)
def test_migrating_again_changes_nothing_for_the_program():
    call_command("migrate", interactive=False, verbosity=0)
    test_the_program_may_not("change an entry")
    test_the_program_is_no_superuser_and_owns_nothing()


@pytest.mark.django_db(transaction=True)
def test_migrating_creates_the_role_that_database_url_names():
    owner = truncate.owner()
    name = "colloquy_test_created"
    try:
        let_program_in(owner, name, "a'b")
        with owner.cursor() as cursor:
            cursor.execute(
                "SELECT rolcanlogin, rolsuper, has_table_privilege(rolname, 'messages', 'INSERT'),"
                " has_table_privilege(rolname, 'surfaces_auditevent', 'UPDATE')"
                " FROM pg_roles WHERE rolname = %s", [name]
            )  # fmt: skip
            assert cursor.fetchone() == (True, False, True, False)
    finally:
        drop(name)


@pytest.mark.django_db(transaction=True)
def test_an_owner_that_may_not_create_roles_is_told_in_one_sentence():
    owner = truncate.owner()
    with owner.cursor() as cursor:
        cursor.execute("CREATE ROLE colloquy_test_weak; SET ROLE colloquy_test_weak")
        try:
            with pytest.raises(CommandError, match="create it as an administrator"):
                let_program_in(owner, "colloquy_test_absent", "")
        finally:
            cursor.execute("RESET ROLE; DROP ROLE colloquy_test_weak")


def drop(role: str) -> None:
    with suppress(ProgrammingError), truncate.owner().cursor() as cursor:
        cursor.execute(f"DROP OWNED BY {role}; DROP ROLE {role}")
