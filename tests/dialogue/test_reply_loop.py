from datetime import datetime, time, timedelta
from itertools import count
from random import Random
from threading import Barrier, Thread
from time import sleep

import pytest
from django.db import connection

from dialogue import inbox, presences, reply_loop, speaking
from dialogue.models import Activation, AgentSettings, Brain, Notification
from dialogue.turn_taking import decide
from surfaces import drafting, judging, lapsing, pausing
from surfaces.models import Account, AuditEvent, Draft, Message
from tests.factories import (
    NOON,
    make_account,
    make_agent,
    make_draft,
    make_message,
    make_post,
    make_presence,
)

pytestmark = [pytest.mark.django_db, pytest.mark.engine]
MINUTE = timedelta(minutes=1)


class World:
    """An agent, its account and a clock that a test moves."""

    def __init__(self, **settings) -> None:
        agent = settings.pop("agent", None)
        self.presence = make_presence(agent=agent) if agent else make_presence(settings=settings)
        self.agent, self.account = self.presence.agent, self.presence.account
        self.now = NOON

    def comment(self, **given) -> Message:
        ordinary = {"account": self.account, "content": "Is a tide table a kind of promise?"}
        return make_message(**(ordinary | given))

    def round(self, after: timedelta = timedelta()):
        self.now += after
        inbox.gather(now=self.now)
        reply_loop.release_held(now=self.now)
        return reply_loop.answer_due("a worker", clock=lambda: self.now)


@pytest.fixture
def world() -> World:
    return World()


def broken_voice(world: World) -> None:
    """A model at an address where nobody listens."""
    AgentSettings.objects.filter(agent=world.agent).update(voice="model", timeout_seconds=5)
    Brain.objects.create(
        agent=world.agent, model="openai-chat:nobody", base_url="http://127.0.0.1:9/v1"
    )


def of(message: Message) -> Notification:
    return Notification.objects.about(message).get()


def test_a_comment_is_answered_with_a_draft_that_waits_for_a_person(world):
    comment = world.comment()
    assert world.round().drafted == 1
    draft = Draft.objects.get()
    assert (draft.target, draft.state, draft.origin) == (comment, "waiting", "scripted")
    assert draft.agent == world.agent.slug
    assert draft.text == "\n\n".join(filter(None, [draft.terms, draft.pointer, draft.exit]))
    comment.refresh_from_db()
    assert (comment.reply_attempts, comment.reply_status) == (1, "pending")
    assert (of(comment).draft, of(comment).read_at) == (draft, None)
    woken = Activation.objects.get()
    assert (woken.state, woken.draft) == ("done", draft)
    assert [step.kind for step in woken.steps.all()][-1] == "checked"


def test_it_is_not_written_twice_however_often_the_loop_runs(world):
    world.comment()
    for _ in range(5):
        world.round(MINUTE)
    assert Draft.objects.count() == Activation.objects.count() == 1


def test_in_auto_mode_the_words_are_approved_at_once():
    world = World(mode="auto")
    world.comment()
    world.round()
    draft = Draft.objects.get()
    assert (draft.state, draft.decided_by) == ("approved", "mode:auto")


def test_in_shadow_the_would_be_reply_is_kept_and_written_once():
    world = World(mode="shadow")
    comment = world.comment()
    for _ in range(4):
        world.round(MINUTE)
    assert Draft.objects.get().state == "shadowed"
    assert (of(comment).outcome, of(comment).verdict) == ("passed", "shadowed")
    comment.refresh_from_db()
    assert comment.reply_status is None


def test_a_mode_changed_while_the_voice_writes_is_the_one_that_holds(monkeypatch):
    world = World(mode="auto")
    world.comment()

    speak = speaking.speak

    def slowly(*args, **given):
        Account.objects.update(mode="review")
        return speak(*args, **given)

    monkeypatch.setattr(speaking, "speak", slowly)
    world.round()
    assert Draft.objects.get().state == "waiting"


def test_a_sent_reply_makes_the_notification_read():
    world = World(mode="auto")
    comment = world.comment()
    world.round()
    Draft.objects.update(state="sent", sent_at=world.now)
    world.round(MINUTE)
    assert (of(comment).outcome, of(comment).read_at) == ("answered", world.now)


def test_a_passed_comment_says_why_in_both_places(world):
    comment = world.comment(deleted_at=None)
    inbox.gather(now=NOON)
    Message.objects.filter(pk=comment.pk).update(deleted_at=NOON)
    assert world.round().passed == 1
    comment.refresh_from_db()
    assert of(comment).why == comment.reply_why == "Passed: it was deleted at the source."
    assert of(comment).read_at == NOON


def test_an_answer_given_elsewhere_is_found_and_said(world):
    comment = world.comment()
    make_message(post=comment.post, parent=comment, direction="outgoing", author="iris")
    world.round()
    comment.refresh_from_db()
    assert (comment.reply_status, of(comment).outcome) == ("sent", "answered")
    assert not Draft.objects.exists()


def test_a_comment_by_another_agent_of_ours_is_left_alone(world):
    make_presence(account=make_account(surface=world.account.surface, handle="Gabriel"))
    comment = world.comment(author="gabriel")
    world.round()
    assert of(comment).verdict == "our_agent"


def test_a_paused_agent_waits_and_goes_on_when_the_pause_is_over(world):
    pausing.pause("agent", world.agent.slug, why="a talk", by="operator:mira", now=NOON)
    comment = world.comment()
    world.round()
    assert of(comment).why.startswith("Waits: agent")
    assert "paused by mira: a talk" in of(comment).why
    assert world.round(MINUTE).did == 0
    pausing.resume("agent", world.agent.slug, by="operator:mira", now=world.now)
    assert world.round(MINUTE).drafted == 1


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (lambda w: _settings(w, is_autonomous=False), lambda w: _settings(w, is_autonomous=True)),
        (lambda w: _account(w, mode="off"), lambda w: _account(w, mode="review")),
        (lambda w: _account(w, state="auth_failed"), lambda w: _account(w, state="ok")),
        (lambda w: _account(w, is_on=False), lambda w: _account(w, is_on=True)),
        (lambda w: _agent(w, lives="elsewhere"), lambda w: _agent(w, lives="here")),
    ],
)
def test_what_holds_without_an_end_is_asked_again_when_it_ended(world, before, after):
    before(world)
    comment = world.comment()
    world.round()
    assert (of(comment).look_at, of(comment).read_at) == (None, None)
    assert of(comment).why.startswith("Waits: ")
    assert world.round(MINUTE).did == 0
    after(world)
    assert world.round(MINUTE).drafted == 1


def _settings(world, **facts):
    AgentSettings.objects.filter(agent=world.agent).update(**facts)


def _account(world, **facts):
    Account.objects.filter(pk=world.account.pk).update(**facts)


def _agent(world, **facts):
    world.agent.note(**facts)


def test_outside_its_hours_it_waits_until_they_begin():
    world = World(agent=make_agent(active_from=time(14), active_to=time(20)))
    comment = world.comment()
    world.round()
    assert of(comment).look_at == datetime(2026, 11, 21, 14, tzinfo=NOON.tzinfo)
    assert of(comment).why.endswith("until 21 Nov 14:00 UTC.")
    assert world.round(timedelta(hours=2)).drafted == 1


def test_no_more_replies_a_day_than_the_limit_and_the_rest_tomorrow():
    world = World(replies_per_day=2, spacing_seconds=0, replies_per_thread=50)
    for _ in range(4):
        world.comment()
    world.round(MINUTE)
    assert Draft.objects.count() == 2
    Draft.objects.update(state="sent", sent_at=world.now)
    world.now = NOON + timedelta(days=1)
    world.round()
    assert Draft.objects.count() == 4


def test_no_more_replies_in_a_thread_than_the_limit():
    world = World(replies_per_thread=2, spacing_seconds=0)
    post = make_post(account=world.account)
    comments = [world.comment(post=post) for _ in range(3)]
    world.round()
    verdicts = sorted(of(comment).verdict for comment in comments)
    assert verdicts == ["drafted", "drafted", "thread_full"]
    passed = Message.objects.get(reply_why__startswith="Passed")
    assert passed.reply_why == "Passed: 2 of 2 replies in this thread are used."


def test_between_two_replies_lies_the_spacing():
    world = World(spacing_seconds=300)
    world.comment()
    second = world.comment()
    world.round()
    assert Draft.objects.count() == 1
    assert of(second).look_at == NOON + timedelta(seconds=300)
    assert world.round(timedelta(seconds=299)).drafted == 0
    assert world.round(timedelta(seconds=1)).drafted == 1


def test_a_run_of_comments_gets_one_answer_that_sees_all_where_it_is_set_so():
    world = World(answers_runs_once=True, spacing_seconds=0)
    post = make_post(account=world.account)
    first = world.comment(post=post, author="ana", content="Is a tide table a promise?")
    last = world.comment(post=post, author="ana", content="And to whom, I ask?")
    other = world.comment(post=post, author="ben", content="I think it is a bet?")
    world.round()
    assert {draft.target for draft in Draft.objects.all()} == {last, other}
    assert of(first).verdict == "in_run"
    assert of(first).why.startswith("Passed: the answer to ana's newer comment")


def test_without_that_setting_every_comment_is_answered(world):
    _settings(world, spacing_seconds=0)
    post = make_post(account=world.account)
    for _ in range(2):
        world.comment(post=post, author="ana")
    world.round()
    assert Draft.objects.count() == 2


def test_a_rejected_draft_is_not_written_again_until_a_person_asks(world):
    comment = world.comment()
    world.round()
    drafting.withdraw(Draft.objects.get(), by="operator:mira", now=world.now, why="Off topic")
    for _ in range(3):
        world.round(MINUTE)
    assert Draft.objects.count() == 1
    assert of(comment).why.endswith("a person rejected the words written for it: mira: Off topic.")
    comment.refresh_from_db()
    drafting.try_again(comment, by="operator:mira", now=world.now)
    assert world.round(MINUTE).drafted == 1


def test_a_draft_sent_back_is_written_again_with_the_note_in_mind(world):
    world.comment()
    world.round()
    drafting.send_back(
        Draft.objects.get(), note="Ask about the moon.", by="operator:mira", now=world.now
    )
    assert world.round(MINUTE).drafted == 1
    assert Draft.objects.count() == 2


def test_a_comment_marked_as_spam_is_passed_and_taken_up_again_when_unmarked(world):
    comment = world.comment()
    world.round()
    judging.mark(comment, is_spam=True, by="operator:mira", now=world.now)
    world.round(MINUTE)
    assert of(comment).verdict == "spam"
    comment.refresh_from_db()
    judging.unmark(comment, by="operator:mira", now=world.now)
    assert world.round(MINUTE).drafted == 1


def test_a_voice_that_is_down_costs_a_try_and_the_next_waits_longer(world):
    broken_voice(world)
    comment = world.comment()
    waits = []
    for number in range(1, 4):
        assert world.round().failed == 1
        comment.refresh_from_db()
        assert (comment.reply_attempts, comment.reply_status) == (number, "pending")
        waits.append(of(comment).look_at - world.now)
        world.now = of(comment).look_at
    assert waits == [5 * MINUTE, 10 * MINUTE, 20 * MINUTE]
    assert comment.reply_why.startswith("Try 3 failed: ")
    assert Activation.objects.filter(state="failed").count() == 3


def test_after_the_tenth_try_it_failed_visibly_and_a_person_gives_ten_more(world):
    broken_voice(world)
    comment = world.comment()
    for _ in range(40):
        world.agent.note(backs_off_until=None)
        world.round()
        world.now = max(of(comment).look_at or world.now, world.now + MINUTE)
    comment.refresh_from_db()
    assert (comment.reply_attempts, comment.reply_status) == (10, "failed")
    assert comment in Message.objects.failed_replies()
    assert Activation.objects.count() == 10
    assert AuditEvent.objects.called("message.try_failed").count() == 10
    assert of(comment).read_at is not None
    drafting.try_again(comment, by="operator:mira", now=world.now)
    _settings(world, voice="scripted")
    world.agent.note(backs_off_until=None)
    assert world.round(MINUTE).drafted == 1


def test_the_tries_of_one_agent_can_be_fewer(world):
    _settings(world, tries=2)
    broken_voice(world)
    comment = world.comment()
    for _ in range(6):
        world.round(timedelta(hours=7))
    comment.refresh_from_db()
    assert (comment.reply_attempts, comment.reply_status) == (2, "failed")


def test_without_money_no_voice_is_asked_and_no_try_is_counted(world):
    broken_voice(world)
    _settings(world, money_per_day=0)
    comment = world.comment()
    world.round()
    comment.refresh_from_db()
    assert comment.reply_attempts == 0
    assert of(comment).verdict == "spent"
    assert of(comment).look_at == NOON.replace(hour=0, day=22)
    assert not Activation.objects.exists()


def test_told_to_stop_it_leaves_the_rest_for_the_next(world):
    for _ in range(3):
        world.comment()
    inbox.gather(now=NOON)
    asked = iter([False, True, True, True])
    reply_loop.answer_due("a worker", clock=lambda: NOON, until=lambda: next(asked))
    assert Notification.objects.filter(draft=None, read_at=None).count() >= 2


def test_a_bug_of_ours_is_a_failed_try_and_not_the_end_of_the_loop(world, monkeypatch, caplog):
    from dialogue import briefing

    def broken(notification):
        raise KeyError("a bug")

    monkeypatch.setattr(briefing, "of_reply", broken)
    comment = world.comment()
    assert world.round().failed == 1
    comment.refresh_from_db()
    assert comment.reply_why == ("Try 1 failed: Colloquy failed: KeyError. The log says where.")


def test_the_number_of_queries_does_not_grow_with_what_waits(django_assert_max_num_queries):
    counts = []
    for number in (5, 20):
        world = World(spacing_seconds=3600)
        world.comment()
        world.round()
        for _ in range(number):
            world.comment()
        inbox.gather(now=world.now)
        from django.test.utils import CaptureQueriesContext

        with CaptureQueriesContext(
            connection,
        ) as seen:
            reply_loop.claim("a worker", reply_loop.Tally(), now=world.now)
        reads = [q for q in seen.captured_queries if q["sql"].startswith("SELECT")]
        counts.append(len(reads))
    assert counts[0] == counts[1]


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(
    "limit",
    [{"spacing_seconds": 3600}, {"spacing_seconds": 0, "replies_per_day": 1}],
    ids=["spacing", "per day"],
)
def test_many_workers_together_keep_the_limits_of_one_agent(limit, monkeypatch):
    world = World(**limit)
    for _ in range(12):
        world.comment()
    inbox.gather(now=NOON)
    start, rng = Barrier(4), Random("workers")
    monkeypatch.setattr(reply_loop, "BATCH", 3)

    def decide_slowly(*facts, **given):
        sleep(rng.uniform(0, 0.2))  # between counting and waking, others go on
        return decide(*facts, **given)

    monkeypatch.setattr(reply_loop, "decide", decide_slowly)

    def work(name: str) -> None:
        start.wait(20)
        for _ in range(6):
            reply_loop.answer_due(name, clock=lambda: NOON)
        connection.close()

    threads = [Thread(target=work, args=[f"worker {number}"]) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert Draft.objects.count() == 1


@pytest.mark.django_db(transaction=True)
def test_many_workers_write_one_draft_for_each_comment():
    worlds = [World(mode="auto", spacing_seconds=0, replies_per_day=500) for _ in range(3)]
    comments = [world.comment() for world in worlds for _ in range(4)]
    inbox.gather(now=NOON)
    start = Barrier(4)

    def work(name: str) -> None:
        start.wait(20)
        for _ in range(10):
            reply_loop.answer_due(name, clock=lambda: NOON)
        connection.close()

    threads = [Thread(target=work, args=[f"worker {number}"]) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for _ in range(5):
        reply_loop.answer_due("the last", clock=lambda: NOON)
    assert Draft.objects.count() == len(comments)
    assert {message.reply_attempts for message in Message.objects.comments()} == {1}
    assert not Activation.objects.running().exists()


def test_a_draft_by_hand_for_the_same_comment_is_waited_for(world):
    comment = world.comment()
    draft = make_draft(target=comment)
    world.round()
    assert (of(comment).verdict, of(comment).draft) == ("drafted", draft)
    assert Draft.objects.count() == 1


def test_what_moved_while_the_voice_was_writing_makes_the_draft_stale(world, monkeypatch):
    post = make_post(account=world.account)
    world.comment(post=post, author="ana")
    speak = speaking.speak

    def slowly(*args, **given):
        world.now += 3 * MINUTE
        make_message(post=post, author="ana", content="Wait, I meant another table.",
                     seen_at=world.now - MINUTE, created_at=world.now - MINUTE)  # fmt: skip
        return speak(*args, **given)

    monkeypatch.setattr(speaking, "speak", slowly)
    world.round()
    lapsing.mark_stale(now=world.now)
    assert Draft.objects.order_by("id").first().stale_why == "@ana wrote again in this thread."


@pytest.mark.parametrize(
    ("moves", "then"),
    [
        (lambda w: presences.leave(w.presence, by="operator:mira", now=w.now), "presence_ended"),
        (lambda w: _agent(w, lives="elsewhere"), "elsewhere"),
        (lambda w: _settings(w, is_autonomous=False), "switched_off"),
        (lambda w: Message.objects.comments().update(spam_status="suspect"), "suspect"),
        (lambda w: Message.objects.posts().update(deleted_at=w.now), "thread_gone"),
        (lambda w: Message.objects.comments().update(deleted_at=w.now), "deleted"),
        (lambda w: Message.objects.comments().update(spam_status="spam"), "spam"),
    ],
)
def test_what_forbids_an_answer_while_the_voice_writes_lets_no_words_out(monkeypatch, moves, then):
    world = World(mode="auto")
    comment = world.comment()
    _meanwhile(monkeypatch, lambda: moves(world))
    assert world.round().given_back == 1
    assert not Draft.objects.exists()
    assert "while" in of(comment).why or "spam" in of(comment).why or "deleted" in of(comment).why
    world.round(MINUTE)
    assert of(comment).verdict == then


def test_a_comment_edited_while_the_voice_writes_is_answered_as_it_stands_then(monkeypatch):
    world = World(mode="auto")
    comment = world.comment()
    new = {"content": "Is a lighthouse a promise, then?", "edited_at": NOON}
    _meanwhile(monkeypatch, lambda: Message.objects.filter(pk=comment.pk).update(**new))
    assert world.round().given_back == 1
    assert "edited" in of(comment).why
    assert world.round(MINUTE).drafted == 1
    assert "lighthouse" in Draft.objects.get().text


def _meanwhile(monkeypatch, moves) -> None:
    """Let it happen once, while the voice is writing."""
    speak, left = speaking.speak, [moves]

    def slowly(*args, **given):
        if left:
            left.pop()()
        return speak(*args, **given)

    monkeypatch.setattr(speaking, "speak", slowly)


def test_what_was_passed_for_its_run_is_answered_when_the_newest_of_the_run_is_gone():
    world = World(answers_runs_once=True, spacing_seconds=300)
    world.comment(author="ben")
    world.round()
    post = make_post(account=world.account)
    first, last = (world.comment(post=post, author="ana") for _ in range(2))
    world.round()
    assert (of(first).verdict, of(last).verdict) == ("in_run", "too_soon")
    Message.objects.filter(pk=last.pk).update(deleted_at=world.now)
    for _ in range(2):
        world.round(6 * MINUTE)
    assert (of(first).verdict, of(last).verdict) == ("drafted", "deleted")


def test_the_answer_to_a_run_goes_to_its_newest_comment_whichever_was_read_first():
    world = World(answers_runs_once=True, spacing_seconds=0)
    post = make_post(account=world.account)
    last = world.comment(post=post, author="ana", created_at=NOON)
    first = world.comment(post=post, author="ana", created_at=NOON - MINUTE)
    world.round()
    assert (of(first).verdict, of(last).verdict) == ("in_run", "drafted")


def test_a_run_is_not_left_to_a_comment_that_is_not_looked_at():
    world = World(answers_runs_once=True)
    post, before = make_post(account=world.account), world.presence.since - MINUTE
    world.comment(post=post, author="ana", seen_at=before)  # seen before it spoke here
    first = world.comment(post=post, author="ana", created_at=NOON - MINUTE)
    world.round()
    assert of(first).verdict == "drafted"


def test_a_reply_that_has_to_leave_hours_later_holds_back_no_other():
    world = World(mode="auto", spacing_seconds=60)
    world.comment()
    world.round()
    Draft.objects.update(not_before=world.now + timedelta(hours=6))
    second = world.comment()
    assert world.round(2 * MINUTE).drafted == 1
    Draft.objects.filter(target=second).update(not_before=world.now + MINUTE / 2)
    third = world.comment()
    assert world.round().drafted == 0
    assert of(third).look_at == world.now + 1.5 * MINUTE


def test_what_is_marked_as_sent_is_read_and_does_not_turn_the_loop_round(world):
    comment = world.comment(reply_status="sent")
    inbox.gather(now=world.now)
    asked = count()
    reply_loop.answer_due("a worker", clock=lambda: NOON, until=lambda: next(asked) > 20)
    assert next(asked) < 5
    assert of(comment).outcome == "answered"


def test_our_own_comment_is_called_our_own_where_no_id_is_known(world):
    comment = world.comment(author="Iris")
    world.round()
    assert of(comment).verdict == "ours"
