"""What the cluster may call on this floor."""

from __future__ import annotations

from datetime import timedelta

from django.utils import timezone

from dialogue.models import Reservation, Spending, Step, WakeEvent

TRANSCRIPTS_KEPT = timedelta(days=90)  # the activation itself and its cost stay
EVENTS_KEPT = timedelta(days=30)
BOOKS_KEPT = timedelta(days=400)


def prune() -> int:
    """Put away what nobody looks at any more; return the number of transcript lines."""
    now = timezone.now()
    delivered = WakeEvent.objects.exclude(state="waiting")
    delivered.filter(made_at__lt=now - EVENTS_KEPT).delete()
    Reservation.objects.filter(settled_at__lt=now - EVENTS_KEPT).delete()
    Spending.objects.filter(starts__lt=(now - BOOKS_KEPT).date()).delete()
    gone, _ = Step.objects.filter(at__lt=now - TRANSCRIPTS_KEPT).delete()
    return gone
