"""Background tasks. Arguments are ids and strings, because they are pickled."""

import time
from datetime import timedelta

from django.contrib.sessions.models import Session
from django.utils import timezone
from django_q.models import Failure, Success

from surfaces.delivery import sender
from surfaces.desk import viewers
from surfaces.drafts import expiry
from surfaces.notices import rounds as notice_rounds
from surfaces.operators.models.sign_in_attempt import SignInAttempt
from surfaces.watcher import rounds
from surfaces.watcher.models import WatchRound
from surfaces.workers.locks import lock_of_this_thread, one_at_a_time

SECONDS = 50.0  # of one round; the next comes a minute after it began
ROUNDS_KEPT = timedelta(days=14)
RESULTS_KEPT = timedelta(days=2)
ATTEMPTS_KEPT = timedelta(days=1)


def watch_due() -> int:
    """Read accounts that are due, as `manage.py watch` does beside it: each is claimed once."""
    ends_at = time.monotonic() + SECONDS
    with one_at_a_time("tasks.watch_due") as is_alone:
        if not is_alone:
            return 0
        worker = lock_of_this_thread().name
        return len(rounds.watch_due(worker=worker, until=lambda: time.monotonic() > ends_at))


def deliver_due() -> int:
    """Send what is due. Safe to run twice at once."""
    return sender.deliver_due(lock_of_this_thread(), clock=timezone.now).sent


def notice() -> int:
    """Tell operators what waits. Safe to run twice at once."""
    return notice_rounds.run_round(clock=timezone.now).told


def expire_drafts() -> int:
    """Withdraw what nobody decided in time, where the house says how long drafts wait."""
    return expiry.expire(now=timezone.now())


def prune() -> int:
    """Delete old rows."""
    now = timezone.now()
    notice_rounds.prune(now)
    WatchRound.objects.filter(ended_at__lt=now - ROUNDS_KEPT).delete()
    Session.objects.filter(expire_date__lt=now).delete()
    viewers.prune(now=now)
    SignInAttempt.objects.filter(at__lt=now - ATTEMPTS_KEPT).delete()
    Failure.objects.filter(stopped__lt=now - ROUNDS_KEPT).delete()
    gone, _ = Success.objects.filter(stopped__lt=now - RESULTS_KEPT).delete()
    return int(gone)
