"""Background tasks of agents."""

import time
from datetime import timedelta

from django.utils import timezone

from dialogue import replier
from dialogue.models import (
    ActivationItem,
    Reservation,
    Spending,
    ToolCall,
    TranscriptStep,
    WakeEvent,
)
from surfaces.workers.locks import one_at_a_time

SECONDS = 50.0  # in which a round begins replies
LONGEST = 200.0  # less than the time after which the queue ends a task
TRANSCRIPTS_KEPT = timedelta(days=90)  # the activation and its cost are kept
EVENTS_KEPT = timedelta(days=30)
BOOKS_KEPT = timedelta(days=400)


def reply_due() -> int:
    """Write replies and posts that are due, as `manage.py reply` does beside it.

    A voice that writes when no other reply is begun any more has until just before the queue
    would end the task.
    """
    began = time.monotonic()
    with one_at_a_time("tasks.reply_due") as is_alone, replier.ReplierPool() as crew:
        if not is_alone:
            return 0
        done = replier.run_round(
            crew,
            clock=timezone.now,
            until=lambda: time.monotonic() - began > SECONDS,
            is_ending=lambda: time.monotonic() - began > LONGEST,
        )
    return done.drafted


def prune() -> int:
    """Delete old transcript steps; return the number."""
    now = timezone.now()
    delivered = WakeEvent.objects.exclude(state="waiting")
    delivered.filter(made_at__lt=now - EVENTS_KEPT).delete()
    Reservation.objects.filter(settled_at__lt=now - EVENTS_KEPT).delete()
    Spending.objects.filter(starts__lt=(now - BOOKS_KEPT).date()).delete()
    # What conversations showed: nothing is compared with it after they ended.
    ActivationItem.objects.filter(ended_at__lt=now - EVENTS_KEPT).exclude(shown=[]).update(shown=[])
    ToolCall.objects.filter(ended_at__lt=now - EVENTS_KEPT).exclude(shown=[]).update(shown=[])
    gone, _ = TranscriptStep.objects.filter(at__lt=now - TRANSCRIPTS_KEPT).delete()
    return gone
