"""Rules of the spam filter, one function each, with a reason.

A rule sees the facts and their text, nothing else; `scoring` weighs the reasons together.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from math import prod

from surfaces.spam.phrases.injections import INJECTED, Phrase, said
from surfaces.spam.phrases.sales import LURED
from surfaces.spam.tokenizer import LOOKED_AT, TokenizedText, is_address
from surfaces.text.reasons import StoredReason, reason


class RuleCode(StrEnum):
    LINKS = "links"
    HIDING_LINKS = "hiding_links"
    REPEATED = "repeated"
    HASTY = "hasty"
    MENTIONS = "mentions"
    HIDDEN = "hidden"
    INJECTION = "injection"
    LURE = "lure"
    SHOUTING = "shouting"
    MONOTONE = "monotone"
    UNREAD = "unread"
    WORDS = "words"
    CLEAN_WORDS = "clean_words"
    UNPROVEN = "unproven"  # no reason against it: a bound on what the others may do
    KNOWN = "known"
    OURS = "ours"


@dataclass(frozen=True, kw_only=True, slots=True)
class MessageFacts:
    text: str
    title: str = ""
    author: str = ""
    author_is_known: bool = False  # answered or cleared before
    author_is_ours: bool = False
    same_text_other_authors: int = 0  # others with the same fingerprint in the last day
    author_recent: int = 0  # comments by the author in the last ten minutes
    known_domains: frozenset[str] = frozenset()  # of `domains(whole)`, those seen here before

    @property
    def whole(self) -> str:
        """What is read, and what a decision about it trains."""
        return f"{self.title}\n{self.text}" if self.title else self.text


@dataclass(frozen=True, slots=True)
class SpamReason:
    """Why, for operators. A negative weight speaks for the author."""

    code: RuleCode
    why: StoredReason
    weight: float


Rule = Callable[[MessageFacts, TokenizedText], Iterator[SpamReason]]

MASS_MENTION = 5
SHORTENERS = frozenset(
    {"bit.ly", "tinyurl.com", "t.co", "goo.gl", "is.gd", "ow.ly", "cutt.ly", "rb.gy", "t.ly"}
    | {"shorturl.at", "rebrand.ly", "buff.ly", "tiny.cc", "v.gd", "adf.ly", "linktr.ee"}
    | {"t.cn", "dwz.cn", "url.cn", "suo.im"}
)
_CODE = re.compile(r"```[^`]{0,9000}(?:```|$)|`[^`\n]{1,300}`")
_MENTIONED = re.compile(r"(?<![\w@./])@([a-z0-9_][\w-]{1,39})(?![\w/(]|\.\w)")
_PASSWORD_IN_LINK = re.compile(r"://[^\s/?#@]{1,200}@")
_SPELLED = re.compile(r"(?:[ .*_-][a-z]){7}(?![a-z])")
_COMMENT = re.compile(r"<!--[^<>]{8,2000}-->")
_STRETCHED = re.compile(r"([a-z])\1{8}")  # a Chinese 哈哈哈 may be as long as it likes
_CAPITALS = re.compile("[A-Z]")
_SMALL = re.compile("[a-z]")
_PICTURES = re.compile("[\U0001f300-\U0001faff\u2600-\u27bf]")


def links(facts: MessageFacts, reading: TokenizedText) -> Iterator[SpamReason]:
    """One link is a reference. Many, to places nobody named before, are a campaign."""
    if not reading.hosts:
        return
    new, total = len(_unseen(facts, reading)), len(reading.hosts)
    weight = _step(total, (2, 0.1), (3, 0.2), (5, 0.35), (8, 0.5), (15, 0.7))
    weight = noisy_or([weight, _step(new, (1, 0.15), (2, 0.3), (3, 0.45), (5, 0.6))])
    if weight:
        why = reason("spam.links_new", n=total, new=new) if new else reason("spam.links", n=total)
        yield SpamReason(RuleCode.LINKS, why, weight)


def links_that_hide(_facts: MessageFacts, reading: TokenizedText) -> Iterator[SpamReason]:
    short = sorted(SHORTENERS.intersection(reading.hosts))
    if short:
        yield SpamReason(RuleCode.HIDING_LINKS, reason("spam.short_link", short=short[0]), 0.45)
    if any(is_address(host) for host in reading.hosts):
        yield SpamReason(RuleCode.HIDING_LINKS, reason("spam.bare_address"), 0.5)
    if any("xn--" in host or not host.isascii() for host in reading.hosts):
        yield SpamReason(RuleCode.HIDING_LINKS, reason("spam.punycode"), 0.45)
    if reading.hosts and "@" in reading.plain and _PASSWORD_IN_LINK.search(reading.plain):
        yield SpamReason(RuleCode.HIDING_LINKS, reason("spam.misleading_link"), 0.6)


def repeated_text(facts: MessageFacts, reading: TokenizedText) -> Iterator[SpamReason]:
    others = facts.same_text_other_authors
    weight = _step(others, (1, 0.35), (2, 0.55), (4, 0.75), (7, 0.85))
    if others >= 7 and reading.length >= 80:
        weight = 0.92  # nobody shares a whole paragraph with seven others by chance
    if weight:
        yield SpamReason(RuleCode.REPEATED, reason("spam.repeated", n=others), weight)


def haste(facts: MessageFacts, _reading: TokenizedText) -> Iterator[SpamReason]:
    recent = facts.author_recent
    if weight := _step(recent, (6, 0.15), (12, 0.35), (25, 0.55)):
        yield SpamReason(RuleCode.HASTY, reason("spam.hasty", author_recent=recent), weight)


def mass_mentions(facts: MessageFacts, reading: TokenizedText) -> Iterator[SpamReason]:
    if reading.plain.count("@") < MASS_MENTION:
        return
    mentioned = set(_MENTIONED.findall(_CODE.sub(" ", reading.plain)))
    mentioned.discard(facts.author.casefold())
    if weight := _step(len(mentioned), (MASS_MENTION, 0.45), (10, 0.65), (20, 0.8)):
        why = reason("spam.mentions", mentioned=len(mentioned))
        yield SpamReason(RuleCode.MENTIONS, why, weight)


def hidden_writing(_facts: MessageFacts, reading: TokenizedText) -> Iterator[SpamReason]:
    if reading.smuggled:
        yield SpamReason(RuleCode.HIDDEN, reason("spam.invisible"), 0.65)
    if weight := _step(reading.inside_words, (1, 0.2), (2, 0.4), (4, 0.6)):
        why = reason("spam.split_words", n=reading.inside_words)
        yield SpamReason(RuleCode.HIDDEN, why, weight)
    if weight := _step(reading.two_alphabets, (1, 0.3), (2, 0.45), (5, 0.6)):
        yield SpamReason(RuleCode.HIDDEN, reason("spam.foreign_letters"), weight)
    if "<!--" in reading.plain and _COMMENT.search(_CODE.sub(" ", reading.plain)):
        yield SpamReason(RuleCode.HIDDEN, reason("spam.hidden_comment"), 0.3)
    if _SPELLED.search(reading.plain):
        yield SpamReason(RuleCode.HIDDEN, reason("spam.spelled"), 0.4)


def injection(_facts: MessageFacts, reading: TokenizedText) -> Iterator[SpamReason]:
    """Suspect at least, and never spam by that alone: people talk about it, too."""
    phrases = said(INJECTED, reading.tokens, reading.plain)
    if phrases:
        weight = _step(len(phrases), (1, 0.6), (2, 0.7), (3, 0.8))
        yield SpamReason(RuleCode.INJECTION, reason("spam.asks", asks=_named(phrases)), weight)


def lures(facts: MessageFacts, reading: TokenizedText) -> Iterator[SpamReason]:
    phrases = said(LURED, reading.tokens, reading.plain)
    if phrases:
        weight = noisy_or(phrase.weight for phrase in phrases)
        why = reason("spam.offers", offers=_named(phrases))
        yield SpamReason(RuleCode.LURE, why, min(weight, 0.95))
        if weight >= 0.45 and _unseen(facts, reading):
            yield SpamReason(RuleCode.LURE, reason("spam.offer_domain"), 0.5)


def shouting(_facts: MessageFacts, reading: TokenizedText) -> Iterator[SpamReason]:
    capitals = len(_CAPITALS.findall(reading.raw)) if reading.raw != reading.plain else 0
    if capitals >= 25 and capitals > 2 * len(_SMALL.findall(reading.raw)):
        yield SpamReason(RuleCode.SHOUTING, reason("spam.capitals"), 0.2)
    long_words = " ".join([token for token in reading.tokens if len(token) > 9])
    if reading.plain.count("!") >= 6 or _STRETCHED.search(long_words):
        yield SpamReason(RuleCode.SHOUTING, reason("spam.shouts"), 0.2)
    if not reading.raw.isascii() and len(_PICTURES.findall(reading.raw)) >= 8:
        yield SpamReason(RuleCode.SHOUTING, reason("spam.pictures"), 0.2)


def monotony(_facts: MessageFacts, reading: TokenizedText) -> Iterator[SpamReason]:
    words = reading.words[:200]
    if len(words) >= 20 and len(set(words)) < 0.3 * len(words):
        yield SpamReason(RuleCode.MONOTONE, reason("spam.monotone"), 0.45)


def unread_rest(_facts: MessageFacts, reading: TokenizedText) -> Iterator[SpamReason]:
    if reading.length > LOOKED_AT:
        words = reason("spam.unread", looked_at=LOOKED_AT, length=reading.length)
        yield SpamReason(RuleCode.UNREAD, words, 0.4)


def known_author(facts: MessageFacts, _reading: TokenizedText) -> Iterator[SpamReason]:
    if facts.author_is_known:
        yield SpamReason(RuleCode.KNOWN, reason("spam.known"), -0.5)


RULES: tuple[Rule, ...] = (
    links, links_that_hide, repeated_text, haste, mass_mentions, hidden_writing, injection, lures,
    shouting, monotony, unread_rest, known_author,
)  # fmt: skip


def _unseen(facts: MessageFacts, reading: TokenizedText) -> set[str]:
    return set(reading.hosts) - facts.known_domains


def _step(number: int, *steps: tuple[int, float]) -> float:
    return next((weight for least, weight in reversed(steps) if number >= least), 0.0)


def noisy_or(weights: Iterable[float]) -> float:
    """Independent hints add up, and never pass 1."""
    return 1 - prod((1 - weight for weight in weights), start=1.0)


def _named(phrases: Iterable[Phrase]) -> list[StoredReason]:
    return [reason(code) for code in dict.fromkeys(phrase.code for phrase in phrases)]
