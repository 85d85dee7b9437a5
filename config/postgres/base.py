"""Django's PostgreSQL backend, which starts the embedded server when a connection is wanted."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.db import OperationalError
from django.db.backends.postgresql import base, client

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
        self.settings_dict.update(HOST=at["HOST"], PORT=at["PORT"], USER=at["USER"])
