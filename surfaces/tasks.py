"""Background tasks. Arguments are ids and strings, because they are pickled."""

from datetime import timedelta

from django.utils import timezone
from django_q.models import Failure, Success

from surfaces.delivery import sender
from surfaces.desk import viewers
from surfaces.drafts import expiry
from surfaces.notices import rounds
from surfaces.operators.models.known_browser import KnownBrowser
from surfaces.operators.models.session import OperatorSession
from surfaces.operators.models.sign_in_attempt import SignInAttempt
from surfaces.watcher.models import WatchRound
from surfaces.workers.locks import lock_of_this_thread

ROUNDS_KEPT = timedelta(days=14)
RESULTS_KEPT = timedelta(days=2)
ATTEMPTS_KEPT = timedelta(days=1)
BROWSERS_KEPT = timedelta(days=90)


def deliver_due() -> int:
    """Send what is due. Safe to run twice at once."""
    return sender.deliver_due(lock_of_this_thread(), clock=timezone.now).sent


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
    OperatorSession.objects.filter(expire_date__lt=now).delete()
    viewers.prune(now=now)
    KnownBrowser.objects.filter(seen_at__lt=now - BROWSERS_KEPT).delete()
    SignInAttempt.objects.filter(at__lt=now - ATTEMPTS_KEPT).delete()
    Failure.objects.filter(stopped__lt=now - ROUNDS_KEPT).delete()
    gone, _ = Success.objects.filter(stopped__lt=now - RESULTS_KEPT).delete()
    return int(gone)
