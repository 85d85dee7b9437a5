"""What can go wrong, in two families, each named for what to do next.

RuleBroken
├── StaleState    somebody was faster: show what they decided
├── IllegalMove   this step does not exist: a bug or a forged request
├── NotAllowed    the words are fine, the moment or the person is not
└── BadInput      say what to enter instead

SurfaceError         a service did not do what we asked
├── TryLater         nothing happened; the same call may work later
│   └── Limited      and the service (or our budget) said how long to wait
├── Unconfirmed      we cannot tell whether it happened; look before repeating
├── Refused          understood and said no; `permanent` says whether for ever
│   └── NotThere     because what we meant does not exist
├── AuthFailed       the credential is not taken any more; a person must act
├── Suspended        the account may not write until somebody lifts it
└── PaymentRequired  the service wants money first
"""

from datetime import datetime, timedelta


class RuleBroken(Exception):
    """A rule said no. The message is a sentence for the person who asked."""


class StaleState(RuleBroken):
    """The row moved since it was read."""


class IllegalMove(RuleBroken):
    """No such step from here."""


class NotAllowed(RuleBroken):
    """Not now, or not by you."""


class BadInput(RuleBroken):
    """What was given cannot be used; the message says what can."""


class SurfaceError(Exception):
    """The surface did not do what we asked. The message is one sentence for operators."""


class TryLater(SurfaceError):
    """Nothing happened.

    `wait` is what the service (or our own budget) asks for. `asked` is false
    when the request never reached the service: then it was no try.
    """

    def __init__(self, why: str, *, wait: timedelta | None = None, asked: bool = True) -> None:
        super().__init__(why)
        self.wait = wait
        self.asked = asked


class Limited(TryLater):
    """The service (or our budget) said: too much. `wait` is always known."""

    wait: timedelta

    def __init__(self, why: str, *, wait: timedelta, asked: bool = True) -> None:
        super().__init__(why, wait=wait, asked=asked)


class Unconfirmed(SurfaceError):
    """It may have happened."""


class Refused(SurfaceError):
    """The service understood and said no."""

    def __init__(self, why: str, *, permanent: bool = True) -> None:
        super().__init__(why)
        self.permanent = permanent


class NotThere(Refused):
    """What we asked for, or answered to, does not exist (any more)."""


class AuthFailed(SurfaceError):
    """The credential is wrong, expired or revoked."""


class Suspended(SurfaceError):
    """The account is suspended, `until` when if the service says so."""

    def __init__(self, why: str, *, until: datetime | None = None) -> None:
        super().__init__(why)
        self.until = until


class PaymentRequired(SurfaceError):
    """The service stopped serving us for money."""
