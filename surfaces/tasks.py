"""Background tasks. Arguments are ids and strings, because they are pickled.

Polling and sending run here every minute, so a queue alone is enough; `watch` and `deliver` are
faster loops beside it. Both claim the same rows.
"""

import time
from collections.abc import Callable
from datetime import timedelta

from django.utils import timezone
from django_q.models import Failure, Success

from surfaces.delivery import sender
from surfaces.desk import viewers
from surfaces.drafts import expiry
from surfaces.notices import rounds as notice_rounds
from surfaces.operators.models.known_browser import KnownBrowser
from surfaces.operators.models.session import OperatorSession
from surfaces.operators.models.sign_in_attempt import SignInAttempt
from surfaces.watcher import rounds
from surfaces.watcher.models import WatchRound
from surfaces.workers.locks import lock_of_this_thread, one_at_a_time

SECONDS = 50.0  # of one round; the next comes a minute after it began
ROUNDS_KEPT = timedelta(days=14)
RESULTS_KEPT = timedelta(days=2)
ATTEMPTS_KEPT = timedelta(days=1)
BROWSERS_KEPT = timedelta(days=90)


def watch_due() -> int:
    """Read accounts that are due, as `manage.py watch` does beside it: each is claimed once."""
    until = _end_of_round()
    with one_at_a_time("tasks.watch_due") as is_alone:
        if not is_alone:
            return 0
        worker = lock_of_this_thread().name
        return sum(1 for _ in rounds.watch_at_once(rounds.AT_ONCE, worker=worker, until=until))


def deliver_due() -> int:
    """Send what is due. Safe to run twice at once."""
    held = lock_of_this_thread()
    return sender.deliver_due(held, clock=timezone.now, until=_end_of_round()).sent


def _end_of_round() -> Callable[[], bool]:
    ends_at = time.monotonic() + SECONDS
    return lambda: time.monotonic() > ends_at


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
    OperatorSession.objects.filter(expire_date__lt=now).delete()
    viewers.prune(now=now)
    KnownBrowser.objects.filter(seen_at__lt=now - BROWSERS_KEPT).delete()
    SignInAttempt.objects.filter(at__lt=now - ATTEMPTS_KEPT).delete()
    Failure.objects.filter(stopped__lt=now - ROUNDS_KEPT).delete()
    gone, _ = Success.objects.filter(stopped__lt=now - RESULTS_KEPT).delete()
    return int(gone)
