"""Which posts an exploration offers: one decision for each post, with its reason. Pure.

The score of a post is 1 if the agent follows its author. Else it is the best share, over all topics
and keywords, of the words of one of them that stand in title, community or text: of "tide tables",
"a table of tides" has both words, 1.0, and "tides" one of two, 0.5. Where the agent names no topic,
keyword or author, every post of its communities scores 1. A post below `min_confidence` is not
offered.
"""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from dialogue.stones.choice import is_question
from surfaces.text.reasons import StoredReason, as_reason, reason

YOUNGEST = timedelta(minutes=5)
OLDEST = timedelta(hours=24)
SILENCE = timedelta(minutes=2)  # after a human's last word
MOST_AGENTS = 2  # in a thread that is still offered
MOST_OFFERED = 10
LONGEST = 4_000  # characters of a text that are compared

_WORD = re.compile(r"[^\W_]+")
_CJK = re.compile("[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]")
STEM = 4  # letters from which a word also stands where another one begins with it


@dataclass(frozen=True, kw_only=True, slots=True)
class Interests:
    topics: tuple[str, ...] = ()
    keywords: tuple[str, ...] = ()
    follows: tuple[str, ...] = ()
    communities: tuple[str, ...] = ()  # none: every community
    takes_questions: bool = True
    takes_discussions: bool = True
    min_confidence: float = 0.7

    @property
    def terms(self) -> tuple[str, ...]:
        return (*self.keywords, *self.topics)


@dataclass(frozen=True, kw_only=True, slots=True)
class CandidateFacts:
    """A post and its thread, as far as they are known."""

    remote_id: str
    author: str = ""
    title: str = ""
    text: str = ""
    community: str = ""
    created_at: datetime
    spam_status: str | None = None
    is_deleted: bool = False
    is_ours: bool = False  # written by an account of this instance
    is_answered: bool = False  # by this agent, through any of its accounts
    agents: int = 0  # that speak in the thread
    last_human_at: datetime | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class CandidateVerdict:
    is_offered: bool
    why: StoredReason
    is_question: bool = False
    score: float = 0.0


def judge(post: CandidateFacts, interests: Interests, now: datetime) -> CandidateVerdict:
    """Whether a post is offered; the first rule that applies says why not."""
    if why := _out_of_range(post, interests, now) or objection(post, now):
        return CandidateVerdict(is_offered=False, why=why)
    asks = is_question(f"{post.title}\n{post.text[:LONGEST]}")
    score, why = relevance(post, interests)
    if not (interests.takes_questions if asks else interests.takes_discussions):
        unwanted = "exploration.no_questions" if asks else "exploration.no_discussions"
        return CandidateVerdict(
            is_offered=False, why=reason(unwanted), is_question=asks, score=score
        )
    is_offered = score >= interests.min_confidence
    if not is_offered:
        least = interests.min_confidence
        why = reason("exploration.off_topic", score=round(score, 2), least=least)
    return CandidateVerdict(is_offered=is_offered, why=why, is_question=asks, score=score)


def objection(post: CandidateFacts, now: datetime) -> StoredReason | None:
    """Why nothing may be said under a post now, also where it was offered before."""
    spoken_at = post.last_human_at
    return _first(
        (post.is_ours, "exploration.ours"),
        (post.is_deleted, "exploration.deleted"),
        (post.spam_status == "spam", "exploration.spam"),
        (post.spam_status == "suspect", "exploration.suspect"),
        (post.is_answered, "exploration.answered"),
        (post.agents > MOST_AGENTS, reason("exploration.crowded", agents=post.agents)),
        (spoken_at is not None and now - spoken_at < SILENCE, "exploration.human_speaks"),
    )


def _out_of_range(post: CandidateFacts, interests: Interests, now: datetime) -> StoredReason | None:
    communities = {plain_community(name) for name in interests.communities}
    elsewhere = bool(communities) and plain_community(post.community) not in communities
    age = now - post.created_at
    return _first(
        (elsewhere, reason("exploration.other_community", community=post.community)),
        (age < YOUNGEST, "exploration.too_new"),
        (age > OLDEST, "exploration.too_old"),
    )


def _first(*rules: tuple[bool, StoredReason | str]) -> StoredReason | None:
    return next((as_reason(why) for applies, why in rules if applies), None)


def relevance(post: CandidateFacts, interests: Interests) -> tuple[float, StoredReason]:
    """The score and what it comes from."""
    followed = {_plain(name).lstrip("@") for name in interests.follows}
    if post.author and _plain(post.author).lstrip("@") in followed:
        return 1.0, reason("exploration.follows", author=post.author)
    if not interests.terms and not followed:
        return 1.0, reason("exploration.in_community", community=post.community)
    said = _plain(f"{post.title}\n{post.community}\n{post.text[:LONGEST]}")
    words = frozenset(_WORD.findall(said))
    best = max(((_share(term, said, words), term) for term in interests.terms), default=(0.0, ""))
    return best[0], reason("exploration.matches", term=best[1], score=round(best[0], 2))


def _share(term: str, said: str, words: frozenset[str]) -> float:
    """The share of the words of `term` that were said."""
    plain = _plain(term)
    if _CJK.search(plain):  # written without blanks
        return 1.0 if plain in said else 0.0
    wanted = set(_WORD.findall(plain))
    found = sum(1 for word in wanted if _stands(word, words))
    return found / len(wanted) if wanted else 0.0


def _stands(word: str, words: frozenset[str]) -> bool:
    return word in words or (len(word) >= STEM and any(said.startswith(word) for said in words))


def _plain(text: str) -> str:
    return unicodedata.normalize("NFKC", text).casefold().strip()


def plain_community(name: str) -> str:
    """A community's name for comparison: "m/General" is "general"."""
    return _plain(name).removeprefix("m/").strip("/#")


def ranked(verdicts: Sequence[CandidateVerdict], moments: Sequence[datetime]) -> list[int]:
    """Positions of the offered ones: questions first, then by score, then the newest."""
    offered = [at for at, verdict in enumerate(verdicts) if verdict.is_offered]
    offered.sort(key=lambda at: moments[at], reverse=True)
    offered.sort(key=lambda at: (not verdicts[at].is_question, -verdicts[at].score))
    return offered[:MOST_OFFERED]
