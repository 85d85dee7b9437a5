"""The SQL of the two database roles. Standard library only: the keeper runs it.

The owner owns the tables and migrates them. The program's role owns nothing: it reads and writes
rows, and can neither change a table nor switch a trigger off.
"""

PROGRAM = "colloquy_app"  # the program's role on the embedded server

# The audit log: rows are added and read.
APPEND_ONLY = "surfaces_auditevent"
# What `migrate` keeps, as the owner.
READ_ONLY = "django_migrations"

CREATE = """
DO $create$ BEGIN
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = {name}) THEN
        CREATE ROLE {role} LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION {password};
    END IF;
EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL;  -- another process was faster
END $create$;
"""
GRANT = """
BEGIN;
SELECT pg_advisory_xact_lock(hashtext('colloquy grants'));
GRANT CONNECT, TEMPORARY ON DATABASE {database} TO {role};
REVOKE CREATE ON SCHEMA public FROM PUBLIC;
GRANT USAGE ON SCHEMA public TO {role};
GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO {role};
GRANT USAGE, SELECT, UPDATE ON ALL SEQUENCES IN SCHEMA public TO {role};
ALTER DEFAULT PRIVILEGES IN SCHEMA public GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO {role};
ALTER DEFAULT PRIVILEGES IN SCHEMA public GRANT USAGE, SELECT, UPDATE ON SEQUENCES TO {role};
DO $revoke$ BEGIN
    IF to_regclass('public.{append_only}') IS NOT NULL THEN
        REVOKE UPDATE, DELETE ON public.{append_only} FROM {role};
        -- Its ids are only counted up: one set back would let no further event in.
        EXECUTE format(
            'REVOKE UPDATE ON SEQUENCE %s FROM %I',
            pg_get_serial_sequence('public.{append_only}', 'id'), {name}
        );
    END IF;
    IF to_regclass('public.{read_only}') IS NOT NULL THEN
        REVOKE INSERT, UPDATE, DELETE ON public.{read_only} FROM {role};
    END IF;
END $revoke$;
COMMIT;
"""


def create(role: str, *, password: str = "") -> str:
    """Return SQL that makes the program's role, if there is none of this name."""
    secret = f"PASSWORD {_literal(password)}" if password else ""
    return CREATE.format(name=_literal(role), role=_identifier(role), password=secret)


def grant(role: str, database: str) -> str:
    """Return SQL that lets a role use all tables of the owner who runs it, later ones too."""
    return GRANT.format(
        role=_identifier(role),
        name=_literal(role),
        database=_identifier(database),
        append_only=APPEND_ONLY,
        read_only=READ_ONLY,
    )


def _identifier(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
