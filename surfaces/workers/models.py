"""Worker: a process with heartbeats."""

from datetime import datetime, timedelta
from typing import Self

from django.db import models
from django.utils.translation import gettext_lazy as _lazy

from surfaces.model_fields import check

SILENT_AFTER = timedelta(seconds=30)  # three missed heartbeats


class WorkerKind(models.TextChoices):
    WEB = "web", _lazy("Web")
    WATCHER = "watcher", _lazy("Watcher")
    SENDER = "sender", _lazy("Sender")
    REPLIER = "replier", _lazy("Replier")
    AGENTS = "agents", _lazy("Agents")
    TASKS = "tasks", _lazy("Worker")


class WorkerQuerySet(models.QuerySet["Worker"]):
    def silent(self, now: datetime) -> Self:
        return self.filter(beat_at__lt=now - SILENT_AFTER)

    def called(self, kind: str, host: str) -> Self:
        return self.filter(kind=kind, host=host)


class Worker(models.Model):
    """One row per process. It goes with a clean end; what is killed leaves it behind, silent."""

    kind = models.CharField(max_length=8, choices=WorkerKind)
    name = models.CharField(max_length=60, help_text="For people, e.g. watcher.")
    host = models.CharField(max_length=60)
    pid = models.PositiveIntegerField()
    started_at = models.DateTimeField()
    beat_at = models.DateTimeField()
    doing = models.CharField(max_length=120, blank=True, help_text="Empty: it waits for work.")
    doing_since = models.DateTimeField(null=True, blank=True)

    objects = WorkerQuerySet.as_manager()

    class Meta:
        db_table = "workers"
        ordering = ["kind", "host", "pid"]
        constraints = [
            # What a sign of life is upserted by. A handful of rows: no other index.
            models.UniqueConstraint(name="worker_once", fields=["kind", "host", "pid"]),
            check("worker_kind_is_known", kind__in=WorkerKind.values),
        ]

    def __str__(self) -> str:
        return f"{self.name} {self.pid} on {self.host}"

    def is_silent(self, now: datetime) -> bool:
        return self.beat_at < now - SILENT_AFTER
