"""Choose the source of a stone: exploit an answered thread or explore a kernel. Pure.

One random number, seeded by presence and slot, decides: below the share it explores; the
remainder picks among the threads. The result is reproducible.
"""

import math
import random
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta, tzinfo
from enum import StrEnum
from itertools import accumulate

from surfaces.text.reasons import StoredReason, reason

DAY = timedelta(days=1)
WINDOW = 14 * DAY  # older posts are not continued
HALF_LIFE = 3.0  # days in which a score halves
PER_COMMENTER = 1.5
PER_QUESTION = 2.0
NEVER = datetime.min.replace(tzinfo=UTC)


class StoneSource(StrEnum):
    EXPLORE = "explore"
    EXPLOIT = "exploit"
    NOTHING = "nothing"


@dataclass(frozen=True, kw_only=True, slots=True)
class CommentFacts:
    author: str
    is_question: bool = False
    is_ours: bool = False
    is_spam: bool = False

    @property
    def counts(self) -> bool:
        return not (self.is_ours or self.is_spam)


@dataclass(frozen=True, kw_only=True, slots=True)
class PostFacts:
    id: int
    title: str
    created_at: datetime
    comments: Sequence[CommentFacts] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class KernelFacts:
    id: int
    words: str = ""
    last_used_at: datetime | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class ChoiceFacts:
    presence: int
    slot: str
    share: float  # of exploring, 0 to 1
    posts: Sequence[PostFacts] = ()
    kernels: Sequence[KernelFacts] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class ScoreRow:
    post: int
    title: str
    comments: int
    commenters: int
    questions: int
    age_days: float
    score: float
    share: float = 0.0  # of all scores


@dataclass(frozen=True, kw_only=True, slots=True)
class StoneChoice:
    """The choice: `post_id` for exploit, `kernel_id` for explore."""

    kind: StoneSource
    why: StoredReason
    draw: float
    table: tuple[ScoreRow, ...] = ()
    post_id: int | None = None
    kernel_id: int | None = None


def choose(facts: ChoiceFacts, *, now: datetime) -> StoneChoice:
    """Explore or exploit, and what; the same facts give the same answer."""
    draw, share = drawn(facts.presence, facts.slot), facts.share
    table = score_table(facts.posts, now=now)
    kernel = min(facts.kernels, key=lambda k: (k.last_used_at or NEVER, k.id), default=None)
    explores, digits = draw < share, 2 if round(draw, 2) != round(share, 2) else 4
    said = {"draw": f"{draw:.{digits}f}", "share": f"{share:.{digits}f}"}
    lead = reason("stone.explore" if explores else "stone.exploit", **said)
    if not table and kernel is None:
        why = reason("stone.nothing", lead=lead)
        return StoneChoice(kind=StoneSource.NOTHING, why=why, draw=draw)
    if kernel and (explores or not table):
        if not explores:
            lead = reason("stone.explore_anyway", lead=lead)
        turn = reason("stone.kernel_unused")
        if kernel.last_used_at:
            turn = reason("stone.kernel_rested", day=f"{kernel.last_used_at:%Y-%m-%d}")
        why, source = reason("stone.kernel", lead=lead, turn=turn), StoneSource.EXPLORE
        return StoneChoice(kind=source, why=why, draw=draw, table=table, kernel_id=kernel.id)
    if explores:
        lead = reason("stone.exploit_anyway", lead=lead)
    rest = rest_of(draw, share)
    # The row whose interval of cumulated shares contains the number.
    reached = accumulate(row.share for row in table)
    row = next((row for row, end in zip(table, reached, strict=True) if rest < end), table[-1])
    part = f"{100 * row.share:.0f}"
    why = reason("stone.thread", lead=lead, rest=f"{rest:.2f}", title=row.title, share=part)
    return StoneChoice(kind=StoneSource.EXPLOIT, why=why, draw=draw, table=table, post_id=row.post)


def drawn(presence: int, slot: str) -> float:
    return random.Random(f"{presence}:{slot}").random()  # noqa: S311 - to be drawn again, no secret


def rest_of(draw: float, share: float) -> float:
    """The remainder after choosing the kind, scaled to 0 to 1."""
    return draw / share if draw < share else (draw - share) / (1 - share)


def score_table(posts: Iterable[PostFacts], *, now: datetime) -> tuple[ScoreRow, ...]:
    scored = [row for post in posts if (row := _row(post, now))]
    scored.sort(key=lambda row: (-row.score, row.post))
    whole = math.fsum(row.score for row in scored)
    return tuple(replace(row, share=row.score / whole) for row in scored)


def _row(post: PostFacts, now: datetime) -> ScoreRow | None:
    """None if the post is too old or has no comments by others."""
    age = now - post.created_at
    counted = [comment for comment in post.comments if comment.counts]
    if age > WINDOW or not counted:
        return None
    commenters = len({comment.author for comment in counted})
    questions = sum(comment.is_question for comment in counted)
    age_days = max(age / DAY, 0.0)
    return ScoreRow(
        post=post.id, title=post.title, comments=len(counted), commenters=commenters,
        questions=questions, age_days=age_days,
        score=score(len(counted), commenters, questions, age_days),
    )  # fmt: skip


def score(comments: int, commenters: int, questions: int, age_days: float) -> float:
    engagement = math.log(1 + comments) + PER_COMMENTER * commenters + PER_QUESTION * questions
    return float(engagement * 0.5 ** (age_days / HALF_LIFE))


LONGEST = 4_000  # characters searched
# Not the commenter's own text: URLs, code, quoted lines.
NOT_SAID = re.compile(r"https?://\S+|```.*?```|`[^`\n]*`|^[ \t]*>[^\n]*", re.DOTALL | re.MULTILINE)
ASKING = re.compile(
    r"""
    [?？؟⁇⁈‽]
    | \b(?: could | can | would | will ) \s+ (?: you | someone | anyone ) \s+ (?: \w+\s+ ){0,2}?
      (?: say | tell | explain | elaborate | expand | clarify | share | describe | give | show
        | unpack | walk | spell | go ) \b
    | \b please \s+ (?: say | tell | explain | elaborate | expand | clarify | share | describe
        | give | show | unpack | walk ) \b
    | \b say \s+ (?: a \s+ (?: bit | little ) \s+ )? more \b
    | \b (?: tell | show ) \s+ (?: me | us ) \s+ (?: more | how | why | what | where | when ) \b
    | \b (?: any | need | want | appreciate | love | like | hear ) \s+ (?: \w+\s+ ){0,2}?
      (?: more | further ) \s+ (?: details? | context ) \b
    | \b details? ,? \s+ please \b
    | \b elaborate \s+ (?: on | a | further | more ) \b
    | \b what \s+ do \s+ you \s+ mean \b | \b (?: does | do ) \s+ (?:any|some)one \s+ know \b
    | \b how \s+ (?: does | do \s+ you | would \s+ you | did \s+ you | can \s+ (?:i|we|you) ) \b
    | \b i (?: ['’]m | \s+ am )? \s+ (?: \w+\s+ )? (?: wonder | wondering | curious )
      \s+ (?: how | why | what | where | when | who | whether | if | about ) \b
    | (?: \b would | ['’]d ) \s+ (?: \w+\s+ )? (?: like | love ) \s+ to
      \s+ (?: know | hear | understand | learn ) \b
    | (?: ^ | [.!:;\n] ) \s* (?: (?: and | but | so ) \s+ )?
      (?: (?: how | why | where ) \s+ (?: is | are | was | were | would | could | should )
        | (?: how | what | why | when | where ) \s+ (?: does | do | did ) ) \b
    """,
    re.IGNORECASE | re.VERBOSE,
)
ASKING_CHINESE = re.compile(
    r"""
    请问|請問|请教|請教|求解释|求解釋|想知道|想了解|想请|想請
    | (?: 能|可以|可|请|請|麻烦|麻煩|希望|想|再|更 ) [^，。！!\n]{0,6}
      (?: 详细|詳細|展开|展開|具体|具體|多说|多說|多讲|多講|细说|細說|举例|舉例|举个例子|舉個例子 )
    | (?: 详细|詳細|展开|展開|具体|具體 ) (?: 说|說|讲|講|解释|解釋|谈|談|介绍|介紹|描述 )
    | 能不能|能否|可否|可不可以|是不是|什么意思|什麼意思|是什么|是什麼|什么是|什麼是
    | (?<!就是)(?<!知道) (?: 为什么|為什麼 ) | 为何|為何
    | (?<!无论)(?<!無論) 如何 (?: 做|看|理解|解释|解釋|处理|處理|判断|判斷|知道|实现|實現|能 )
    | (?<!不)(?<!没)(?<!沒) (?: 怎么|怎麼 ) (?: 做|看|样|樣|办|辦|理解|知道|回事|说|說|会|會|能 )
    | [吗嗎] [\s。！!~～…]* (?: $ | \n ) | [你您] [们們]? 呢
    """,
    re.VERBOSE,
)


def is_question(text: str) -> bool:
    """Whether somebody explicitly asks something, or asks for more, in English or Chinese."""
    lines = NOT_SAID.sub(" ", text[:LONGEST]).split("\n")
    # Long runs of white space would make the patterns quadratic.
    said = "\n".join(words for line in lines if (words := " ".join(line.split())))
    return bool(ASKING.search(said) or ASKING_CHINESE.search(said))


def day_name(now: datetime, zone: tzinfo) -> str:
    return now.astimezone(zone).date().isoformat()


def slot(now: datetime, zone: tzinfo, laid_today: int, per_day: int) -> str | None:
    """The next free slot of the agent's day, e.g. `2026-11-21#1`; None when all are used."""
    return f"{day_name(now, zone)}#{laid_today + 1}" if laid_today < per_day else None


def spread(per_day: int) -> timedelta:
    """How long after a stone the next may come: half of an even share of the day."""
    return DAY / max(per_day, 1) / 2
