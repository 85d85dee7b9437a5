"""Classify incoming comments; operators' decisions override the filter.

    NULL ──filter──> NULL | suspect | spam        nothing speaks against it | a person | out
    any  ──person──> clean | spam ──undo──> what the filter had said

What was learnt from a message is kept with the decision, so undo unlearns exactly.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Self

from django.db.models import Count, Q

from surfaces.accounts.models.account import Account
from surfaces.adapters.types import Item
from surfaces.messages.models import Message, ReplyStatus, SpamStatus
from surfaces.messages.store import Classification
from surfaces.settings import instance
from surfaces.settings.models import InstanceSettings
from surfaces.spam import scoring, tokenizer
from surfaces.spam.models import SpamToken
from surfaces.spam.rules import MessageFacts

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
    counts: scoring.TokenCounts
    known_authors: frozenset[str]
    recent: Mapping[str, int]
    authors_by_print: Mapping[str, frozenset[str]]
    known_domains: frozenset[str]
    thresholds: scoring.Thresholds

    @classmethod
    def of(cls, account: Account, texts: Sequence[tuple[str, str]], now: datetime) -> Self:
        authors = {author for author, _ in texts}
        tokens = {token for _, text in texts for token in tokenizer.tokens_to_learn(text)}
        taught = SpamToken.objects.filter(token__in=[*tokens, ALL_MESSAGES], is_forgotten=False)
        by_token = {row.token: (row.in_spam, row.in_clean) for row in taught}
        totals = by_token.pop(ALL_MESSAGES, (0, 0))
        theirs = Message.objects.filter(account=account, author__in=authors)
        # Known: an operator called them clean, or we answered them, on this account.
        met = Q(reply_status=ReplyStatus.SENT) | Q(spam_status=SpamStatus.CLEAN)
        known = theirs.incoming().filter(met).values_list("author", flat=True).distinct()
        # A first reading brings years of comments at once: that is no burst.
        recent = theirs.filter(created_at__gte=now - BURST, created_at__lte=now)
        # The filter counts domains as tokens: those that stood in clean messages are known.
        named = {f"url:{domain}" for _, text in texts for domain in tokenizer.domains(text)}
        seen = SpamToken.objects.filter(token__in=named, in_clean__gt=0, is_forgotten=False)
        return cls(
            counts=scoring.TokenCounts(*totals, by_token),
            known_authors=frozenset(filter(None, known)),
            recent=dict(recent.values_list("author").annotate(count=Count("pk")).order_by()),
            authors_by_print=_authors_by_print(texts, now),
            known_domains=frozenset(row.token.removeprefix("url:") for row in seen.only("token")),
            thresholds=thresholds_of(instance.current()),
        )

    def judge(self, author: str, text: str) -> Classification:
        mark = tokenizer.fingerprint(text)
        facts = MessageFacts(
            text=text, author=author, author_is_known=author in self.known_authors,
            same_text_other_authors=len(self.authors_by_print.get(mark, frozenset()) - {author}),
            author_recent=self.recent.get(author, 0), known_domains=self.known_domains,
        )  # fmt: skip
        verdict = scoring.score_message(facts, self.counts, self.thresholds)
        return Classification(
            status=verdict.status, score=round(verdict.score, 4),
            reasons=tuple((reason.code, reason.why) for reason in verdict.reasons),
            fingerprint=mark,
        )  # fmt: skip


def _authors_by_print(texts: Sequence[tuple[str, str]], now: datetime) -> dict[str, frozenset[str]]:
    found: dict[str, set[str]] = {}
    for author, text in texts:
        found.setdefault(tokenizer.fingerprint(text), set()).add(author)
    found.pop("", None)  # too short to have one
    rows = Message.objects.filter(fingerprint__in=found, seen_at__gte=now - LATELY)
    for mark, by in rows.values_list("fingerprint", "author").distinct():
        found[mark].add(by or "")
    return {mark: frozenset(authors) for mark, authors in found.items()}
