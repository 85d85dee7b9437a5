"""Arguments of a tool call: from what a model or a person wrote to what runs, and the digest."""

import hashlib
import re
from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, ValidationError

from dialogue.approvals.models import ToolCall
from dialogue.approvals.patterns import canonical
from dialogue.tools.base import LONGEST_ARGUMENTS, Tool

MOST_PROBLEMS = 5  # of one call that the model is told
LONGEST_PROBLEM = 300  # characters
# PostgreSQL stores no NUL, written out or as an escape.
_NUL = re.compile(r"\x00|(?<!\\)(?:\\\\)*\\u0000")


class BadArguments(Exception):
    """The arguments cannot be used. The message is for whoever wrote them, in English."""


def parsed(tool: Tool, text: str) -> dict[str, Any]:
    """Validated arguments, without those that have their default, or `BadArguments`."""
    if len(text) > LONGEST_ARGUMENTS:
        raise BadArguments(f"The arguments are longer than {LONGEST_ARGUMENTS:,} characters.")
    if _NUL.search(text):
        raise BadArguments("The arguments hold a NUL character.")
    try:
        found = tool.arguments.model_validate_json((text.strip() or "{}").encode())
        values = found.model_dump(mode="json", exclude_defaults=True)
        canonical(values)
    except ValidationError as error:
        raise BadArguments(_said(error)) from error
    except UnicodeEncodeError as error:
        raise BadArguments("The arguments hold half a character (a lone surrogate).") from error
    except (ValueError, RecursionError) as error:
        raise BadArguments("The arguments cannot be written as JSON.") from error
    return values


def edited(tool: Tool, values: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments that an operator wrote, validated like those of a model."""
    try:
        text = canonical(dict(values))
    except (TypeError, ValueError, RecursionError) as error:
        raise BadArguments("The arguments cannot be written as JSON.") from error
    return parsed(tool, text)


def built(tool: Tool, stored: Mapping[str, Any]) -> BaseModel:
    """What the tool is given. Raises `BadArguments` where its schema changed meanwhile."""
    try:
        return tool.arguments.model_validate_json(canonical(stored))
    except ValidationError as error:
        raise BadArguments(_said(error)) from error


def digest_of(call: ToolCall, **changed: Any) -> str:
    """Of what runs, as whom, and what it is an answer to. An edit of the comment changes it."""
    notification = call.item.notification
    comment = notification.message if notification else None
    facts = {
        "tool": call.tool, "arguments": call.arguments, "agent": call.agent_id,
        "account": call.presence.account_id, "thread": call.thread_id,
        "comment": [comment.pk, comment.content] if comment else None,
    } | changed  # fmt: skip
    return hashlib.sha256(canonical(facts).encode("utf-8", "surrogatepass")).hexdigest()


def _said(error: ValidationError) -> str:
    """The problems in plain words, without what was given: it may be long, or a secret."""
    found = error.errors(include_url=False, include_context=False, include_input=False)
    told = [
        f"{'.'.join(str(part) for part in one['loc'])[:100] or 'arguments'}: {one['msg']}"
        for one in found[:MOST_PROBLEMS]
    ]
    if len(found) > MOST_PROBLEMS:
        told.append(f"and {len(found) - MOST_PROBLEMS} more")
    words = "; ".join(one[:LONGEST_PROBLEM] for one in told)
    return words.replace("\0", "").encode("utf-8", "replace").decode()
