"""What can go wrong when an agent speaks, each named for what to do next.

VoiceError            no words came of it: a failed try
├── VoiceLimited      the provider (or its queue) said: too much; `wait` if it said how long
├── VoiceDown         not reached, broke, took too long, status 5xx: another brain may answer;
│                     `wait` if it said how long
├── VoiceRefused      the model declined to write this
├── VoiceBroken       what came is not what was asked for, again and again
├── VoiceTooLong      the model's window is too small: shorten once
├── VoiceMisset       key, model or address are wrong: a person must act
├── VoiceEnding       we were told to stop while it was writing
└── OutOfBudget       no reservation, no call; `until` when there is money again

Overtaken             our activation was taken back: write nothing more
"""

from __future__ import annotations

from datetime import datetime, timedelta


class VoiceError(Exception):
    """No words. The message is one sentence for operators, without secrets."""


class VoiceLimited(VoiceError):
    def __init__(self, why: str, *, wait: timedelta | None = None) -> None:
        super().__init__(why)
        self.wait = wait


class VoiceDown(VoiceError):
    def __init__(self, why: str, *, wait: timedelta | None = None) -> None:
        super().__init__(why)
        self.wait = wait


class VoiceRefused(VoiceError):
    pass


class VoiceBroken(VoiceError):
    pass


class VoiceTooLong(VoiceError):
    pass


class VoiceMisset(VoiceError):
    pass


class VoiceEnding(VoiceError):
    pass


class OutOfBudget(VoiceError):
    def __init__(self, why: str, *, until: datetime) -> None:
        super().__init__(why)
        self.until = until


class Overtaken(Exception):
    """Another worker holds this agent now."""
