"""Exceptions in two families, one class per next step.

A broken rule is shown at once: its message and values are put together in the reader's
language. An error of a service is stored: its `reason` is a code with values.
"""

from datetime import datetime, timedelta
from typing import Any

from surfaces.text.reasons import CODE, StoredReason, as_reason, fill, reason

LONGEST_WAIT = timedelta(days=1)  # that a service may ask of us; then it is asked again


class RuleBroken(Exception):
    """A rule said no. The message is a sentence for the person who asked.

    It may be a lazy translation with gaps `%(name)s`, filled from `values`, or a stored reason.
    """

    def __init__(self, message: object = "", /, **values: Any) -> None:
        super().__init__(message)
        if isinstance(message, str) and CODE.fullmatch(message):
            message, values = reason(message, **values), {}
        self.message = message
        self.values = values

    def __str__(self) -> str:
        return fill(self.message, self.values) if self.values else str(self.message)

    @property
    def reason(self) -> StoredReason:
        """What is stored where this ends an attempt nobody watches."""
        return as_reason(self.message if isinstance(self.message, StoredReason) else str(self))


class StaleState(RuleBroken):
    """The row changed since it was read: show the other decision."""


class FoundOver(StaleState):
    """The row can no longer be decided on and ended just now: what was written about it stays."""


class IllegalMove(RuleBroken):
    """The step does not exist: a bug or a forged request."""


class NotAllowed(RuleBroken):
    """The input is valid, but not now or not by this person."""


class BadInput(RuleBroken):
    """Invalid input; the message says what to enter instead."""


class SurfaceError(Exception):
    """A request to a surface failed. `reason` is for operators."""

    def __init__(self, why: str | StoredReason) -> None:
        super().__init__(why)
        self.reason = as_reason(why)

    def __str__(self) -> str:
        return str(self.reason)


class TryLater(SurfaceError):
    """Nothing happened; the same request may work later.

    `wait` is what the service or our rate limiter asks for, a day at most. `asked` is false if
    the request did not reach the service: then it is no attempt.
    """

    def __init__(
        self, why: str | StoredReason, *, wait: timedelta | None = None, asked: bool = True
    ) -> None:
        super().__init__(why)
        self.wait = None if wait is None else min(wait, LONGEST_WAIT)
        self.asked = asked


class Limited(TryLater):
    """A rate limit of the service or ours. `wait` is always known."""

    wait: timedelta

    def __init__(self, why: str | StoredReason, *, wait: timedelta, asked: bool = True) -> None:
        super().__init__(why, wait=wait, asked=asked)


class Unconfirmed(SurfaceError):
    """It may have been executed; search before a retry."""


class Refused(SurfaceError):
    """The service refused the request; `permanent`: for good."""

    def __init__(self, why: str | StoredReason, *, permanent: bool = True) -> None:
        super().__init__(why)
        self.permanent = permanent


class NotThere(Refused):
    """The target does not exist."""


class AuthFailed(SurfaceError):
    """The credential is wrong, expired or revoked; an operator must act."""


class Suspended(SurfaceError):
    """The account is suspended, `until` when if the service says so."""

    def __init__(self, why: str | StoredReason, *, until: datetime | None = None) -> None:
        super().__init__(why)
        self.until = until


class PaymentRequired(SurfaceError):
    """The service requires a payment."""
