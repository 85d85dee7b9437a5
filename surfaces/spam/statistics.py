"""What the spam filter's page reads, each in one query over a bounded number of rows.

However much is stored: the newest decisions, and the newest comments with any reason against
them. Where a bound cut something off, the figures say how far back they reach.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, cast

from django.db import connection
from django.db.models import Value
from django.db.models.functions import Coalesce

from surfaces.messages.models import Message, beginning
from surfaces.operators.scope import Scope
from surfaces.spam import scoring
from surfaces.spam.models import SpamDecision, SpamToken
from surfaces.spam.replay import LEVELS, NOTHING, ReplayDecision, Undecided
from surfaces.spam.rules import RuleCode

MOST_DECISIONS = 3_000
MOST_COMMENTS = 10_000
MONTH, WEEK = timedelta(days=30), timedelta(days=7)
EXCERPT = 140
TELLING = 12


@dataclass(frozen=True, slots=True)
class DecisionCounts:
    """Decisions, newest first; `back_to` where older ones were left unread."""

    rows: list[ReplayDecision]
    back_to: datetime | None = None

    def since(self, moment: datetime) -> list[ReplayDecision]:
        return [row for row in self.rows if row.at >= moment]


def decided(reach: Scope, most: int = MOST_DECISIONS) -> DecisionCounts:
    newest = SpamDecision.objects.order_by("-at", "-id")
    rows = newest
    if not reach.is_whole:
        ids = newest.values("pk")[: most + 1]
        rows = reach.narrow(newest.filter(pk__in=ids), account="message__account", agent="")
    found = rows.annotate(learnt=Coalesce("tokens__len", 0)).values_list(
        "message_id", "is_spam", "filter_status", "filter_score", "signs", "at", "by", "learnt"
    )[: most + 1]
    read = [
        ReplayDecision(
            message, is_spam, said if said in LEVELS else NOTHING, score, frozenset(signs), *rest
        )
        for message, is_spam, said, score, signs, *rest in found
    ]
    return DecisionCounts(read[:most], read[most - 1].at if len(read) > most else None)


def messages(ids: Iterable[int]) -> dict[int, Message]:
    rows = Message.objects.filter(pk__in=set(ids)).select_related("account")
    shown = rows.only("author", "kind", "spam_reasons", "account__name")
    return {row.pk: row for row in shown.annotate(excerpt=beginning("content", EXCERPT))}


# Of the newest comments with any score, whoever may see them, so that the walk is bounded.
LATELY = """
WITH newest AS MATERIALIZED (
    SELECT id, account_id, seen_at, spam_status, spam_score, spam_reasons FROM messages
    WHERE spam_score >= 0.1 AND seen_at >= %(month)s ORDER BY seen_at DESC LIMIT %(most)s
), reached AS MATERIALIZED (
    SELECT * FROM newest
    WHERE %(accounts)s::bigint[] IS NULL OR account_id = ANY(%(accounts)s::bigint[])
), alike AS (
    SELECT seen_at >= %(week)s AS is_recent, spam_status, spam_score, spam_reasons, count(*) AS n
    FROM reached WHERE (spam_status IS NULL OR spam_status IN ('suspect', 'spam'))
        AND NOT EXISTS (SELECT FROM surfaces_spamdecision d WHERE d.message_id = reached.id)
    GROUP BY 1, 2, 3, 4
)
SELECT 'undecided', NULL, is_recent, spam_status,
    floor(spam_score::numeric * 100)::int,
    spam_reasons @> %(injection)s::jsonb OR spam_reasons @> %(unread)s::jsonb,
    spam_reasons @> %(unproven)s::jsonb
        OR NOT jsonb_path_exists(spam_reasons, %(proofs)s::jsonpath),
    sum(n)::bigint, NULL::timestamptz
FROM alike GROUP BY 3, 4, 5, 6, 7
UNION ALL
SELECT 'sign', reason->>0, NULL, NULL, NULL, NULL, NULL, count(DISTINCT id), NULL
FROM reached, jsonb_array_elements(spam_reasons) reason GROUP BY 2
UNION ALL
SELECT 'read', NULL, NULL, NULL, NULL, NULL, NULL, count(*), min(seen_at) FROM newest
"""
WEAK = sorted({*scoring.NEVER_PROOF, *scoring.IN_FAVOUR})
PROOFS = "$[*][0] ? (" + " && ".join(f'@ != "{sign}"' for sign in WEAK) + ")"


@dataclass(frozen=True, slots=True)
class RecentCounts:
    undecided: list[Undecided]
    fired: dict[str, int]  # comments by sign
    read: int  # comments looked at, on any account
    back_to: datetime | None = None  # where older ones were left unread


def lately(reach: Scope, now: datetime, most: int = MOST_COMMENTS) -> RecentCounts:
    given: dict[str, Any] = {
        "month": now - MONTH, "week": now - WEEK, "most": most,
        "accounts": None if reach.accounts is None else sorted(reach.accounts),
        "injection": f'[["{RuleCode.INJECTION}"]]', "unread": f'[["{RuleCode.UNREAD}"]]',
        "unproven": f'[["{RuleCode.UNPROVEN}"]]', "proofs": PROOFS,
    }  # fmt: skip
    with connection.cursor() as cursor:
        cursor.execute(LATELY, given)
        rows = cursor.fetchall()
    groups = [_group(*row[2:8]) for row in rows if row[0] == "undecided"]
    fired = {row[1]: row[7] for row in rows if row[0] == "sign" and row[1]}
    read, oldest = next((row[7], row[8]) for row in rows if row[0] == "read")
    return RecentCounts(groups, fired, read, oldest if read >= most else None)


def _group(
    is_recent: bool, status: str | None, hundredths: int, is_held: bool, is_weak: bool, count: int
) -> Undecided:
    # One sign stands for what bounds a verdict, another for whatever could prove spam.
    bounds = {RuleCode.INJECTION} if is_held else set()
    bounds.add(RuleCode.UNPROVEN if is_weak else RuleCode.LURE)
    verdict = cast(scoring.Status, status)
    return Undecided(is_recent, verdict, hundredths / 100, frozenset(bounds), count)


@dataclass(frozen=True, slots=True)
class LearnedCounts:
    """How many messages taught the filter, and the words that speak loudest."""

    in_spam: int
    in_clean: int
    for_spam: list[SpamToken]
    for_clean: list[SpamToken]

    @property
    def needed(self) -> int:
        return scoring.FEWEST_TAUGHT

    @property
    def is_enough(self) -> bool:
        return min(self.in_spam, self.in_clean) >= self.needed


def learnt() -> LearnedCounts:
    tokens = SpamToken.objects
    parts: list[Any] = [
        tokens.telling(spam=True).annotate(side=Value("spam"))[:TELLING],
        tokens.telling(spam=False).annotate(side=Value("clean"))[:TELLING],
        tokens.filter(token="").annotate(side=Value("")),
    ]
    named = [part.values_list("token", "in_spam", "in_clean", "side") for part in parts]
    rows = list(named[0].union(*named[1:], all=True))
    by_side = {
        side: [SpamToken(token=t, in_spam=s, in_clean=c) for t, s, c, at in rows if at == side]
        for side in ("spam", "clean", "")
    }
    taught = by_side[""][0] if by_side[""] else SpamToken(token="")
    return LearnedCounts(taught.in_spam, taught.in_clean, by_side["spam"], by_side["clean"])
