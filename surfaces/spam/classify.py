"""Classify incoming comments; operators' decisions override the filter.

    NULL ──filter──> NULL | suspect | spam        nothing speaks against it | a person | out
    any  ──person──> clean | spam ──undo──> what the filter had said

What was learnt from a message is kept with the decision, so undo unlearns exactly.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import Count

from surfaces.accounts.models.account import Account
from surfaces.adapters.types import Item
from surfaces.messages.models import Message, ReplyStatus, SpamStatus
from surfaces.messages.store import Classification
from surfaces.settings import instance
from surfaces.settings.models import InstanceSettings
from surfaces.spam import rules as spam_rules
from surfaces.spam import scoring, tokenizer
from surfaces.spam.models import SpamToken

LATELY = timedelta(days=1)  # for the same text by others
BURST = timedelta(minutes=10)  # for many comments by one author
ALL_MESSAGES = ""  # the token that counts messages


def classify_items(
    account: Account, items: Sequence[Item], now: datetime
) -> Mapping[str, Classification]:
    """Judge new or edited comments in a handful of queries, however many there are."""
    world = BatchFacts.of(account, [(item.author, item.content) for item in items], now)
    return {item.remote_id: world.judge(item.author, item.content) for item in items}


def thresholds_of(settings: InstanceSettings) -> scoring.Thresholds:
    return scoring.Thresholds(settings.suspect_from, settings.spam_from)


@dataclass(frozen=True, slots=True)
class BatchFacts:
    """All that judging a batch may depend on, read at once."""

    counts: scoring.TokenCounts
    known_authors: frozenset[str]
    recent: Mapping[str, int]
    authors_by_print: Mapping[str, frozenset[str]]
    known_domains: frozenset[str]
    thresholds: scoring.Thresholds

    @classmethod
    def of(cls, account: Account, texts: Sequence[tuple[str, str]], now: datetime) -> BatchFacts:
        authors = {author for author, _ in texts}
        prints = {tokenizer.fingerprint(text) for _, text in texts} - {""}
        tokens = {token for _, text in texts for token in tokenizer.tokens_to_learn(text)}
        return cls(
            counts=_counts(tokens),
            known_authors=_known_authors(account, authors),
            recent=_recent(account, texts, authors, now),
            authors_by_print=_authors_by_print(texts, prints, now),
            known_domains=_known_domains(texts),
            thresholds=thresholds_of(instance.current()),
        )

    def judge(self, author: str, text: str) -> Classification:
        mark = tokenizer.fingerprint(text)
        others = self.authors_by_print.get(mark, frozenset()) - {author}
        facts = spam_rules.MessageFacts(
            text=text,
            author=author,
            author_is_known=author in self.known_authors,
            same_text_other_authors=len(others),
            author_recent=self.recent.get(author, 0),
            known_domains=self.known_domains,
        )
        verdict = scoring.score_message(facts, self.counts, self.thresholds)
        return Classification(
            status=verdict.status,
            score=round(verdict.score, 4),
            reasons=tuple((reason.code, reason.why) for reason in verdict.reasons),
            fingerprint=mark,
        )


def _counts(tokens: set[str]) -> scoring.TokenCounts:
    rows = SpamToken.objects.filter(token__in=[*tokens, ALL_MESSAGES], is_forgotten=False)
    by_token = {row.token: (row.in_spam, row.in_clean) for row in rows}
    in_spam, in_clean = by_token.pop(ALL_MESSAGES, (0, 0))
    return scoring.TokenCounts(spam_messages=in_spam, clean_messages=in_clean, tokens=by_token)


def _known_authors(account: Account, authors: set[str]) -> frozenset[str]:
    """Authors an operator called clean, or whom we answered, on this account."""
    theirs = Message.objects.filter(account=account, author__in=authors).incoming()
    met = theirs.filter(reply_status=ReplyStatus.SENT) | theirs.filter(spam_status=SpamStatus.CLEAN)
    return frozenset(met.values_list("author", flat=True).distinct())


def _recent(
    account: Account, texts: Sequence[tuple[str, str]], authors: set[str], now: datetime
) -> dict[str, int]:
    """Comments per author within minutes; the batch itself counts only when it is live.

    A first reading brings years of comments at once: that is no burst.
    """
    rows = Message.objects.filter(
        account=account, author__in=authors, created_at__gte=now - BURST, created_at__lte=now
    )
    return dict(rows.values_list("author").annotate(count=Count("pk")).order_by())


def _authors_by_print(
    texts: Sequence[tuple[str, str]], prints: set[str], now: datetime
) -> dict[str, frozenset[str]]:
    found: dict[str, set[str]] = {mark: set() for mark in prints}
    rows = Message.objects.filter(fingerprint__in=prints, seen_at__gte=now - LATELY)
    for mark, author in rows.values_list("fingerprint", "author").distinct():
        found[mark].add(author)
    for author, text in texts:
        if (mark := tokenizer.fingerprint(text)) in found:
            found[mark].add(author)
    return {mark: frozenset(authors) for mark, authors in found.items()}


def _known_domains(texts: Sequence[tuple[str, str]]) -> frozenset[str]:
    """Domains that stood in clean messages before: the filter counts them as tokens."""
    named = {domain for _, text in texts for domain in tokenizer.domains(text)}
    rows = SpamToken.objects.filter(
        token__in=[f"url:{domain}" for domain in named], in_clean__gt=0, is_forgotten=False
    )
    return frozenset(token.removeprefix("url:") for token in rows.values_list("token", flat=True))


# ── people ────────────────────────────────────────────────────────────────
