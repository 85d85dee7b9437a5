"""Django's PostgreSQL backend: it starts the embedded server, and connects as the program's role.

Who migrates, or makes and drops a test database, connects as the owner: `as_owner`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, cast

from django.db import DEFAULT_DB_ALIAS, OperationalError, connections
from django.db.backends.postgresql import base, client
from django.db.backends.utils import CursorWrapper

from config.postgres import embedded


class DatabaseClient(client.DatabaseClient):
    """`manage.py dbshell`, with the psql that came with the server."""

    connection: DatabaseWrapper

    def runshell(self, parameters: Iterable[str]) -> None:
        server = self.connection.settings_dict.get("EMBEDDED")
        if server:
            self.connection.join()
            self.executable_name = str(embedded.program(server["DATA"], "psql"))
        super().runshell(parameters)


class DatabaseWrapper(base.DatabaseWrapper):
    client_class = DatabaseClient

    def get_connection_params(self) -> dict[str, Any]:
        self.join()
        return super().get_connection_params()

    def join(self) -> None:
        """Have the embedded server up and its address in our settings, if it is the one named."""
        server = self.settings_dict.get("EMBEDDED")
        if not server:
            return
        try:
            at = embedded.join(server["DATA"], is_safe=server["IS_SAFE"])
        except embedded.EmbeddedFailed as error:
            raise OperationalError(str(error)) from error
        self.settings_dict.update(HOST=at["HOST"], PORT=at["PORT"])

    def owner(self) -> DatabaseWrapper:
        """Return another connection, as the owner of the tables; this one where one role is all."""
        given = self.settings_dict.get("OWNER")
        if not given:
            return self
        theirs = {**self.settings_dict, **given, "OWNER": None}
        # A pool is shared by alias, and holds connections of the program's role.
        options = {name: value for name, value in theirs["OPTIONS"].items() if name != "pool"}
        return type(self)({**theirs, "OPTIONS": options}, self.alias)

    @contextmanager
    def _nodb_cursor(self) -> Iterator[CursorWrapper]:
        """Test databases are made and dropped by the owner."""
        with base.DatabaseWrapper._nodb_cursor(self.owner()) as cursor:
            yield cursor


@contextmanager
def as_owner(alias: str = DEFAULT_DB_ALIAS) -> Iterator[DatabaseWrapper]:
    """Have all that this thread asks of a database done by the owner of the tables, for a while."""
    program = cast("DatabaseWrapper", connections[alias])
    owner = program.owner()
    connections[alias] = owner
    try:
        yield owner
    finally:
        connections[alias] = program
        if owner is not program:
            owner.close()
