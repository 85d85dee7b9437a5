"""Django's `migrate`, as the owner of the tables; then the program's role may use them."""

from typing import Any

from django.core.management import CommandError
from django.core.management.commands import migrate
from django.db import connections
from psycopg.errors import InsufficientPrivilege

from config.postgres import roles
from config.postgres.base import DatabaseWrapper, as_owner


class Command(migrate.Command):
    def handle(self, *args: Any, **options: Any) -> None:
        program = connections[options["database"]].settings_dict
        with as_owner(options["database"]) as owner:
            super().handle(*args, **options)
            if program.get("OWNER") and not (options["plan"] or options["check_unapplied"]):
                let_program_in(owner, program["USER"], program["PASSWORD"])


def let_program_in(owner: DatabaseWrapper, role: str, password: str) -> None:
    """Grant the program's role what it needs. Create it where the owner may create roles."""
    owner.ensure_connection()
    server = owner.connection
    if password:  # encrypted here: a log of statements shows no password
        secret = server.pgconn.encrypt_password(password.encode(), role.encode(), b"scram-sha-256")
        password = secret.decode()
    try:
        server.execute(roles.create(role, password=password))
    except InsufficientPrivilege:
        raise CommandError(
            f"The role {role} of DATABASE_URL does not exist, and the role of DATABASE_OWNER_URL "
            f"may not create it: create it as an administrator (CREATE ROLE {role} LOGIN …), then "
            "migrate again."
        ) from None
    server.execute(roles.grant(role, str(owner.settings_dict["NAME"])))
