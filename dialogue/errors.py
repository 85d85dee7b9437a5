"""Errors of a voice, one class per next step.

VoiceError            no text was written: a failed attempt
├── VoiceLimited      rate limit of the provider; `wait` if it named a time
├── VoiceDown         not reached, broken off, timeout, status 5xx: another model may answer;
│                     `wait` if it named a time
├── VoiceRefused      the model declined to write this
├── VoiceBroken       the answer has the wrong form, repeatedly
├── VoiceTooLong      the context window is too small: shorten once
├── VoiceMisconfigured  key, model or address is wrong: an operator must act
├── VoiceStopping     the process was stopped while writing
├── LimitReached      a limit of this activation: iterations, tool calls, tokens, money, time
├── ToolBroken        a tool failed for good, such as a refused credential
└── OutOfBudget       no reservation, no request; `until` when the budget resets

LeaseLost             another worker took the activation over: write nothing more
"""

from datetime import datetime, timedelta

from surfaces.text.reasons import StoredReason, as_reason


class VoiceError(Exception):
    """No text was written. `reason` says why, for operators, and holds no secrets."""

    def __init__(self, why: str | StoredReason, *, wait: timedelta | None = None) -> None:
        super().__init__(why)
        self.reason = as_reason(why)
        self.wait = wait

    def __str__(self) -> str:
        return str(self.reason)


class VoiceLimited(VoiceError): ...


class VoiceDown(VoiceError): ...


class VoiceRefused(VoiceError): ...


class VoiceBroken(VoiceError): ...


class VoiceTooLong(VoiceError): ...


class VoiceMisconfigured(VoiceError): ...


class VoiceStopping(VoiceError): ...


class LimitReached(VoiceError): ...


class ToolBroken(VoiceError): ...


class OutOfBudget(VoiceError):
    def __init__(self, why: str | StoredReason, *, until: datetime) -> None:
        super().__init__(why)
        self.until = until


class LeaseLost(Exception):
    """Another worker holds this activation now."""
