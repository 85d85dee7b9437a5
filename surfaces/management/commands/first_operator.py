"""Make the first operator, so that a fresh machine can be signed in to."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand
from django.db import connection, transaction

from surfaces.models import AuditEvent, Operator
from surfaces.models.operator import Role
from surfaces.operators import one_time_password


class Command(BaseCommand):
    help = (
        "Make operator admin if there is none, or give it a fresh password while it still has "
        "the first one. Prints the password, or nothing if people have taken over."
    )

    def handle(self, **options: Any) -> str:
        with transaction.atomic(), connection.cursor() as cursor:
            # Two starts at once must not make two, or give out a password that is gone.
            cursor.execute("SELECT pg_advisory_xact_lock(hashtext('first_operator'))")
            operators = list(Operator.objects.all()[:2])
            if not operators:
                return _made()
            if len(operators) == 1 and operators[0].has_first_password:
                return _renewed(operators[0])
        return ""


def _made() -> str:
    password = one_time_password()
    operator = Operator.objects.create_superuser(
        "admin", password=password, role=Role.ADMIN, has_first_password=True
    )
    AuditEvent.objects.record("operator.made", actor="command:first_operator", subject=operator)
    return password


def _renewed(operator: Operator) -> str:
    password = one_time_password()
    operator.set_password(password)
    operator.save(update_fields=["password"])
    AuditEvent.objects.record(
        "operator.got_first_password", actor="command:first_operator", subject=operator
    )
    return password
