"""The words operators taught: list them with what they say, forget one, and take that back."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import exp, log
from typing import Any, Self

from django.db import transaction
from django.db.models import F, FloatField, Q, Value
from django.db.models.functions import Cast
from django.db.models.lookups import GreaterThanOrEqual
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as _lazy

from surfaces.audit.models import AuditEvent
from surfaces.errors import NotAllowed
from surfaces.spam import scoring
from surfaces.spam.models import SpamToken, SpamTokenQuerySet
from surfaces.web.pagination import Keyset, KeysetPage, paginate_forward

LONGEST = 200
MOST_SEEN_FIRST = Keyset(("-seen", int), ("token", str))
FEWEST = scoring.FEWEST_TAUGHT  # messages of each kind, before words count
SIDES = ("spam", "clean", "forgotten")
CLEARLY, STRONGLY = log(3), log(8)  # log odds
STRENGTHS = {
    "spam": (_lazy("slightly spam"), _lazy("clearly spam"), _lazy("strongly spam")),
    "clean": (_lazy("slightly clean"), _lazy("clearly clean"), _lazy("strongly clean")),
}


@dataclass(frozen=True, slots=True)
class LearnedWord:
    """A learned word. `odds` above 0 speak for spam; None while too little was taught."""

    token: str
    in_spam: int
    in_clean: int
    is_forgotten: bool
    odds: float | None

    @property
    def side(self) -> str:
        if self.odds is None or self.is_forgotten or abs(self.odds) < scoring.QUIET:
            return ""
        return "spam" if self.odds > 0 else "clean"

    @property
    def says(self) -> str:
        if self.is_forgotten:
            return _("ignored: no weight")
        if self.odds is None:
            return _("none yet: too few messages")
        if not self.side:
            return _("none: equally frequent in both")
        loud = abs(self.odds)
        return str(STRENGTHS[self.side][(loud >= CLEARLY) + (loud >= STRONGLY)])

    @property
    def times(self) -> str:
        """How many times as often it stands in its side's messages, smoothed; with no end."""
        times = exp(min(abs(self.odds or 0), scoring.LOUDEST))
        bound = round(exp(scoring.LOUDEST))
        return f"{bound}+" if round(times) >= bound else f"{times:.1f}"


@dataclass(frozen=True, slots=True)
class WordFilter:
    begins: str = ""
    side: str = ""

    @classmethod
    def of(cls, given: Mapping[str, str]) -> Self:
        side = given.get("side", "")
        return cls(given.get("q", "").strip()[:LONGEST].lower(), side if side in SIDES else "")

    def query(self) -> dict[str, str]:
        asked = {"q": self.begins, "side": self.side}
        return {name: value for name, value in asked.items() if value}


def list_learned_words(
    wish: WordFilter, counts: scoring.TokenCounts, given: Mapping[str, str]
) -> KeysetPage[LearnedWord]:
    """One page of words, those that were seen most often first. One query."""

    def word(row: SpamToken) -> LearnedWord:
        odds = scoring.odds(row.in_spam, row.in_clean, counts) if counts.is_enough else None
        return LearnedWord(row.token, row.in_spam, row.in_clean, row.is_forgotten, odds)

    rows = _narrowed(wish, counts).annotate(seen=F("in_spam") + F("in_clean"))
    return paginate_forward(rows, given, keyset=MOST_SEEN_FIRST, keep=wish.query()).map(word)


def taught() -> scoring.TokenCounts:
    row = SpamToken.objects.taught()
    return scoring.TokenCounts(row.in_spam, row.in_clean)


def _narrowed(wish: WordFilter, counts: scoring.TokenCounts) -> SpamTokenQuerySet:
    rows = SpamToken.objects.exclude(token="")
    if wish.begins:
        # A domain is found by its name too.
        domain = Q(token__startswith=f"url:{wish.begins}")
        rows = rows.filter(Q(token__startswith=wish.begins) | domain)
    if wish.side == "forgotten":
        return rows.filter(is_forgotten=True)
    if wish.side:
        return _speaking(rows.filter(is_forgotten=False), wish.side, counts)
    return rows


def _speaking(rows: SpamTokenQuerySet, side: str, counts: scoring.TokenCounts) -> SpamTokenQuerySet:
    """Those whose log odds pass `spam.QUIET`, the division of `spam.odds` turned into products."""
    if not counts.is_enough:
        return rows.none()
    in_spam, in_clean = Cast("in_spam", FloatField()), Cast("in_clean", FloatField())
    for_spam = (in_spam + counts.spam_prior) * counts.clean_messages
    for_clean = (in_clean + scoring.PRIOR - counts.spam_prior) * counts.spam_messages
    mine, other = (for_spam, for_clean) if side == "spam" else (for_clean, for_spam)
    return rows.filter(GreaterThanOrEqual(mine, other * Value(exp(scoring.QUIET))))


def forget(token: str, *, by: str) -> None:
    """Listen to a word no more, however often it is taught again."""
    _turn(token, is_forgotten=True, by=by)


def remember(token: str, *, by: str) -> None:
    """Listen to a forgotten word again, with all it was taught meanwhile."""
    _turn(token, is_forgotten=False, by=by)


@transaction.atomic
def _turn(token: str, *, is_forgotten: bool, by: str) -> None:
    action = "word.forgotten" if is_forgotten else "word.remembered"
    rows = SpamToken.objects.exclude(token="").filter(token=token)
    row = rows.select_for_update().first()
    if row is None:
        raise NotAllowed(
            _lazy("The filter does not know this word, so there is nothing to change.")
        )
    if row.is_forgotten == is_forgotten:
        state = _("forgotten already") if is_forgotten else _("listened to already")
        raise NotAllowed(_lazy("This word is %(state)s."), state=state)
    rows.update(is_forgotten=is_forgotten)
    facts: dict[str, Any] = {"token": token, "in_spam": row.in_spam, "in_clean": row.in_clean}
    AuditEvent.objects.record(action, actor=by, subject=f"word:{token}"[:120], **facts)
    if not is_forgotten:
        rows.filter(in_spam=0, in_clean=0).delete()
