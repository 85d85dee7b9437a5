"""Turn every way in which a request can fail into a `VoiceError` that says what to do next.

The sentence is for operators. What a provider said stays in it short and masked.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import timedelta

import httpx2
from pydantic_ai import exceptions as ai
from pydantic_ai.messages import ModelResponse

from dialogue.errors import (
    VoiceBroken,
    VoiceDown,
    VoiceError,
    VoiceLimited,
    VoiceMisset,
    VoiceRefused,
    VoiceTooLong,
)
from dialogue.voice.base import Mind
from dialogue.voice.masking import capped
from surfaces.checks import SURROGATES

LONGEST_REASON = 200  # characters of the provider's own words
LONGEST_ANSWER = 100_000  # characters; what was asked for has at most a quarter of it
LONGEST_WAIT = timedelta(days=1)  # whoever asks for more is asked again tomorrow
TOO_LARGE = "its answer is larger than 4 MB"
NONSENSE = "answered with something that no such server says"
PACKED = "its answer came packed, although we asked for it plain"

# Codes of a request that was understood and not liked; a 400 like any other otherwise.
_NOT_LIKED = {"content_filter", "content_policy_violation", "invalid_prompt", "moderation_blocked"}
_TRY_AGAIN = {408, 409, 425}  # statuses
_DURATION = re.compile(r"(?:(\d+)h)?(?:(\d+)m(?!s))?(?:(\d+(?:\.\d+)?)s)?(?:(\d+(?:\.\d+)?)ms)?")
_UNSENT = ("pool", "connect")


class Unreadable(httpx2.ReadError):
    """Our own wire gave up on an answer; the message says why."""


def unanswered(error: Exception, mind: Mind) -> VoiceError:
    """Why a request brought no answer."""
    if isinstance(error, VoiceError):
        return error
    if isinstance(error, ai.ModelAPIError):
        return _turned_down(error, mind)
    if isinstance(error, ai.UserError):
        return VoiceMisset(f"{mind.model} cannot be asked this way{_said(str(error), mind)}")
    return VoiceDown(f"{mind.model} {NONSENSE} ({type(error).__name__}).")


def unusable(answer: ModelResponse, words: str, mind: Mind) -> VoiceError | None:
    """Why an answer is none, before anybody looks at its form."""
    if answer.finish_reason == "content_filter":
        refusal = str((answer.provider_details or {}).get("refusal") or "")
        return VoiceRefused(f"{mind.model} declined to write this{_said(refusal, mind)}")
    if answer.finish_reason == "length":
        # Asked again under the same limit, it would be cut again.
        return VoiceBroken(f"The answer of {mind.model} was cut off: it ran out of output tokens.")
    # Whoever asks again sends the answer back, and pays for it.
    if len(words) > LONGEST_ANSWER:
        return VoiceBroken(f"The answer of {mind.model} is longer than anybody asked for.")
    if SURROGATES.search(words):
        return VoiceBroken(f"The answer of {mind.model} holds half a character.")
    return None


def misshapen(error: Exception, mind: Mind) -> VoiceError:
    """Why a whole conversation brought nothing, though each request was answered."""
    if isinstance(error, ai.UserError):
        return unanswered(error, mind)
    return VoiceBroken(f"{mind.model} did not answer in the form that was asked for.")


def may_have_cost(error: Exception) -> bool:
    """Whether the provider may have written something before it went wrong."""
    if isinstance(error, VoiceMisset | ai.UserError):
        return False
    if isinstance(error, ai.ModelConnectionError):
        return error.phase not in _UNSENT
    if isinstance(error, ai.ModelHTTPError) and not error.in_stream:
        return error.status_code >= 500 or error.status_code in _TRY_AGAIN
    return True


def _turned_down(error: ai.ModelAPIError, mind: Mind) -> VoiceError:
    model, status = mind.model, getattr(error, "status_code", None)
    if isinstance(error, ai.ModelConnectionError):
        return _unreached(error, model)
    if isinstance(error, ai.ModelRateLimitError):
        return _limited(error, model)
    if isinstance(error, ai.ModelQuotaExceededError):
        return VoiceMisset(f"The quota or credit of {model} is used up. Add some there.")
    if isinstance(error, ai.ModelContextWindowExceededError) or status == 413:
        return VoiceTooLong(f"The thread is too long for {model}.")
    if isinstance(error, ai.ModelRequestRejectedError):
        return _rejected(error, mind, status)
    if isinstance(error, ai.ModelUnavailableError | ai.ModelServerError) or status in _TRY_AGAIN:
        said = f"{model} is out of order{f' (status {status})' if status else ''}."
        return VoiceDown(said, wait=_wait(error.retry_after))
    if status or (status := _redirect(error)):
        return VoiceMisset(f"{model} answered with status {status}. Check its address.")
    return VoiceDown(f"{model} {NONSENSE}.")


def _unreached(error: ai.ModelConnectionError, model: str) -> VoiceError:
    for cause in _causes(error):
        if isinstance(cause, Unreadable):
            return VoiceDown(f"{model} cannot be read: {cause}.")
        if isinstance(cause, httpx2.UnsupportedProtocol | httpx2.InvalidURL):
            return VoiceMisset(f"The address of {model} is none that a request can be sent to.")
    if error.phase in _UNSENT:
        return VoiceDown(f"{model} could not be reached.")
    return VoiceDown(f"The connection to {model} broke.")


def _rejected(error: ai.ModelRequestRejectedError, mind: Mind, status: int | None) -> VoiceError:
    model, said = mind.model, _said(_message(error), mind)
    if isinstance(error, ai.ModelAuthenticationError):
        return VoiceMisset(f"{model} did not accept our key (status {status or 401}){said}")
    if isinstance(error, ai.ModelNotFoundError):
        return VoiceMisset(f"There is no {model} at that address{said}")
    # A 403 that is no matter of keys is a gateway that flagged what we showed.
    codes = {str(error.provider_error_code), str(error.provider_error_type)}
    if status == 403 or codes & _NOT_LIKED:
        return VoiceRefused(f"{model} did not take the request{said}")
    return VoiceMisset(f"{model} rejected the request{said}")


def _redirect(error: ai.ModelAPIError) -> int | None:
    statuses = (getattr(cause, "status_code", None) for cause in _causes(error))
    return next((status for status in statuses if status), None)


def _causes(error: BaseException) -> Iterator[BaseException]:
    cause = error.__cause__
    while cause is not None:
        yield cause
        cause = cause.__cause__


def _message(error: ai.ModelAPIError) -> str:
    """What the provider said for people, wherever it put it."""
    body = error.body
    for name in ("error", "message"):
        if isinstance(body, Mapping) and name in body:
            body = body[name]
    if isinstance(body, Mapping):
        body = body.get("message", "")
    return body if isinstance(body, str) else ""


def _said(words: str, mind: Mind) -> str:
    said = " ".join(capped(words, mind.key, 4 * LONGEST_REASON).split())[:LONGEST_REASON]
    return f": {said.rstrip('.')}." if said else "."


# ── waiting ───────────────────────────────────────────────────────────────


def _limited(error: ai.ModelAPIError, model: str) -> VoiceLimited:
    seconds = error.retry_after
    if seconds is None:
        seconds = _reset(getattr(error, "headers", None) or {})
    wait = _wait(seconds)
    asked = f"; it asks for {wait.total_seconds():,.0f} s" if wait else ""
    return VoiceLimited(f"{model} takes no more requests for now{asked}.", wait=wait)


def _wait(seconds: float | None) -> timedelta | None:
    """What a provider asks for, within reason."""
    if seconds is None:
        return None
    return timedelta(seconds=min(seconds, LONGEST_WAIT.total_seconds()))


def _reset(headers: Mapping[str, str]) -> float | None:
    """The longest of the waits that OpenAI's own headers name, such as 1m20s."""
    waits = [
        _seconds(headers.get(f"x-ratelimit-reset-{what}", "")) for what in ("requests", "tokens")
    ]
    return max((wait for wait in waits if wait is not None), default=None)


def _seconds(duration: str) -> float | None:
    found = _DURATION.fullmatch(duration.strip()[:40])
    if not found or not any(found.groups()):
        return None
    hours, minutes, seconds, thousandths = (float(part or 0) for part in found.groups())
    return hours * 3600 + minutes * 60 + seconds + thousandths / 1000


# ── when nobody could ─────────────────────────────────────────────────────


def all_failed(failures: Sequence[VoiceError]) -> VoiceError:
    """One error for all of them: what may pass by itself outweighs what a person must mend."""
    why = " ".join(str(error) for error in failures)
    if len(failures) == 1:
        return failures[0]
    limits = [error for error in failures if isinstance(error, VoiceLimited)]
    if len(limits) == len(failures):
        waits = [error.wait for error in limits if error.wait is not None]
        return VoiceLimited(why, wait=min(waits, default=None))
    passing = [error for error in failures if isinstance(error, VoiceLimited | VoiceDown)]
    if passing:
        named = [error.wait for error in passing if error.wait is not None]
        # Who named no wait may be well again before the others.
        return VoiceDown(why, wait=min(named) if len(named) == len(passing) else None)
    for kind in (VoiceBroken, VoiceMisset):
        if any(isinstance(error, kind) for error in failures):
            return kind(why)
    return VoiceTooLong(why)
