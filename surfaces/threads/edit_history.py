"""Tell what each edit of a draft or a message changed, out of the ledger. No query."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.utils.translation import gettext_lazy as later

from surfaces.audit.models import AuditEvent
from surfaces.text import diff as text_diff

MOST_WORDS = 4_000  # characters that the ledger keeps of what a message said
MOST_COMPARED = 10  # edits whose changes are shown, the newest
EDITS = {"draft.edited", "message.edited"}
FIELDS = {
    "title": later("Title"),
    "community": later("Community"),
    "text": later("Text"),
    "content": later("Text before and after"),
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Edit:
    label: str
    pieces: list[text_diff.DiffPiece]


def changes_of(
    events: Sequence[AuditEvent], now: Mapping[str, Mapping[str, str]], *, is_whole: bool
) -> dict[int, list[Edit]]:
    """By ledger line, what each edit changed: its words before against what came after.

    `now`: by subject, the words that its edits led to. Not `is_whole`: later edits may be
    missing, so nobody knows what the last one led to.
    """
    found: dict[int, list[Edit]] = {}
    for subject, current in now.items():
        edits = [event for event in events if event.subject == subject and event.action in EDITS]
        edits = edits[-MOST_COMPARED:]
        facts = [event.facts.get("before") or {} for event in edits]
        before = [each if isinstance(each, dict) else {"content": str(each)} for each in facts]
        after = [*before[1:], *([current] if is_whole else [])]
        for event, old, new in zip(edits, before, after, strict=False):
            found[event.pk] = _between(old, new)
    return found


def _between(before: Mapping[str, str], after: Mapping[str, str]) -> list[Edit]:
    found = []
    for name, label in FIELDS.items():
        old, new = before.get(name) or "", after.get(name) or ""
        if name == "content":
            old, new = old[:MOST_WORDS], new[:MOST_WORDS]
        if pieces := text_diff.changes(old, new):
            found.append(Edit(label=str(label), pieces=text_diff.shortened(pieces)))
    return found
