"""Background tasks of agents."""

import time
from datetime import timedelta

from django.utils import timezone

from dialogue import replier
from dialogue.activations.pools import Pool
from dialogue.models import (
    ActivationItem,
    AgentReport,
    Reservation,
    Spending,
    ToolCall,
    TranscriptStep,
    WakeEvent,
)
from dialogue.reports import services as report_services
from surfaces.workers.locks import one_at_a_time

SECONDS = 60.0  # in which a task begins activations
LONGEST = 390.0  # less than the time after which the queue ends a task
TRANSCRIPTS_KEPT = timedelta(days=90)  # the activation and its cost are kept
EVENTS_KEPT = timedelta(days=30)
BOOKS_KEPT = timedelta(days=400)
REPORTS_KEPT = timedelta(days=30)


def activate_due(pool: str = Pool.HYBRID) -> int:
    """Activate agents that have work of a pool, as `manage.py activate` does beside it.

    An activation that runs when no other is begun any more has until just before the queue would
    end the task.
    """
    began = time.monotonic()
    with one_at_a_time(f"tasks.activate_due {pool}") as is_alone, replier.ReplierPool() as crew:
        if not is_alone:
            return 0
        done = replier.run_round(
            crew,
            clock=timezone.now,
            until=lambda: time.monotonic() - began > SECONDS,
            is_ending=lambda: time.monotonic() - began > LONGEST,
            pool=pool,
        )
    return done.drafted


def reply_due() -> int:
    """The name under which an earlier version queued it."""
    return activate_due(Pool.NOTIFICATION)


def report() -> int:
    """Count what agents saw and did."""
    with one_at_a_time("tasks.report") as is_alone:
        return report_services.collect_reports(now=timezone.now()) if is_alone else 0


def prune() -> int:
    """Delete old transcript steps; return the number."""
    now = timezone.now()
    delivered = WakeEvent.objects.exclude(state="waiting")
    delivered.filter(made_at__lt=now - EVENTS_KEPT).delete()
    Reservation.objects.filter(settled_at__lt=now - EVENTS_KEPT).delete()
    Spending.objects.filter(starts__lt=(now - BOOKS_KEPT).date()).delete()
    AgentReport.objects.filter(hour__lt=now - REPORTS_KEPT).delete()
    # What conversations showed: nothing is compared with it after they ended.
    ActivationItem.objects.filter(ended_at__lt=now - EVENTS_KEPT).exclude(shown=[]).update(shown=[])
    ToolCall.objects.filter(ended_at__lt=now - EVENTS_KEPT).exclude(shown=[]).update(shown=[])
    gone, _ = TranscriptStep.objects.filter(at__lt=now - TRANSCRIPTS_KEPT).delete()
    return gone
