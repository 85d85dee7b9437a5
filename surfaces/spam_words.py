"""The words operators taught: list them with what they say, forget one, and take that back."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Mapping
from dataclasses import dataclass
from math import exp, log
from urllib.parse import urlencode

from django.db import transaction
from django.db.models import F, FloatField, Q, Value
from django.db.models.functions import Cast
from django.db.models.lookups import GreaterThanOrEqual
from django.utils.translation import gettext as _

from surfaces import spam
from surfaces.errors import NotAllowed
from surfaces.models import AuditEvent, SpamToken
from surfaces.models.spam import SpamTokenQuerySet

SIZE = 50
LONGEST = 200
FEWEST = spam.FEWEST_TAUGHT  # messages of each kind, before words count
SIDES = ("spam", "clean", "forgotten")
CLEARLY, STRONGLY = log(3), log(8)  # log odds


@dataclass(frozen=True, slots=True)
class Word:
    """A learned word. `odds` above 0 speak for spam; None while too little was taught."""

    token: str
    in_spam: int
    in_clean: int
    is_forgotten: bool
    odds: float | None

    @property
    def side(self) -> str:
        if self.odds is None or self.is_forgotten or abs(self.odds) < spam.QUIET:
            return ""
        return "spam" if self.odds > 0 else "clean"

    @property
    def says(self) -> str:
        """Which way it speaks, and how strongly."""
        if self.is_forgotten:
            return _("forgotten: it says nothing")
        if self.odds is None:
            return _("nothing yet: too little was taught")
        if not self.side:
            return _("nothing: it stands in both alike")
        return _STRENGTHS[self.side][self._strength]()

    @property
    def times(self) -> str:
        """How many times as often it stands in its side's messages, smoothed; with no end."""
        times = exp(min(abs(self.odds or 0), spam.LOUDEST))
        bound = round(exp(spam.LOUDEST))
        return f"{bound}+" if round(times) >= bound else f"{times:.1f}"

    @property
    def _strength(self) -> int:
        loud = abs(self.odds or 0)
        return (loud >= CLEARLY) + (loud >= STRONGLY)


_STRENGTHS = {
    "spam": (
        lambda: _("a little for spam"), lambda: _("clearly for spam"),
        lambda: _("strongly for spam"),
    ),
    "clean": (
        lambda: _("a little for clean"), lambda: _("clearly for clean"),
        lambda: _("strongly for clean"),
    ),
}  # fmt: skip


@dataclass(frozen=True, kw_only=True, slots=True)
class Wish:
    """What somebody wants to see of the words."""

    begins: str = ""
    side: str = ""

    @classmethod
    def of(cls, given: Mapping[str, str]) -> Wish:
        begins = given.get("q", "").replace("\0", "").strip()[:LONGEST].lower()
        side = given.get("side", "")
        return cls(begins=begins, side=side if side in SIDES else "")

    def query(self) -> dict[str, str]:
        asked = {"q": self.begins, "side": self.side}
        return {name: value for name, value in asked.items() if value}


@dataclass(frozen=True, kw_only=True, slots=True)
class Page:
    words: list[Word]
    taught: spam.Counts  # messages only
    older: str = ""  # query string of the next page


def page(wish: Wish, *, after: str = "", size: int = SIZE) -> Page:
    """One page of words, those that were seen most often first. Two queries."""
    counts = _taught()
    seen = F("in_spam") + F("in_clean")
    rows = _narrowed(wish, counts).annotate(seen=seen).order_by(seen.desc(), "token")
    if place := _place(after):
        rows = rows.filter(Q(seen__lt=place[0]) | Q(seen=place[0], token__gt=place[1]))
    found = list(rows[: size + 1])
    shown = found[:size]
    key = _key(shown[-1]) if len(found) > size else ""
    return Page(
        words=[_word(row, counts) for row in shown],
        taught=counts,
        older=urlencode(wish.query() | {"after": key}) if key else "",
    )


def _taught() -> spam.Counts:
    row = SpamToken.objects.taught()
    return spam.Counts(row.in_spam, row.in_clean)


def _word(row: SpamToken, counts: spam.Counts) -> Word:
    says = spam.odds(row.in_spam, row.in_clean, counts) if counts.is_enough else None
    return Word(row.token, row.in_spam, row.in_clean, row.is_forgotten, says)


def _narrowed(wish: Wish, counts: spam.Counts) -> SpamTokenQuerySet:
    rows = SpamToken.objects.exclude(token="")
    if wish.begins:
        # A domain is found by its name too.
        rows = rows.filter(
            Q(token__startswith=wish.begins) | Q(token__startswith=f"url:{wish.begins}")
        )
    if wish.side == "forgotten":
        return rows.filter(is_forgotten=True)
    if wish.side:
        return _speaking(rows.filter(is_forgotten=False), wish.side, counts)
    return rows


def _speaking(rows: SpamTokenQuerySet, side: str, counts: spam.Counts) -> SpamTokenQuerySet:
    """Those whose log odds pass `spam.QUIET`, the division of `spam.odds` turned into products."""
    if not counts.is_enough:
        return rows.none()
    spam_prior = spam.PRIOR * counts.spam_messages / (counts.spam_messages + counts.clean_messages)
    loud = exp(spam.QUIET)
    for_spam = (_number("in_spam") + spam_prior) * counts.clean_messages
    for_clean = (_number("in_clean") + spam.PRIOR - spam_prior) * counts.spam_messages
    mine, other = (for_spam, for_clean) if side == "spam" else (for_clean, for_spam)
    return rows.filter(GreaterThanOrEqual(mine, other * Value(loud)))


def _number(column: str) -> Cast:
    return Cast(column, FloatField())


# ── places between two rows ───────────────────────────────────────────────


def _key(row: SpamToken) -> str:
    packed = json.dumps([row.in_spam + row.in_clean, row.token]).encode()
    return base64.urlsafe_b64encode(packed).decode().rstrip("=")


def _place(given: str) -> tuple[int, str] | None:
    """Whatever cannot be read is no place at all."""
    try:
        seen, token = json.loads(base64.urlsafe_b64decode(given[:2000] + "=" * (-len(given) % 4)))
    except (ValueError, TypeError, binascii.Error):
        return None
    is_place = isinstance(seen, int) and isinstance(token, str) and "\0" not in token
    return (seen, token) if is_place and 0 <= seen < 2**31 else None


# ── forgetting ────────────────────────────────────────────────────────────


def forget(token: str, *, by: str) -> None:
    """Listen to a word no more, however often it is taught again."""
    _turn(token, is_forgotten=True, by=by, action="word.forgotten")


def remember(token: str, *, by: str) -> None:
    """Listen to a forgotten word again, with all it was taught meanwhile."""
    _turn(token, is_forgotten=False, by=by, action="word.remembered")


@transaction.atomic
def _turn(token: str, *, is_forgotten: bool, by: str, action: str) -> None:
    rows = SpamToken.objects.exclude(token="").filter(token=token)
    row = rows.select_for_update().first()
    if row is None:
        raise NotAllowed("The filter does not know this word, so there is nothing to change.")
    if row.is_forgotten == is_forgotten:
        state = "forgotten already" if is_forgotten else "listened to already"
        raise NotAllowed(f"This word is {state}.")
    rows.update(is_forgotten=is_forgotten)
    subject = f"word:{token}"[:120]
    AuditEvent.objects.record(
        action, actor=by, subject=subject, token=token, in_spam=row.in_spam, in_clean=row.in_clean
    )
    if not is_forgotten:
        rows.filter(in_spam=0, in_clean=0).delete()
