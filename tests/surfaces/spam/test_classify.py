"""The filter judges what comes in; a person's word wins, teaches, and can be undone."""

from __future__ import annotations

import threading
from typing import Any

import pytest
from django.db import connection

from surfaces.adapters.types import Item, ItemKind
from surfaces.errors import NotAllowed
from surfaces.messages.store import store
from surfaces.models import AuditEvent, Draft, Message, SpamDecision, SpamToken
from surfaces.spam import classify, feedback
from tests.factories import NOON, make_account, make_approved, make_draft, make_message, make_post

pytestmark = [pytest.mark.django_db, pytest.mark.engine]
MIRA = "operator:mira"
LURE = "FREE airdrop!!! claim your tokens now at http://bit.ly/x1 and visit my profile"


def item(name: str, content: str, author: str = "nightjar") -> Item:
    return Item(
        remote_id=name, kind=ItemKind.COMMENT, post_id="p", author=author, created_at=NOON,
        content=content,
    )  # fmt: skip


def words() -> dict[str, tuple[int, int]]:
    return {row.token: (row.in_spam, row.in_clean) for row in SpamToken.objects.all()}


def test_ordinary_words_are_left_alone_and_lures_are_held():
    account = make_account()
    verdicts = classify.classify_items(
        account, [item("a", "What does the tide table leave out?"), item("b", LURE)], NOON
    )
    assert verdicts["a"].status is None
    assert verdicts["b"].status in {"suspect", "spam"}
    assert verdicts["b"].reasons


def test_the_filter_never_calls_anything_clean():
    verdicts = classify.classify_items(
        make_account(), [item(str(n), "thanks!") for n in range(5)], NOON
    )
    assert {verdict.status for verdict in verdicts.values()} == {None}


def test_marking_spam_withdraws_its_drafts_and_keeps_it_out():
    draft = make_approved()
    feedback.mark(draft.target, is_spam=True, by=MIRA, now=NOON)
    draft.refresh_from_db()
    assert draft.state == "withdrawn"
    assert not Message.objects.awaiting_reply().exists()


def test_undo_unlearns_exactly_and_opens_the_comment_again():
    make_message(content="an honest question about reefs")
    comment = make_message(content=LURE, spam_status="suspect", spam_score=0.6)
    before = words()
    feedback.mark(comment, is_spam=True, by=MIRA, now=NOON)
    assert words() != before
    feedback.unmark(comment, by=MIRA, now=NOON)
    comment.refresh_from_db()
    assert words() == before
    assert (comment.spam_status, SpamDecision.objects.count()) == ("suspect", 0)


def test_unmarking_spam_lets_the_loop_take_it_up_again():
    comment = make_message(content="plain words")
    feedback.mark(comment, is_spam=True, by=MIRA, now=NOON)
    feedback.unmark(comment, by=MIRA, now=NOON)
    assert comment in Message.objects.awaiting_reply()


def test_a_change_of_mind_counts_once():
    comment = make_message(content="plain words of somebody", spam_status="suspect")
    for is_spam in (True, False, True):
        feedback.mark(comment, is_spam=is_spam, by=MIRA, now=NOON)
    assert words()[""] == (1, 0)
    assert SpamDecision.objects.get().filter_status == "suspect"
    feedback.unmark(comment, by=MIRA, now=NOON)
    assert words() == {}


def read_again(comment: Message, content: str) -> Message:
    """The watcher finds other words at the source."""
    edited = Item(
        remote_id=comment.remote_id, kind=ItemKind.COMMENT, post_id=comment.post.remote_id,
        author=comment.author, created_at=NOON, content=content,
    )  # fmt: skip
    store(comment.account, [edited], now=NOON, judge=classify.classify_items)
    comment.refresh_from_db()
    return comment


def test_a_later_automatic_pass_never_overrules_a_person():
    comment = make_message(content="nice post")
    feedback.mark(comment, is_spam=False, by=MIRA, now=NOON)
    assert read_again(comment, LURE).spam_status == "clean"


def test_an_edit_into_a_lure_is_judged_again():
    comment = make_message(content="nice post")
    assert read_again(comment, LURE).spam_status in {"suspect", "spam"}


def test_an_edit_out_of_a_lure_lets_the_comment_be_answered():
    comment = make_message(content=LURE, spam_status="suspect", spam_score=0.9)
    assert read_again(comment, "What does the table leave out?").spam_status is None
    assert comment.spam_score < 0.5
    assert comment in Message.objects.awaiting_reply()


def test_whoever_hears_of_an_edit_finds_it_judged(monkeypatch):
    """The inbox reads the ledger: a verdict that came later would come too late for it."""
    seen: list[str | None] = []
    record = AuditEvent.objects.record

    def look(action: str, *, subject: Message, **given: Any) -> AuditEvent:
        if action == "message.edited":
            seen.append(Message.objects.get(pk=subject.pk).spam_status)
        return record(action, subject=subject, **given)

    monkeypatch.setattr(type(AuditEvent.objects), "record", staticmethod(look))
    read_again(make_message(content=LURE, spam_status="suspect"), "What does it leave out?")
    assert seen == [None]


def test_our_own_words_are_not_judged():
    with pytest.raises(NotAllowed):
        feedback.mark(make_post(), is_spam=True, by=MIRA, now=NOON)


def test_what_nobody_marked_cannot_be_unmarked():
    with pytest.raises(NotAllowed):
        feedback.unmark(make_message(), by=MIRA, now=NOON)


def test_the_same_text_by_others_is_a_reason():
    text = "I have been thinking about your lovely garden post all day long"
    account = make_account()
    items = [item(f"i{n}", text, author=f"author{n}") for n in range(5)]
    verdicts = classify.classify_items(account, items, NOON)
    assert verdicts["i0"].status is not None


def test_learning_moves_the_verdict():
    account = make_account()
    post = make_post(account=account)
    for number in range(12):
        bad = make_message(post=post, content=f"blarg zonk offer wibble number {number}")
        feedback.mark(bad, is_spam=True, by=MIRA, now=NOON)
        good = make_message(post=post, content=f"reef tide moon question number {number}")
        feedback.mark(good, is_spam=False, by=MIRA, now=NOON)
    verdicts = classify.classify_items(
        account, [item("a", "blarg zonk wibble offer"), item("b", "reef tide moon")], NOON
    )
    assert verdicts["a"].score > 0.4 > verdicts["b"].score


def test_a_sent_reply_stays_when_its_comment_becomes_spam():
    draft = make_draft(state="failed")
    Draft.objects.filter(pk=draft.pk).update(state="sent", sent_at=NOON)
    feedback.mark(draft.target, is_spam=True, by=MIRA, now=NOON)
    draft.refresh_from_db()
    assert draft.state == "sent"


def test_judging_takes_as_many_queries_for_one_as_for_many(django_assert_max_num_queries):
    account = make_account()
    with django_assert_max_num_queries(7):
        classify.classify_items(
            account, [item(str(n), f"text {n} http://a{n}.example.org/") for n in range(300)], NOON
        )


@pytest.mark.django_db(transaction=True)
def test_two_operators_learning_at_once_lose_no_count():
    comments = [make_message(content=f"shared words here {n}") for n in range(20)]
    start = threading.Barrier(2)

    def learn(mine: list[Message]) -> None:
        start.wait()
        for comment in mine:
            feedback.mark(comment, is_spam=True, by=MIRA, now=NOON)
        connection.close()

    threads = [
        threading.Thread(target=learn, args=[half]) for half in (comments[:10], comments[10:])
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert words()[""] == (20, 0)
    assert words()["shared"] == (20, 0)
