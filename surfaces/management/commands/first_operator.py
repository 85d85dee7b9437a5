"""`manage.py first_operator`: create the first operator on a new instance."""

from typing import Any

from django.core.management.base import BaseCommand
from django.db import connection, transaction

from surfaces.audit.models import AuditEvent
from surfaces.operators.models.operator import Operator, Role
from surfaces.operators.services import one_time_password


class Command(BaseCommand):
    help = (
        "Create the operator “admin” if there is none, or renew its password while it still has "
        "the first one. Prints the password, or nothing once an operator has set one."
    )

    def handle(self, **options: Any) -> str:
        with transaction.atomic(), connection.cursor() as cursor:
            # Two concurrent starts must not create two operators or print a replaced password.
            cursor.execute("SELECT pg_advisory_xact_lock(hashtext('first_operator'))")
            operators = list(Operator.objects.all()[:2])
            if len(operators) > 1 or any(not each.has_first_password for each in operators):
                return ""
            password = one_time_password()
            if operators:
                operator, action = operators[0], "operator.got_first_password"
                operator.set_password(password)
                operator.save(update_fields=["password"])
            else:
                action = "operator.made"
                operator = Operator.objects.create_superuser(
                    "admin", password=password, role=Role.ADMIN, has_first_password=True
                )
            AuditEvent.objects.record(action, actor="command:first_operator", subject=operator)
            return password
