"""Map every failure of a request to a `VoiceError`.

The message is for operators. It quotes the provider shortened and masked.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import timedelta

import httpx2
from pydantic_ai import exceptions as ai
from pydantic_ai.messages import ModelResponse

from dialogue import errors
from dialogue.errors import VoiceBroken, VoiceDown, VoiceError, VoiceLimited, VoiceMisconfigured
from dialogue.voice.base import ModelConfig
from dialogue.voice.llm.redaction import capped
from surfaces.drafts.text_checks import SURROGATES
from surfaces.errors import LONGEST_WAIT
from surfaces.text.reasons import reason, reason_of, several

LONGEST_REASON = 200  # characters of the provider's own words
LONGEST_ANSWER = 100_000  # characters; a wanted answer has at most a quarter of it
TOO_LARGE = "voice.too_large"
PACKED = "voice.packed"

# Codes of a request refused for its content; other requests with 400 are faulty.
_NOT_LIKED = {"content_filter", "content_policy_violation", "invalid_prompt", "moderation_blocked"}
_TRY_AGAIN = {408, 409, 425}  # statuses
_DURATION = re.compile(r"(?:(\d+)h)?(?:(\d+)m(?!s))?(?:(\d+(?:\.\d+)?)s)?(?:(\d+(?:\.\d+)?)ms)?")
_UNSENT = ("pool", "connect")


class UnreadableAnswer(httpx2.ReadError):
    """Our transport refused the answer; the message says why."""


def unanswered(error: Exception, mind: ModelConfig) -> VoiceError:
    """The error for a request without an answer."""
    if isinstance(error, VoiceError):
        return error
    if isinstance(error, ai.ModelAPIError):
        return _turned_down(error, mind)
    if isinstance(error, ai.UserError):
        said = _said(str(error), mind)
        return VoiceMisconfigured(reason("voice.cannot_ask", model=mind.model, said=said))
    return VoiceDown(reason("voice.nonsense_because", model=mind.model, name=type(error).__name__))


def unusable(answer: ModelResponse, words: str, mind: ModelConfig) -> VoiceError | None:
    """The error for an unusable answer, before its form is checked."""
    if answer.finish_reason == "content_filter":
        refusal = str((answer.provider_details or {}).get("refusal") or "")
        said = _said(refusal, mind)
        return errors.VoiceRefused(reason("voice.declined", model=mind.model, said=said))
    if answer.finish_reason == "length":
        # With the same limit, it would be cut again.
        return VoiceBroken(reason("voice.cut_off", model=mind.model))
    # A retry would send the answer back, and cost money.
    if len(words) > LONGEST_ANSWER:
        return VoiceBroken(reason("voice.too_long", model=mind.model))
    if SURROGATES.search(words):
        return VoiceBroken(reason("voice.surrogate", model=mind.model))
    return None


def misshapen(error: Exception, mind: ModelConfig) -> VoiceError:
    """The error for a conversation whose answers all had the wrong form."""
    if isinstance(error, ai.UserError):
        return unanswered(error, mind)
    return VoiceBroken(reason("voice.wrong_form", model=mind.model))


def may_have_cost(error: Exception) -> bool:
    """Whether the failed request may have cost money."""
    if isinstance(error, VoiceMisconfigured | ai.UserError):
        return False
    if isinstance(error, ai.ModelConnectionError):
        return error.phase not in _UNSENT
    if isinstance(error, ai.ModelHTTPError) and not error.in_stream:
        return error.status_code >= 500 or error.status_code in _TRY_AGAIN
    return True


def _turned_down(error: ai.ModelAPIError, mind: ModelConfig) -> VoiceError:
    model, status = mind.model, getattr(error, "status_code", None)
    if isinstance(error, ai.ModelConnectionError):
        return _unreached(error, model)
    if isinstance(error, ai.ModelRateLimitError):
        return _limited(error, model)
    if isinstance(error, ai.ModelQuotaExceededError):
        return VoiceMisconfigured(reason("voice.no_credit", model=model))
    if isinstance(error, ai.ModelContextWindowExceededError) or status == 413:
        return errors.VoiceTooLong(reason("voice.thread_too_long", model=model))
    if isinstance(error, ai.ModelRequestRejectedError):
        return _rejected(error, mind, status)
    if isinstance(error, ai.ModelUnavailableError | ai.ModelServerError) or status in _TRY_AGAIN:
        said = reason("voice.out_of_order", model=model)
        if status:
            said = reason("voice.out_of_order_status", model=model, status=str(status))
        return VoiceDown(said, wait=_wait(error.retry_after))
    # A redirect, which is not followed.
    statuses = (getattr(cause, "status_code", None) for cause in _causes(error))
    if status := status or next(filter(None, statuses), None):
        return VoiceMisconfigured(reason("voice.bad_status", model=model, status=str(status)))
    return VoiceDown(reason("voice.nonsense", model=model))


def _unreached(error: ai.ModelConnectionError, model: str) -> VoiceError:
    for cause in _causes(error):
        if isinstance(cause, UnreadableAnswer):
            return VoiceDown(reason("voice.unreadable", model=model, cause=reason_of(cause)))
        if isinstance(cause, httpx2.UnsupportedProtocol | httpx2.InvalidURL):
            return VoiceMisconfigured(reason("voice.bad_address", model=model))
    if error.phase in _UNSENT:
        return VoiceDown(reason("voice.not_reached", model=model))
    return VoiceDown(reason("voice.broke", model=model))


def _rejected(
    error: ai.ModelRequestRejectedError, mind: ModelConfig, status: int | None
) -> VoiceError:
    model, said = mind.model, _said(_message(error), mind)
    if isinstance(error, ai.ModelAuthenticationError):
        why = reason("voice.key_refused", model=model, status=str(status or 401), said=said)
        return VoiceMisconfigured(why)
    if isinstance(error, ai.ModelNotFoundError):
        return VoiceMisconfigured(reason("voice.no_model_there", model=model, said=said))
    # A 403 without a problem of keys: a gateway flagged the prompt.
    codes = {str(error.provider_error_code), str(error.provider_error_type)}
    if status == 403 or codes & _NOT_LIKED:
        return errors.VoiceRefused(reason("voice.not_taken", model=model, said=said))
    return VoiceMisconfigured(reason("voice.rejected", model=model, said=said))


def _causes(error: BaseException) -> Iterator[BaseException]:
    cause = error.__cause__
    while cause is not None:
        yield cause
        cause = cause.__cause__


def _message(error: ai.ModelAPIError) -> str:
    """The provider's error message, from any of the usual fields."""
    body = error.body
    for name in ("error", "message"):
        if isinstance(body, Mapping) and name in body:
            body = body[name]
    if isinstance(body, Mapping):
        body = body.get("message", "")
    return body if isinstance(body, str) else ""


def _said(words: str, mind: ModelConfig) -> str:
    said = " ".join(capped(words, mind.key, 4 * LONGEST_REASON).split())[:LONGEST_REASON]
    return f": {said.rstrip('.')}." if said else "."


def _limited(error: ai.ModelAPIError, model: str) -> VoiceLimited:
    seconds = error.retry_after
    if seconds is None:  # the longest wait in OpenAI's headers, such as 1m20s
        headers = getattr(error, "headers", None) or {}
        resets = (headers.get(f"x-ratelimit-reset-{what}", "") for what in ("requests", "tokens"))
        waits = (_seconds(reset) for reset in resets)
        seconds = max((each for each in waits if each is not None), default=None)
    wait = _wait(seconds)
    if wait:
        return VoiceLimited(reason("voice.limited_for", model=model, wait=wait), wait=wait)
    return VoiceLimited(reason("voice.limited", model=model), wait=wait)


def _wait(seconds: float | None) -> timedelta | None:
    """The wait that the provider asked for, within bounds."""
    if seconds is None:
        return None
    return timedelta(seconds=min(seconds, LONGEST_WAIT.total_seconds()))


def _seconds(duration: str) -> float | None:
    found = _DURATION.fullmatch(duration.strip()[:40])
    if not found or not any(found.groups()):
        return None
    hours, minutes, seconds, thousandths = (float(part or 0) for part in found.groups())
    return hours * 3600 + minutes * 60 + seconds + thousandths / 1000


def all_failed(failures: Sequence[VoiceError]) -> VoiceError:
    """One error for all models: temporary errors outweigh those an operator must fix."""
    why = several([error.reason for error in failures])
    if len(failures) == 1:
        return failures[0]
    limits = [error for error in failures if isinstance(error, VoiceLimited)]
    if len(limits) == len(failures):
        waits = [error.wait for error in limits if error.wait is not None]
        return VoiceLimited(why, wait=min(waits, default=None))
    passing = [error for error in failures if isinstance(error, VoiceLimited | VoiceDown)]
    if passing:
        named = [error.wait for error in passing if error.wait is not None]
        # A model that named no wait may recover before the others.
        return VoiceDown(why, wait=min(named) if len(named) == len(passing) else None)
    for kind in (VoiceBroken, VoiceMisconfigured):
        if any(isinstance(error, kind) for error in failures):
            return kind(why)
    return errors.VoiceTooLong(why)
