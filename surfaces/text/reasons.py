"""Reasons are stored as a code with its values and shown in the reader's language.

    stored     {"code": "draft.tried_out", "times": 10, "why": {"code": "hub.not_reached"}}
    registered {"draft.tried_out": gettext_lazy("Tried %(times)s times. The last time: %(why)s")}
    shown      Tried 10 times. The last time: The community did not answer.

`StoredReason` is what a column holds; `str()` shows it. Rendering never fails: an unknown code is
shown as it is, a missing value as "?". What a person typed has the code `note`. Values are
text, numbers, other reasons, lists of them, moments and lengths of time; a number that names
something (an id, a status, a year) is passed as text.
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

NOTE = "note"
SEVERAL = "several"
MAX_TEXT = 2_000  # characters of one value
CODE = re.compile(r"[a-z0-9_]+(?:\.[a-z0-9_]+)+")

_END = "\0"  # behind a sentence inside another: its full stop goes where more follows
_EXTRA_STOP = re.compile("[.。]\0(?=[.。,，;；:：])")
SENTENCES: dict[str, Any] = {}
# How moments ("at"), lengths of time ("span"), lists, clauses and sentences are shown.
FORMATS: dict[str, Callable[[Any], str]] = {
    "list": ", ".join, "clauses": "; ".join, "sentences": " ".join,
}  # fmt: skip


class StoredReason(dict[str, Any]):
    """Why something is as it is. Empty where there is nothing to say."""

    def __str__(self) -> str:
        return render(self)

    @property
    def code(self) -> str:
        return str(self.get("code", ""))

    @property
    def base(self) -> str:
        """The code of the same reason without an end: "x.waits_until" is "x.waits"."""
        return self.code.removesuffix("_until")

    @property
    def digest(self) -> str:
        """The same text for the same reason, in every language."""
        return json.dumps(self, sort_keys=True) if self else ""


def reason(code: str, **values: Any) -> StoredReason:
    """Name a reason with its values: `reason("draft.too_long", length=2011)`."""
    return StoredReason(code=code, **{name: _storable(value) for name, value in values.items()})


def note(text: str) -> StoredReason:
    return reason(NOTE, text=text) if text else StoredReason()


def several(reasons: Sequence[StoredReason | str]) -> StoredReason:
    found = [as_reason(one) for one in reasons]
    if len(found) < 2:
        return found[0] if found else StoredReason()
    return reason(SEVERAL, reasons=found)


def as_reason(given: object) -> StoredReason:
    """A reason as it is, a bare code as a reason, any other text as a note."""
    if isinstance(given, StoredReason):
        return given
    if isinstance(given, Mapping):
        return StoredReason(given)
    text = str(given or "")
    return reason(text) if CODE.fullmatch(text) else note(text)


def reason_of(error: Exception) -> StoredReason:
    given = getattr(error, "reason", None) or (error.args[0] if error.args else "")
    return as_reason(given)


def register(sentences: Mapping[str, Any]) -> None:
    """Add sentences by code. A code means one thing in the whole program."""
    if twice := sentences.keys() & SENTENCES.keys():
        raise ValueError(f"registered twice: {', '.join(sorted(twice))}")
    SENTENCES.update(sentences)


def render(stored: object) -> str:
    if not isinstance(stored, Mapping):
        return str(stored or "")
    code = str(stored.get("code", ""))
    if code == NOTE:
        return str(stored.get("text", ""))
    if code == SEVERAL:
        parts = stored.get("reasons")
        found = parts if isinstance(parts, list) else []
        return FORMATS["sentences"]([render(one) for one in found])
    sentence = SENTENCES.get(code)
    return code if sentence is None else fill(sentence, stored)


def label(noun: str, name: str) -> str:
    """The word for a machine's name, e.g. of an action; unknown ones are spelled out."""
    known = SENTENCES.get(f"{noun}.{name}")
    if known is not None:
        return str(known)
    return re.sub(r"[._]", " ", name) if re.fullmatch(r"[a-z._]+", name) else name


def fill(sentence: Any, values: Mapping[str, Any]) -> str:
    try:
        return _EXTRA_STOP.sub("", str(sentence % _Values(values))).replace(_END, "")
    except (KeyError, OverflowError, TypeError, ValueError):
        return str(sentence)


class _Number(int):
    def __str__(self) -> str:
        return f"{int(self):,}"


class _Values(dict[str, Any]):
    def __init__(self, values: Mapping[str, Any]) -> None:
        super().__init__({name: show(value) for name, value in values.items()})

    def __missing__(self, name: str) -> str:
        return "?"


def show(value: Any) -> Any:
    """One value as it stands in a sentence; a whole number still counts for plurals."""
    value = _storable(value)
    if isinstance(value, int) and not isinstance(value, bool):
        return _Number(value)
    if isinstance(value, float):
        return f"{value:g}"
    if isinstance(value, list):
        return FORMATS["list"]([str(show(one)).rstrip(_END) for one in value])
    if isinstance(value, Mapping):
        kind = "" if "code" in value else next(iter(value), "")
        return FORMATS[kind](value[kind]) if kind in FORMATS else render(value) + _END
    return "?" if value is None else value


def _storable(value: Any) -> Any:
    """The value as JSON keeps it."""
    if isinstance(value, datetime):
        return {"at": value.isoformat()}
    if isinstance(value, timedelta):
        return {"span": value.total_seconds()}
    if isinstance(value, list | tuple):
        return [_storable(one) for one in value]
    if value is None or isinstance(value, bool | int | float | Mapping):
        return value
    # JSON in PostgreSQL takes neither NUL nor half a character.
    return str(value)[:MAX_TEXT].replace("\0", "").encode("utf-8", "replace").decode()
