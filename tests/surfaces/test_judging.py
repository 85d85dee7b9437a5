"""The filter judges what comes in; a person's word wins, teaches, and can be undone."""

from __future__ import annotations

import threading

import pytest
from django.db import connection

from surfaces import judging
from surfaces.adapters.base import Item, Kind
from surfaces.errors import NotAllowed
from surfaces.models import Draft, Message, SpamDecision, SpamToken
from tests.factories import NOON, make_account, make_approved, make_draft, make_message, make_post

pytestmark = [pytest.mark.django_db, pytest.mark.engine]
MIRA = "operator:mira"
LURE = "FREE airdrop!!! claim your tokens now at http://bit.ly/x1 and visit my profile"


def item(name: str, content: str, author: str = "nightjar") -> Item:
    return Item(
        remote_id=name, kind=Kind.COMMENT, post_id="p", author=author, created_at=NOON,
        content=content,
    )  # fmt: skip


def words() -> dict[str, tuple[int, int]]:
    return {row.token: (row.in_spam, row.in_clean) for row in SpamToken.objects.all()}


def test_ordinary_words_are_left_alone_and_lures_are_held():
    account = make_account()
    verdicts = judging.judge_items(
        account, [item("a", "What does the tide table leave out?"), item("b", LURE)], NOON
    )
    assert verdicts["a"].status is None
    assert verdicts["b"].status in {"suspect", "spam"}
    assert verdicts["b"].reasons


def test_the_filter_never_calls_anything_clean():
    verdicts = judging.judge_items(
        make_account(), [item(str(n), "thanks!") for n in range(5)], NOON
    )
    assert {verdict.status for verdict in verdicts.values()} == {None}


def test_marking_spam_withdraws_its_drafts_and_keeps_it_out():
    draft = make_approved()
    judging.mark(draft.target, is_spam=True, by=MIRA, now=NOON)
    draft.refresh_from_db()
    assert draft.state == "withdrawn"
    assert not Message.objects.awaiting_reply().exists()


def test_undo_unlearns_exactly_and_opens_the_comment_again():
    make_message(content="an honest question about reefs")
    comment = make_message(content=LURE, spam_status="suspect", spam_score=0.6)
    before = words()
    judging.mark(comment, is_spam=True, by=MIRA, now=NOON)
    assert words() != before
    judging.unmark(comment, by=MIRA, now=NOON)
    comment.refresh_from_db()
    assert words() == before
    assert (comment.spam_status, SpamDecision.objects.count()) == ("suspect", 0)


def test_unmarking_spam_lets_the_loop_take_it_up_again():
    comment = make_message(content="plain words")
    judging.mark(comment, is_spam=True, by=MIRA, now=NOON)
    judging.unmark(comment, by=MIRA, now=NOON)
    assert comment in Message.objects.awaiting_reply()


def test_a_change_of_mind_counts_once():
    comment = make_message(content="plain words of somebody", spam_status="suspect")
    for is_spam in (True, False, True):
        judging.mark(comment, is_spam=is_spam, by=MIRA, now=NOON)
    assert words()[""] == (1, 0)
    assert SpamDecision.objects.get().filter_status == "suspect"
    judging.unmark(comment, by=MIRA, now=NOON)
    assert words() == {}


def test_a_later_automatic_pass_never_overrules_a_person():
    comment = make_message(content=LURE)
    judging.mark(comment, is_spam=False, by=MIRA, now=NOON)
    judging.judge_again([comment.pk], now=NOON)
    comment.refresh_from_db()
    assert comment.spam_status == "clean"


def test_an_edit_into_a_lure_is_judged_again():
    comment = make_message(content="nice post")
    Message.objects.filter(pk=comment.pk).update(content=LURE)
    judging.judge_again([comment.pk], now=NOON)
    comment.refresh_from_db()
    assert comment.spam_status in {"suspect", "spam"}


def test_our_own_words_are_not_judged():
    with pytest.raises(NotAllowed):
        judging.mark(make_post(), is_spam=True, by=MIRA, now=NOON)


def test_what_nobody_marked_cannot_be_unmarked():
    with pytest.raises(NotAllowed):
        judging.unmark(make_message(), by=MIRA, now=NOON)


def test_the_same_text_by_others_is_a_reason():
    text = "I have been thinking about your lovely garden post all day long"
    account = make_account()
    items = [item(f"i{n}", text, author=f"author{n}") for n in range(5)]
    verdicts = judging.judge_items(account, items, NOON)
    assert verdicts["i0"].status is not None


def test_learning_moves_the_verdict():
    account = make_account()
    post = make_post(account=account)
    for number in range(12):
        bad = make_message(post=post, content=f"blarg zonk offer wibble number {number}")
        judging.mark(bad, is_spam=True, by=MIRA, now=NOON)
        good = make_message(post=post, content=f"reef tide moon question number {number}")
        judging.mark(good, is_spam=False, by=MIRA, now=NOON)
    verdicts = judging.judge_items(
        account, [item("a", "blarg zonk wibble offer"), item("b", "reef tide moon")], NOON
    )
    assert verdicts["a"].score > 0.4 > verdicts["b"].score


def test_quality_compares_the_filter_with_people():
    judging.mark(make_message(spam_status="spam"), is_spam=True, by=MIRA, now=NOON)
    judging.mark(make_message(spam_status="suspect"), is_spam=False, by=MIRA, now=NOON)
    judging.mark(make_message(), is_spam=True, by=MIRA, now=NOON)
    quality = judging.quality()
    assert (quality.caught, quality.wrong, quality.missed, quality.right) == (1, 1, 1, 0)
    assert (quality.precision, quality.recall) == (0.5, 0.5)


def test_a_sent_reply_stays_when_its_comment_becomes_spam():
    draft = make_draft(state="failed")
    Draft.objects.filter(pk=draft.pk).update(state="sent", sent_at=NOON)
    judging.mark(draft.target, is_spam=True, by=MIRA, now=NOON)
    draft.refresh_from_db()
    assert draft.state == "sent"


def test_judging_takes_as_many_queries_for_one_as_for_many(django_assert_max_num_queries):
    account = make_account()
    with django_assert_max_num_queries(7):
        judging.judge_items(account, [item(str(n), f"text {n} http://a{n}.example.org/") for n in
                                      range(300)], NOON)  # fmt: skip


@pytest.mark.django_db(transaction=True)
def test_two_operators_learning_at_once_lose_no_count():
    comments = [make_message(content=f"shared words here {n}") for n in range(20)]
    start = threading.Barrier(2)

    def learn(mine: list[Message]) -> None:
        start.wait()
        for comment in mine:
            judging.mark(comment, is_spam=True, by=MIRA, now=NOON)
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
