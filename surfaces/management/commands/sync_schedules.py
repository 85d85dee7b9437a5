"""`manage.py sync_schedules`: create, update and delete schedules as in settings."""

from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand
from django.db import connection, transaction
from django_q.models import Schedule

ONE_AT_A_TIME = 0x5C4EDA1E  # advisory lock: schedule names are not unique in the database


class Command(BaseCommand):
    help = "Make the cluster's schedules match settings.SCHEDULES."

    @transaction.atomic
    def handle(self, **options: Any) -> None:
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_xact_lock(%s)", [ONE_AT_A_TIME])
        for name, (task, minutes, *pool) in settings.SCHEDULES.items():
            every = {"schedule_type": Schedule.MINUTES, "minutes": minutes}
            # Without a cluster of its own, a schedule is that of the clusters that do everything.
            whose = {"cluster": pool[0], "args": repr(tuple(pool))} if pool else {"cluster": None}
            Schedule.objects.update_or_create(name=name, defaults={"func": task, **every, **whose})
        Schedule.objects.exclude(name__in=settings.SCHEDULES).delete()
