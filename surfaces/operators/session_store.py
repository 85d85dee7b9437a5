"""Sessions in the database, each with its operator, browser and network in columns of its own."""

from __future__ import annotations

from typing import Any, cast

from django.contrib.auth import SESSION_KEY
from django.contrib.sessions.backends.db import SessionStore as DatabaseStore

from surfaces.operators.models.session import OperatorSession

COPIED = ("browser", "network", "made_at", "seen_at")


class SessionStore(DatabaseStore):
    """`row` is the row that was read or written last: a page that shows it asks nothing."""

    row: OperatorSession | None = None

    @classmethod
    def get_model_class(cls) -> type[OperatorSession]:
        return OperatorSession

    def describe(self, *, browser: str, network: str) -> None:
        """Who signs in from where; kept when the session is saved."""
        self.is_empty()  # reads it, which sets `row`
        self.row = OperatorSession(browser=browser[:80], network=network[:43])

    def flush(self) -> None:
        super().flush()
        self.row = None

    def _get_session_from_db(self) -> Any:
        self.row = super()._get_session_from_db()  # type: ignore[misc]
        return self.row

    def create_model_instance(self, data: dict[str, Any]) -> OperatorSession:
        row = cast(OperatorSession, super().create_model_instance(data))
        row.operator_id = int(data[SESSION_KEY]) if SESSION_KEY in data else None
        if self.row is not None:
            for name in COPIED:
                setattr(row, name, getattr(self.row, name))
        self.row = row
        return row
