"""Background tasks. Arguments are ids and strings, because they are pickled.

Watching and sending run here every minute, so a queue alone is enough; `watch` and `deliver` are
faster loops beside it. Both claim the same rows.
"""

import os
import socket
from datetime import timedelta

from django.contrib.sessions.models import Session
from django.utils import timezone
from django_q.models import Failure, Success

from surfaces.delivery import sender
from surfaces.desk import viewers
from surfaces.drafts import expiry
from surfaces.notices import rounds
from surfaces.operators.models.sign_in_attempt import SignInAttempt
from surfaces.watcher import rounds as watcher_rounds
from surfaces.watcher.models import WatchRound
from surfaces.workers.deadline import end_of_task
from surfaces.workers.locks import lock_of_this_thread

ROUNDS_KEPT = timedelta(days=14)
RESULTS_KEPT = timedelta(days=2)
ATTEMPTS_KEPT = timedelta(days=1)


def watch_due() -> int:
    """Poll accounts that are due. Safe to run twice at once."""
    worker = f"{socket.gethostname()[:60]}:{os.getpid()}"
    at_once, until = watcher_rounds.AT_ONCE, end_of_task()
    return sum(1 for _ in watcher_rounds.watch_at_once(at_once, worker=worker, until=until))


def deliver_due() -> int:
    """Send what is due. Safe to run twice at once."""
    held = lock_of_this_thread()
    return sender.deliver_due(held, clock=timezone.now, until=end_of_task()).sent


def notice() -> int:
    """Tell operators what waits. Safe to run twice at once."""
    return rounds.run_round(clock=timezone.now).told


def expire_drafts() -> int:
    """Withdraw what nobody decided in time, where the house says how long drafts wait."""
    return expiry.expire(now=timezone.now())


def prune() -> int:
    """Delete old rows."""
    now = timezone.now()
    rounds.prune(now)
    WatchRound.objects.filter(ended_at__lt=now - ROUNDS_KEPT).delete()
    Session.objects.filter(expire_date__lt=now).delete()
    viewers.prune(now=now)
    SignInAttempt.objects.filter(at__lt=now - ATTEMPTS_KEPT).delete()
    Failure.objects.filter(stopped__lt=now - ROUNDS_KEPT).delete()
    gone, _ = Success.objects.filter(stopped__lt=now - RESULTS_KEPT).delete()
    return int(gone)
