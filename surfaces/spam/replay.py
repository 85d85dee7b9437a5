"""What the filter would have said under other thresholds, of what people decided since.

Pure: decisions and thresholds in, counts out. A verdict moves only where its score and signs
move it: without proof nothing becomes spam, and orders to our agents are never let through.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta, tzinfo
from typing import Self

from surfaces.spam.rules import RuleCode
from surfaces.spam.scoring import IN_FAVOUR, Status, Thresholds, status_of

NOTHING, SUSPECT, SPAM = "", "suspect", "spam"
LEVELS = {NOTHING: 0, SUSPECT: 1, SPAM: 2}
WEEKS = 12
FEWEST = 5  # messages, before a share is worth a figure


@dataclass(frozen=True, slots=True)
class ReplayDecision:
    """What the filter had said of a message, and what a person said then."""

    message: int
    is_spam: bool
    said: str  # "", "suspect" or "spam"
    score: float | None
    signs: frozenset[str]
    at: datetime
    by: str = ""
    words: int = 0  # learnt from it

    @property
    def is_judged(self) -> bool:
        """Posts are not: the filter reads comments."""
        return self.score is not None or bool(self.said)

    def under(self, thresholds: Thresholds) -> str:
        if self.score is None:
            return self.said
        return status_of(self.score, self.signs, thresholds) or NOTHING


@dataclass(frozen=True, slots=True)
class Quality:
    """The filter's verdicts against the operators' words. Counts of messages."""

    rows: tuple[tuple[str, int, int], ...]  # (the filter said, then spam, then clean)
    caught: int  # spam that was held or caught
    missed: int
    wrong: int  # clean that was held or caught
    right: int

    @classmethod
    def of(cls, verdicts: Iterable[tuple[str, bool]]) -> Self:
        count = Counter((said if said in LEVELS else NOTHING, bad) for said, bad in verdicts)
        rows = tuple((s, count[s, True], count[s, False]) for s in (SPAM, SUSPECT, NOTHING))
        (_, spam, spam_wrong), (_, suspect, suspect_wrong), (_, missed, right) = rows
        return cls(rows, spam + suspect, missed, spam_wrong + suspect_wrong, right)

    @property
    def decisions(self) -> int:
        return self.held + self.missed + self.right

    @property
    def held(self) -> int:
        return self.caught + self.wrong

    @property
    def bad(self) -> int:
        return self.caught + self.missed

    @property
    def precision(self) -> float | None:
        return self.caught / self.held if self.held else None

    @property
    def recall(self) -> float | None:
        return self.caught / self.bad if self.bad else None


@dataclass(frozen=True, slots=True)
class StatusChange:
    decision: ReplayDecision
    would: str

    @property
    def is_stricter(self) -> bool:
        return LEVELS[self.would] > LEVELS.get(self.decision.said, 0)

    @property
    def is_better(self) -> bool:
        """Towards what the person said."""
        return self.is_stricter == self.decision.is_spam


@dataclass(frozen=True, slots=True)
class ReplayOutcome:
    was: Quality
    would: Quality
    stricter: tuple[StatusChange, ...]
    milder: tuple[StatusChange, ...]

    @property
    def moved(self) -> int:
        return len(self.stricter) + len(self.milder)

    @property
    def better(self) -> int:
        return sum(moved.is_better for moved in (*self.stricter, *self.milder))

    @property
    def worse(self) -> int:
        return self.moved - self.better


def replay(decisions: Iterable[ReplayDecision], thresholds: Thresholds) -> ReplayOutcome:
    """Judge again what people decided on; posts, which are not judged, are left out."""
    pairs = [(d, d.under(thresholds)) for d in decisions if d.is_judged]
    moved = [StatusChange(d, would) for d, would in pairs if would != d.said]
    return ReplayOutcome(
        was=Quality.of((d.said, d.is_spam) for d, _ in pairs),
        would=Quality.of((would, d.is_spam) for d, would in pairs),
        stricter=tuple(move for move in moved if move.is_stricter),
        milder=tuple(move for move in moved if not move.is_stricter),
    )


@dataclass(frozen=True, slots=True)
class Undecided:
    """So many comments nobody decided on that are alike for the filter."""

    is_recent: bool  # of the last 7 days, not only of the last 30
    status: Status
    score: float  # cut to hundredths
    signs: frozenset[str]  # those that bound a verdict
    count: int


@dataclass(frozen=True, slots=True)
class Shift:
    """What would have happened to them. Counts of comments."""

    to_person: int = 0  # let through as it was, held for a person then
    to_spam: int = 0  # left out then
    let_through: int = 0  # suspect or spam as it was, nothing then
    from_spam: int = 0  # left out as it was, held for a person then

    @property
    def total(self) -> int:
        return self.to_person + self.to_spam + self.let_through + self.from_spam


def shift(groups: Iterable[Undecided], thresholds: Thresholds) -> Shift:
    counted: Counter[str] = Counter()
    for group in groups:
        would = status_of(group.score, group.signs, thresholds)
        if would != group.status:
            was_out = group.status == SPAM
            ways = {None: "let_through", SPAM: "to_spam"}
            counted[ways.get(would, "from_spam" if was_out else "to_person")] += group.count
    return Shift(**counted)


@dataclass(frozen=True, kw_only=True, slots=True)
class QualityWeek:
    """What was decided from a Monday on. A share of too few says nothing and is not given."""

    at: int
    starts: date
    quality: Quality
    is_cut: bool = False  # older decisions of this week were not read

    @property
    def decisions(self) -> int:
        return self.quality.decisions

    @property
    def is_now(self) -> bool:
        return self.at == WEEKS - 1

    @property
    def precision(self) -> float | None:
        return self.quality.precision if self.quality.held >= FEWEST else None

    @property
    def recall(self) -> float | None:
        return self.quality.recall if self.quality.bad >= FEWEST else None


def by_week(
    decisions: Sequence[ReplayDecision], today: date, zone: tzinfo, back_to: datetime | None = None
) -> list[QualityWeek]:
    """The last twelve weeks, oldest first. `back_to`: where reading stopped, if it did."""
    last = monday(today)
    count: dict[date, list[tuple[str, bool]]] = {}
    for d in decisions:
        if d.is_judged:
            count.setdefault(monday(d.at.astimezone(zone).date()), []).append((d.said, d.is_spam))
    end = back_to.astimezone(zone).date() if back_to else date.min
    starts = [last - timedelta(weeks=WEEKS - 1 - at) for at in range(WEEKS)]
    return [
        QualityWeek(at=at, starts=day, quality=Quality.of(count.get(day, [])), is_cut=day <= end)
        for at, day in enumerate(starts)
    ]


def monday(day: date) -> date:
    return day - timedelta(days=day.weekday())


@dataclass(frozen=True, slots=True)
class Firing:
    """How often one reason against was given, and how often people agreed."""

    sign: str
    fired: int  # comments of the last 30 days
    spam: int  # decisions since on messages that bore it: spam
    clean: int

    @property
    def decided(self) -> int:
        return self.spam + self.clean

    @property
    def agreed(self) -> float | None:
        """None where too few were decided to say."""
        return self.spam / self.decided if self.decided >= FEWEST else None


SILENT = {*IN_FAVOUR, RuleCode.UNPROVEN}


def firings(fired: dict[str, int], decisions: Iterable[ReplayDecision]) -> list[Firing]:
    spoken = Counter((sign, d.is_spam) for d in decisions for sign in d.signs)
    signs = {*fired, *(sign for sign, _ in spoken)} - SILENT
    found = [Firing(s, fired.get(s, 0), spoken[s, True], spoken[s, False]) for s in signs]
    return sorted(found, key=lambda firing: (-firing.fired, -firing.decided, firing.sign))
