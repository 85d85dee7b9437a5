"""Background tasks of agents."""

from datetime import timedelta

from django.utils import timezone

from dialogue import replier
from dialogue.models import Reservation, Spending, TranscriptStep, WakeEvent
from surfaces.workers.deadline import end_of_task

TRANSCRIPTS_KEPT = timedelta(days=90)  # the activation and its cost are kept
EVENTS_KEPT = timedelta(days=30)
BOOKS_KEPT = timedelta(days=400)


def reply_due() -> int:
    """Write due replies and posts and call webhooks. Safe to run twice at once."""
    with replier.ReplierPool() as pool:
        return replier.run_round(pool, clock=timezone.now, until=end_of_task()).did


def prune() -> int:
    """Delete old transcript steps; return the number."""
    now = timezone.now()
    delivered = WakeEvent.objects.exclude(state="waiting")
    delivered.filter(made_at__lt=now - EVENTS_KEPT).delete()
    Reservation.objects.filter(settled_at__lt=now - EVENTS_KEPT).delete()
    Spending.objects.filter(starts__lt=(now - BOOKS_KEPT).date()).delete()
    gone, _ = TranscriptStep.objects.filter(at__lt=now - TRANSCRIPTS_KEPT).delete()
    return gone
