"""Score a comment: spam, suspect, or neither.

    score = (1 - Π (1 - w) over reasons against) · Π (1 + w) over reasons in favour

The score is what the reasons weigh, whatever the thresholds are; so what was stored
can be asked again under others (`status_of`).

The rules come first (`spam_rules`). What operators decided before is one more reason: a naive Bayes
over distinct tokens, with a weight of `MOST_AGAINST · (2p - 1) · n / (n + 3)` for n telling tokens
(`MOST_IN_FAVOUR` when p speaks for the comment), so one odd word never decides.

Two bounds hold whatever was learned. An attempt to give our agents orders is suspect at least.
Orders, shouts and learned words alone are never `spam`: other reasons must reach `PROOF`. And
nothing here says `clean`: that is an operator's word.
"""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from math import exp, log, prod
from typing import Literal

from surfaces.spam.rules import RULES, MessageFacts, RuleCode, SpamReason, noisy_or
from surfaces.spam.tokenizer import MOST_TOKENS, TokenizedText, read
from surfaces.text.reasons import reason as because

FEWEST_TAUGHT = 10  # messages of each kind, before words count
TELLING = 20  # tokens that are listened to
QUIET, LOUDEST = 0.2, 3.0  # log odds of one token
UNSEEN = (0, 0)
PRIOR = 2.0  # pseudo-messages
MOST_AGAINST = 0.85
MOST_IN_FAVOUR = 0.4
PROOF = 0.3
NEVER_PROOF = frozenset({RuleCode.INJECTION, RuleCode.WORDS, RuleCode.SHOUTING, RuleCode.UNREAD})
ALWAYS_HELD = frozenset({RuleCode.INJECTION, RuleCode.UNREAD})
IN_FAVOUR = frozenset({RuleCode.KNOWN, RuleCode.CLEAN_WORDS, RuleCode.OURS})
LEAST = 0.1  # scores below it are never looked at again

Status = Literal["spam", "suspect"] | None


@dataclass(frozen=True, slots=True)
class Thresholds:
    suspect: float = 0.40
    spam: float = 0.90

    def __post_init__(self) -> None:
        if not 0 < self.suspect < self.spam <= 1:
            raise ValueError("needs 0 < suspect < spam <= 1")


@dataclass(frozen=True, slots=True)
class TokenCounts:
    """What operators' decisions taught: per token at hand, messages of spam and clean ones."""

    spam_messages: int = 0
    clean_messages: int = 0
    tokens: Mapping[str, tuple[int, int]] = field(default_factory=dict)

    @property
    def is_enough(self) -> bool:
        return min(self.spam_messages, self.clean_messages) >= FEWEST_TAUGHT

    @property
    def spam_prior(self) -> float:
        """The share of spam among the pseudo-messages, as among the taught ones."""
        return PRIOR * self.spam_messages / (self.spam_messages + self.clean_messages)


@dataclass(frozen=True, slots=True)
class SpamVerdict:
    status: Status
    score: float  # 0 to 1
    reasons: tuple[SpamReason, ...]  # the weightiest first


ORDINARY = Thresholds()
NOTHING_TAUGHT = TokenCounts()


def score_message(
    facts: MessageFacts, counts: TokenCounts = NOTHING_TAUGHT, thresholds: Thresholds = ORDINARY
) -> SpamVerdict:
    """Weigh all reasons. Our own voices are never spam."""
    if facts.author_is_ours:
        return SpamVerdict(None, 0.0, (SpamReason(RuleCode.OURS, because("spam.ours"), -1.0),))

    reading = read(facts.whole)
    reasons = [reason for rule in RULES for reason in rule(facts, reading)]
    reasons.extend(_words(reading, counts))
    reasons.sort(key=lambda reason: -abs(reason.weight))

    in_favour = (1 + reason.weight for reason in reasons if reason.weight < 0)
    score = round(prod(in_favour, start=_weight(reasons)), 4)
    if score >= LEAST and _weight(reasons, but=NEVER_PROOF) < PROOF:
        reasons.append(SpamReason(RuleCode.UNPROVEN, because("spam.unproven"), 0.0))
    status = status_of(score, {reason.code for reason in reasons}, thresholds)
    return SpamVerdict(status, score, tuple(reasons))


def status_of(score: float, signs: Collection[str], thresholds: Thresholds) -> Status:
    """What a score and its signs mean under these thresholds. Two bounds no threshold moves:

    without proof never spam, orders never less than suspect.
    """
    if score >= thresholds.spam and not lacks_proof(signs):
        return "spam"
    if score >= thresholds.suspect or not ALWAYS_HELD.isdisjoint(signs):
        return "suspect"
    return None


def lacks_proof(signs: Collection[str]) -> bool:
    """Whether these signs can never make spam. Older rows bear no mark of it."""
    against = set(signs) - IN_FAVOUR
    return RuleCode.UNPROVEN in against or against <= NEVER_PROOF


def _weight(reasons: list[SpamReason], but: frozenset[RuleCode] = frozenset()) -> float:
    return noisy_or(r.weight for r in reasons if r.weight > 0 and r.code not in but)


def _words(reading: TokenizedText, counts: TokenCounts) -> Iterator[SpamReason]:
    if not counts.is_enough:
        return
    telling = _telling(reading, counts)
    # Even odds to begin with: operators rule on what was suspect already, so
    # their share of spam says nothing about the share among all comments.
    tilt = 1 / (1 + exp(-sum(odds for odds, _ in telling))) * 2 - 1
    trust = len(telling) / (len(telling) + 3)
    weight = round((MOST_AGAINST if tilt > 0 else MOST_IN_FAVOUR) * tilt * trust, 4)
    if abs(weight) < 0.05:
        return
    named = [f'"{token}"' for odds, token in telling if odds * tilt > 0][:5]
    if tilt > 0:
        yield SpamReason(RuleCode.WORDS, because("spam.words_spam", named=named), weight)
    else:
        yield SpamReason(RuleCode.CLEAN_WORDS, because("spam.words_clean", named=named), weight)


def _telling(reading: TokenizedText, counts: TokenCounts) -> list[tuple[float, str]]:
    tokens = reading.tokens[:MOST_TOKENS]
    read = [(odds(*counts.tokens.get(token, UNSEEN), counts), token) for token in tokens]
    found = [pair for pair in read if abs(pair[0]) >= QUIET]
    found.sort(key=lambda pair: abs(pair[0]), reverse=True)
    return [(max(-LOUDEST, min(LOUDEST, says)), token) for says, token in found[:TELLING]]


def odds(in_spam: int, in_clean: int, counts: TokenCounts) -> float:
    """The log odds of one token: above 0 it speaks for spam. Needs messages of both kinds.

    Laplace smoothing, but its two pseudo-messages are shared between the kinds
    as the taught ones are. Shared evenly, a word seen once among many clean
    messages would speak for spam, only because less spam was taught.
    """
    ratio = counts.clean_messages / counts.spam_messages
    return log(ratio * (in_spam + counts.spam_prior) / (in_clean + PRIOR - counts.spam_prior))
