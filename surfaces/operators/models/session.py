"""Operator session: a browser that is signed in. Django's session row, linked to its operator."""

from __future__ import annotations

from typing import Any

from django.contrib.sessions.base_session import AbstractBaseSession
from django.db import models
from django.db.models.functions import Now

from surfaces.operators.models.operator import Operator


class OperatorSession(AbstractBaseSession):
    """Deleting the row signs the browser out. Without an operator: not signed in yet."""

    operator = models.ForeignKey(
        Operator, models.CASCADE, null=True, related_name="sessions", editable=False
    )
    browser = models.CharField(max_length=80, blank=True)
    network = models.CharField(max_length=43, blank=True)
    made_at = models.DateTimeField(db_default=Now())
    seen_at = models.DateTimeField(db_default=Now())  # to five minutes

    def __str__(self) -> str:
        return f"session of {self.operator_id}"

    @classmethod
    def get_session_store_class(cls) -> Any:
        from surfaces.operators.session_store import SessionStore

        return SessionStore
