"""Exceptions in two families, one class per next step.

RuleBroken
├── StaleState    the row changed: show the other decision
├── IllegalMove   this step does not exist: a bug or a forged request
├── NotAllowed    the input is valid, but not now or not by this person
└── BadInput      the message says what to enter instead

SurfaceError         a service did not do what we asked
├── TryLater         not executed; the same request may work later
│   └── Limited      by a rate limit of the service or ours, with a wait
├── Unconfirmed      unknown whether it was executed; search before a retry
├── Refused          the service refused; `permanent`: for good
│   └── NotThere     because the target does not exist
├── AuthFailed       the credential is invalid; an operator must act
├── Suspended        the account may not write until the suspension ends
└── PaymentRequired  the service requires a payment

A broken rule is shown at once: its message and values are put together in the reader's
language. An error of a service is stored: its `reason` is a code with values.
"""

from datetime import datetime, timedelta
from typing import Any

from surfaces.text.reasons import CODE, StoredReason, as_reason, fill, reason


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
    """The row changed since it was read."""


class IllegalMove(RuleBroken):
    """The transition does not exist."""


class NotAllowed(RuleBroken):
    """Not now, or not by you."""


class BadInput(RuleBroken):
    """Invalid input; the message says what to enter."""


class SurfaceError(Exception):
    """A request to a surface failed. `reason` is for operators."""

    def __init__(self, why: str | StoredReason) -> None:
        super().__init__(why)
        self.reason = as_reason(why)

    def __str__(self) -> str:
        return str(self.reason)


class TryLater(SurfaceError):
    """Nothing happened.

    `wait` is what the service or our rate limiter asks for. `asked` is false if the request
    did not reach the service: then it is no attempt.
    """

    def __init__(
        self, why: str | StoredReason, *, wait: timedelta | None = None, asked: bool = True
    ) -> None:
        super().__init__(why)
        self.wait = wait
        self.asked = asked


class Limited(TryLater):
    """A rate limit of the service or ours. `wait` is always known."""

    wait: timedelta

    def __init__(self, why: str | StoredReason, *, wait: timedelta, asked: bool = True) -> None:
        super().__init__(why, wait=wait, asked=asked)


class Unconfirmed(SurfaceError):
    """It may have been executed."""


class Refused(SurfaceError):
    """The service refused the request."""

    def __init__(self, why: str | StoredReason, *, permanent: bool = True) -> None:
        super().__init__(why)
        self.permanent = permanent


class NotThere(Refused):
    """The target does not exist."""


class AuthFailed(SurfaceError):
    """The credential is wrong, expired or revoked."""


class Suspended(SurfaceError):
    """The account is suspended, `until` when if the service says so."""

    def __init__(self, why: str | StoredReason, *, until: datetime | None = None) -> None:
        super().__init__(why)
        self.until = until


class PaymentRequired(SurfaceError):
    """The service requires a payment."""
