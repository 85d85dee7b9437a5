"""Judge incoming comments, and learn from operators, who always have the last word.

    NULL ──filter──> NULL | suspect | spam        nothing speaks against it | a person | out
    any  ──person──> clean | spam ──undo──> what the filter had said

What was learnt from a message is kept with the decision, so undo unlearns exactly.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import connection, transaction
from django.db.models import Count

from surfaces import house, spam
from surfaces.adapters.base import Item
from surfaces.errors import NotAllowed
from surfaces.models import Account, AuditEvent, Draft, Message, SpamDecision, SpamToken
from surfaces.models.draft import State
from surfaces.models.message import Direction, ReplyStatus, SpamStatus
from surfaces.storing import Judged

LATELY = timedelta(days=1)  # for the same text by others
BURST = timedelta(minutes=10)  # for many comments by one author
ALL_MESSAGES = ""  # the token that counts messages
SPAM_WHY = "The comment was marked as spam."  # why its drafts were withdrawn


def judge_items(account: Account, items: Sequence[Item], now: datetime) -> Mapping[str, Judged]:
    """Judge new or edited comments in a handful of queries, however many there are."""
    world = _World.of(account, [(item.author, item.content) for item in items], now)
    return {item.remote_id: world.judge(item.author, item.content) for item in items}


@dataclass(frozen=True, slots=True)
class _World:
    """All that judging a batch may depend on, read at once."""

    counts: spam.Counts
    known_authors: frozenset[str]
    recent: Mapping[str, int]
    authors_by_print: Mapping[str, frozenset[str]]
    known_domains: frozenset[str]
    thresholds: spam.Thresholds

    @classmethod
    def of(cls, account: Account, texts: Sequence[tuple[str, str]], now: datetime) -> _World:
        authors = {author for author, _ in texts}
        prints = {spam.fingerprint(text) for _, text in texts} - {""}
        tokens = {token for _, text in texts for token in spam.tokens_to_learn(text)}
        return cls(
            counts=_counts(tokens),
            known_authors=_known_authors(account, authors),
            recent=_recent(account, texts, authors, now),
            authors_by_print=_authors_by_print(texts, prints, now),
            known_domains=_known_domains(texts),
            thresholds=house.current().thresholds,
        )

    def judge(self, author: str, text: str) -> Judged:
        mark = spam.fingerprint(text)
        others = self.authors_by_print.get(mark, frozenset()) - {author}
        facts = spam.Facts(
            text=text,
            author=author,
            author_is_known=author in self.known_authors,
            same_text_other_authors=len(others),
            author_recent=self.recent.get(author, 0),
            known_domains=self.known_domains,
        )
        verdict = spam.judge(facts, self.counts, self.thresholds)
        return Judged(
            status=verdict.status,
            score=round(verdict.score, 4),
            reasons=tuple((reason.code, reason.words) for reason in verdict.reasons),
            fingerprint=mark,
        )


def _counts(tokens: set[str]) -> spam.Counts:
    rows = SpamToken.objects.filter(token__in=[*tokens, ALL_MESSAGES], is_forgotten=False)
    by_token = {row.token: (row.in_spam, row.in_clean) for row in rows}
    in_spam, in_clean = by_token.pop(ALL_MESSAGES, (0, 0))
    return spam.Counts(spam_messages=in_spam, clean_messages=in_clean, tokens=by_token)


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
        if (mark := spam.fingerprint(text)) in found:
            found[mark].add(author)
    return {mark: frozenset(authors) for mark, authors in found.items()}


def _known_domains(texts: Sequence[tuple[str, str]]) -> frozenset[str]:
    """Domains that stood in clean messages before: the filter counts them as tokens."""
    named = {domain for _, text in texts for domain in spam.domains(text)}
    rows = SpamToken.objects.filter(
        token__in=[f"url:{domain}" for domain in named], in_clean__gt=0, is_forgotten=False
    )
    return frozenset(token.removeprefix("url:") for token in rows.values_list("token", flat=True))


# ── people ────────────────────────────────────────────────────────────────


@transaction.atomic
def mark(message: Message, *, is_spam: bool, by: str, now: datetime) -> None:
    """Take an operator's word: it wins, it teaches, and spam withdraws its drafts."""
    row = _locked(message)
    _forget(row)
    learnt = list(spam.tokens_to_learn(row.content))
    SpamDecision.objects.create(
        message=row,
        is_spam=is_spam,
        tokens=learnt,
        filter_status=_filter_status(row),
        filter_score=row.spam_score,
        signs=sorted({str(reason[0]) for reason in row.spam_reasons if reason}),
        by=by,
        at=now,
    )
    _count(learnt, is_spam=is_spam, step=1)
    status = SpamStatus.SPAM if is_spam else SpamStatus.CLEAN
    _set_status(message, row, status)
    if is_spam:
        _withdraw_drafts(row, by=by, now=now)
    AuditEvent.objects.record(f"message.marked_{status}", actor=by, subject=row)


@transaction.atomic
def unmark(message: Message, *, by: str, now: datetime) -> None:
    """Take an operator's word back: unlearn it and let the filter's verdict stand."""
    row = _locked(message)
    decision = _forget(row)
    if decision is None:
        raise NotAllowed("Nobody marked this comment, so there is nothing to undo.")
    before = decision.filter_status
    _set_status(message, row, SpamStatus(before) if before else None)
    AuditEvent.objects.record("message.unmarked", actor=by, subject=row)


def _locked(message: Message) -> Message:
    row = Message.objects.select_for_update(of=("self",)).defer("search").get(pk=message.pk)
    if row.direction == Direction.OUTGOING:
        raise NotAllowed("These are our own words; the spam filter judges other people's.")
    return row


def _filter_status(row: Message) -> str:
    """What the filter had said, through any number of changes of mind."""
    return row.spam_status or ""


def _set_status(message: Message, row: Message, status: SpamStatus | None) -> None:
    Message.objects.filter(pk=row.pk).update(spam_status=status)
    message.spam_status = status


def _forget(row: Message) -> SpamDecision | None:
    """Unlearn the standing decision, if any, and put the filter's verdict back on `row`."""
    decision = SpamDecision.objects.filter(message=row).first()
    if decision is None:
        return None
    _count(decision.tokens, is_spam=decision.is_spam, step=-1)
    decision.delete()
    row.spam_status = decision.filter_status or None
    return decision


def _count(tokens: Sequence[str], *, is_spam: bool, step: int) -> None:
    column = "in_spam" if is_spam else "in_clean"
    # Sorted: two operators at once lock the rows in the same order.
    names = sorted({*tokens, ALL_MESSAGES})
    with connection.cursor() as cursor:
        if step > 0:
            cursor.execute(
                f"INSERT INTO surfaces_spamtoken AS t (token, in_spam, in_clean)"  # noqa: S608
                f" SELECT name, %s, %s FROM unnest(%s::text[]) name"
                f" ON CONFLICT (token) DO UPDATE SET {column} = t.{column} + 1",
                [int(is_spam), int(not is_spam), names],
            )
        else:
            cursor.execute(
                f"UPDATE surfaces_spamtoken SET {column} = {column} - 1"  # noqa: S608
                " WHERE token IN (SELECT token FROM surfaces_spamtoken"
                " WHERE token = ANY(%s::text[]) ORDER BY token FOR UPDATE)",
                [names],
            )
            unsaid = SpamToken.objects.filter(token__in=names, in_spam=0, in_clean=0)
            unsaid.filter(is_forgotten=False).delete()


def _withdraw_drafts(row: Message, *, by: str, now: datetime) -> None:
    movable = [State.COMPOSED, State.WAITING, State.APPROVED, State.FAILED]
    for draft in Draft.objects.answering(row).filter(state__in=movable).select_for_update():
        before = {"was": draft.state, "before": draft.why[:400], "attempts": row.reply_attempts}
        draft.advance(State.WITHDRAWN, decided_by=by, decided_at=now, why=SPAM_WHY)
        AuditEvent.objects.record(
            "draft.withdrawn",
            actor=by,
            subject=draft,
            why="the comment was marked as spam",
            **before,
        )
        # Unmarked, it must be as open as any: nothing else is left that could be retried.
        failed = Message.objects.filter(pk=row.pk, reply_status=ReplyStatus.FAILED)
        failed.update(reply_status=None, reply_attempts=0)
