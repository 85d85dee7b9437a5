"""A cursor for the statements that run for every draft: planning them took longer than they do."""

from __future__ import annotations

from typing import Any

import psycopg
from django.db import connection
from django.db.backends.utils import CursorWrapper


def prepared_cursor() -> CursorWrapper:
    """A cursor that plans each statement once per connection, and then sends only its values.

    Django's own cursors put the values into the text, so nothing of theirs is prepared.
    """
    connection.ensure_connection()
    session = connection.connection
    session.prepare_threshold = 0  # uses of a statement before it is prepared; Django says never
    cursor: Any = psycopg.Cursor(session)
    return connection.make_cursor(cursor)
