"""How long accounts and their services may make us wait."""

from datetime import timedelta

from django.db.models import DurationField, ExpressionWrapper, F, Q, Value

from surfaces.accounts.models.account import PASSING, Account, AccountState
from surfaces.accounts.models.rate_limit import RateLimitWindow
from surfaces.workers.wait_bounds import LONGEST_SERVICE_WAIT, WaitBound

LONGEST_SUSPENSION = timedelta(days=366)
INTERVAL = ExpressionWrapper(F("every") * Value(timedelta(minutes=1)), DurationField())
IS_PASSING = Q(state__in=PASSING)

BOUNDS = (
    WaitBound(model=Account, column="next_watch_at", when=~IS_PASSING, longest=INTERVAL),
    WaitBound(
        model=Account, column="next_watch_at", when=IS_PASSING, longest=LONGEST_SERVICE_WAIT
    ),
    WaitBound(
        model=Account, column="state_until", when=~Q(state=AccountState.SUSPENDED),
        longest=LONGEST_SERVICE_WAIT,
    ),
    WaitBound(
        model=Account, column="state_until", when=Q(state=AccountState.SUSPENDED),
        longest=LONGEST_SUSPENSION,
    ),
    WaitBound(model=Account, column="quiet_until", longest=LONGEST_SERVICE_WAIT),
    WaitBound(model=RateLimitWindow, column="blocked_until", longest=LONGEST_SERVICE_WAIT),
)  # fmt: skip
