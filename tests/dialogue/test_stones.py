"""Laying stones: one per slot, within the limits, and words only together with their draft."""

from __future__ import annotations

import io
import json
import threading
from collections.abc import Callable
from datetime import UTC, datetime, time, timedelta
from typing import Any

import pytest
from django.core.management import call_command
from django.db import connection, transaction

from dialogue import activations, choosing, stones
from dialogue.errors import OutOfBudget, VoiceDown, VoiceEnding, VoiceLimited
from dialogue.models import Activation, Agent, AgentSettings, Kernel, Presence, Stone
from dialogue.stones import Laid
from dialogue.voice.base import Written
from surfaces import drafting, pausing
from surfaces.models import Account, AuditEvent, Draft, Message
from surfaces.sender import Sender
from tests.factories import (
    NOON,
    make_account,
    make_agent,
    make_draft,
    make_message,
    make_post,
    make_presence,
)
from tests.surfaces.scripted import Clock

pytestmark = pytest.mark.django_db
LAYING = {"is_autonomous": True, "lays_stones": True}


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def worker() -> str:
    sender = Sender()
    sender.hold()
    return sender.name


class Pen:
    """A voice of a few lines: writes what it is told, or fails as it is told."""

    def __init__(self, *errors: Exception) -> None:
        self.errors = list(errors)
        self.briefs: list[Any] = []
        self.before: Callable[[Activation], None] = lambda woken: None

    def __call__(
        self, woken: Activation, brief: Any, context: Any, *, clock: Any, is_ending: Any
    ) -> tuple[Written, str]:
        self.briefs.append(brief)
        self.before(woken)
        if self.errors:
            raise self.errors.pop(0)
        words = Written(
            terms="We look at borders.",
            pointer="The tide table draws one.",
            exit="Or leave it open.",
            title=f"On borders {len(self.briefs)}",
            text=f"We look at borders. The tide table draws one, {woken.pk}. Or leave it open.",
        )
        return words, "a pen"


def lay(worker: str, clock: Clock, pen: Any = None, **given: Any) -> Laid:
    return stones.lay_due(worker=worker, clock=clock, speak=pen or Pen(), **given)


def make_layer(
    *, kernels: int = 1, settings: dict[str, Any] | None = None, **given: Any
) -> Presence:
    """A presence that lays stones, with thoughts to explore."""
    agent = given.pop("agent", None) or make_agent(
        settings=LAYING | (settings or {}), **given.pop("of_agent", {})
    )
    for number in range(kernels):
        Kernel.objects.get_or_create(agent=agent, words=f"Kernel {number}")
    return make_presence(agent=agent, **given)


def make_talk(presence: Presence, *authors: str, **given: Any) -> Message:
    """A post of ours that these people commented on."""
    post = make_post(
        **({"account": presence.account, "created_at": NOON - timedelta(days=1)} | given)
    )
    for author in authors:
        make_message(post=post, author=author, author_id=f"id-{author}")
    return post


# ── from choice to draft ──────────────────────────────────────────────────


def test_a_stone_is_chosen_written_and_put_before_a_person(worker, clock):
    presence = make_layer(stone_community="general")

    assert lay(worker, clock) == Laid(chosen=1, written=1)

    stone = Stone.objects.get()
    draft = stone.draft
    assert (stone.slot, stone.kind, stone.state) == ("2026-11-21#1", "explore", "written")
    assert (draft.what, draft.state, draft.community) == ("post", "waiting", "general")
    assert draft.title == "On borders 1"
    assert (draft.agent, draft.origin) == (presence.agent.slug, "a pen")
    assert (draft.terms, draft.pointer, draft.exit) == (
        "We look at borders.", "The tide table draws one.", "Or leave it open.",
    )  # fmt: skip
    woken = Activation.objects.get()
    assert (woken.purpose, woken.state, woken.draft) == ("stone", "done", draft)
    deeds = set(AuditEvent.objects.about(stone).values_list("action", flat=True))
    assert deeds == {"stone.chosen", "stone.written"}


def test_the_stone_keeps_the_reason_the_scores_the_number_and_the_thread(worker, clock):
    presence = make_layer(kernels=0, explore_share=0.0)
    post = make_talk(presence, "ann", "ben", title="On tides")

    lay(worker, clock)

    stone = Stone.objects.get()
    assert stone.kind == "exploit"
    assert stone.thread == post
    assert "“On tides”" in stone.why
    assert 0 <= stone.draw < 1
    (row,) = stone.table
    assert (row["post"], row["comments"], row["commenters"], row["share"]) == (post.pk, 2, 2, 1.0)


def test_a_kernel_is_used_in_its_turn(worker, clock):
    presence = make_layer(kernels=2, explore_share=1.0, stones_per_day=2)
    first, second = Kernel.objects.order_by("pk")

    lay(worker, clock)
    first.refresh_from_db()
    assert (first.last_used_at, first.used) == (NOON, 1)

    Draft.objects.update(state="withdrawn")
    clock.pass_by(hours=6)
    lay(worker, clock)
    assert [stone.kernel for stone in presence.stones.order_by("pk")] == [first, second]


def test_a_kernel_that_was_put_aside_is_not_used(worker, clock):
    presence = make_layer(kernels=1, explore_share=1.0)
    Kernel.keep(presence.agent, ["Another thought"], now=NOON)
    lay(worker, clock)
    assert Stone.objects.get().kernel.words == "Another thought"


def test_it_posts_where_it_usually_posts_unless_told_otherwise(worker, clock):
    presence = make_layer()
    for name in ["tides", "harbours", "tides"]:
        make_post(account=presence.account, submolt=name)
    lay(worker, clock)
    assert Draft.objects.get(what="post").community == "tides"


@pytest.mark.parametrize(("mode", "state"), [
    ("auto", "approved"), ("review", "waiting"), ("shadow", "shadowed"),
])  # fmt: skip
def test_the_draft_goes_by_the_mode(mode: str, state: str, worker, clock):
    make_layer(mode=mode)
    lay(worker, clock)
    assert Draft.objects.get().state == state


def test_a_mode_switched_while_the_voice_writes_is_obeyed(worker, clock):
    make_layer(mode="auto")
    pen = Pen()
    pen.before = lambda woken: Account.objects.update(mode="review") and None
    lay(worker, clock, pen)
    assert Draft.objects.get().state == "waiting"


def test_a_draft_sent_back_is_written_again_with_the_note(worker, clock):
    make_layer()
    lay(worker, clock)
    first = Draft.objects.get()
    clock.pass_by(days=2)
    drafting.send_back(first, note="Shorter, please.", by="operator:mira", now=clock())
    pen = Pen()

    assert lay(worker, clock, pen) == Laid(written=1)

    stone = Stone.objects.get()
    assert (stone.state, stone.slot, stone.tries) == ("written", "2026-11-21#1", 1)
    assert stone.draft != first
    (brief,) = pen.briefs
    assert brief.notes[-1] == "A person sent the last draft back: Shorter, please."
    assert brief.before == first.text
    assert lay(worker, clock, pen).did == 0


def test_the_real_voice_writes_other_words_when_sent_back(worker, clock):
    make_layer(kernels=3)
    stones.lay_due(worker=worker, clock=clock)
    first = Draft.objects.get()
    drafting.send_back(first, note="Say it otherwise.", by="operator:mira", now=NOON)
    stones.lay_due(worker=worker, clock=clock)
    again = Draft.objects.exclude(pk=first.pk).get()
    assert again.state == "waiting"
    assert again.text != first.text


# ── what counts ───────────────────────────────────────────────────────────


@pytest.mark.parametrize("comment", [
    {"spam_status": "spam"},
    {"direction": "outgoing"},
    {"deleted_at": NOON},
    {"author": "IRIS"},
    {"author": "x", "author_id": "agent-7"},
])  # fmt: skip
def test_spam_deleted_words_and_our_own_voices_are_no_engagement(comment, worker, clock):
    presence = make_layer(kernels=0)
    make_account(surface=presence.account.surface, handle="other", remote_id="agent-7")
    post = make_post(account=presence.account)
    make_message(post=post, **comment)

    assert lay(worker, clock).chosen == 0

    make_message(post=post, author="ann")
    clock.pass_by(minutes=10)
    assert lay(worker, clock).chosen == 1
    assert Stone.objects.get().table[0]["comments"] == 1


def test_old_posts_and_those_of_other_accounts_are_not_grown_from(worker, clock):
    presence = make_layer(kernels=0)
    make_talk(presence, "ann", created_at=NOON - timedelta(days=14, seconds=1))
    make_message(author="ben")  # under a post of another account
    assert lay(worker, clock).chosen == 0


def test_a_question_weighs_more_than_a_nod(worker, clock):
    presence = make_layer(kernels=0)
    asked, nodded = make_post(account=presence.account), make_post(account=presence.account)
    make_message(post=asked, author="ann", content="能详细讲讲吗")
    make_message(post=nodded, author="ann", content="Yes.")
    lay(worker, clock)
    table = Stone.objects.get().table
    assert [(row["post"], row["questions"]) for row in table] == [(asked.pk, 1), (nodded.pk, 0)]


# ── slots and limits ──────────────────────────────────────────────────────


def test_two_stones_a_day_are_spread_and_a_third_waits_for_tomorrow(worker, clock):
    presence = make_layer(stones_per_day=2)
    for _ in range(60):  # from 12:00 to 03:00, every quarter of an hour
        lay(worker, clock)
        Draft.objects.update(state="withdrawn")
        clock.pass_by(minutes=15)
    laid = presence.stones.order_by("pk").values_list("slot", "chosen_at")
    assert [slot for slot, _ in laid] == ["2026-11-21#1", "2026-11-21#2", "2026-11-22#1"]
    assert [at.hour for _, at in laid] == [12, 18, 0]


def test_the_day_begins_where_the_agent_lives(worker, clock):
    make_layer(of_agent={"timezone": "Pacific/Auckland"})
    lay(worker, clock)
    assert Stone.objects.get().slot == "2026-11-22#1"


def test_nothing_is_laid_before_its_time(worker, clock):
    make_layer(next_stone_at=NOON + timedelta(minutes=1))
    assert lay(worker, clock) == Laid()
    clock.pass_by(minutes=1)
    assert lay(worker, clock).written == 1


@pytest.mark.parametrize(
    ("start", "end", "hour"), [(time(13), time(20), 13), (time(22), time(6), 22)]
)
def test_outside_its_hours_an_agent_lays_nothing(start, end, hour, worker, clock):
    make_layer(of_agent={"active_from": start, "active_to": end})
    assert lay(worker, clock) == Laid()
    clock.now = datetime(2026, 11, 21, hour, 0, tzinfo=UTC)
    assert lay(worker, clock).written == 1


@pytest.mark.parametrize("change", [
    lambda p: AgentSettings.objects.update(lays_stones=False),
    lambda p: AgentSettings.objects.update(is_autonomous=False),
    lambda p: Agent.objects.update(lives="elsewhere"),
    lambda p: Agent.objects.update(backs_off_until=NOON + timedelta(minutes=1)),
    lambda p: Account.objects.update(mode="off"),
    lambda p: Account.objects.update(is_on=False),
    lambda p: Account.objects.update(state="auth_failed"),
    lambda p: Presence.objects.update(ended_at=NOON),
    lambda p: Presence.objects.update(stones_per_day=0),
    lambda p: pausing.pause("all", why="", by="mira", now=NOON),
    lambda p: pausing.pause("surface", p.account.surface.slug, why="", by="mira", now=NOON),
    lambda p: pausing.pause("account", p.account.name, why="", by="mira", now=NOON),
    lambda p: pausing.pause("agent", p.agent.slug, why="", by="mira", now=NOON),
])  # fmt: skip
def test_what_stops_an_agent_stops_its_stones(change, worker, clock):
    presence = make_layer()
    change(presence)
    assert lay(worker, clock) == Laid()
    assert not Stone.objects.exists()


def test_a_pause_that_came_between_keeps_a_chosen_stone_waiting(worker, clock):
    presence = make_layer()
    choosing.choose(presence, now=NOON)
    pausing.pause("agent", presence.agent.slug, why="", by="mira", now=NOON)
    assert lay(worker, clock) == Laid()
    pausing.resume("agent", presence.agent.slug, by="mira", now=NOON)
    assert lay(worker, clock).written == 1


@pytest.mark.parametrize("state", ["waiting", "approved", "unknown"])
def test_while_one_stone_is_under_way_there_is_no_next(state: str, worker, clock):
    presence = make_layer(stones_per_day=24)
    lay(worker, clock)
    approved = {"approved_digest": "x", "not_before": NOON} if state == "approved" else {}
    Draft.objects.update(state=state, **approved)
    clock.pass_by(hours=2)
    assert lay(worker, clock).chosen == 0
    Draft.objects.update(state="withdrawn")
    assert lay(worker, clock).chosen == 1
    assert presence.stones.count() == 2


def test_a_failed_try_uses_up_its_slot(worker, clock):
    make_layer()
    lay(worker, clock, Pen(VoiceDown("gone")))
    Stone.objects.update(state="given_up")
    clock.pass_by(hours=11)
    assert lay(worker, clock).chosen == 0


def test_where_there_is_nothing_to_lay_it_is_said_once_and_looked_at_again(worker, clock):
    presence = make_layer(kernels=0)
    for _ in range(5):
        assert lay(worker, clock) == Laid()
        clock.pass_by(minutes=10)
    (line,) = AuditEvent.objects.about(presence.account).filter(action="stone.nothing")
    assert "the list of kernels is empty" in line.why

    Kernel.objects.create(agent=presence.agent, words="A thought")
    assert lay(worker, clock).written == 1
    assert Stone.objects.get().slot == "2026-11-21#1"


# ── when the voice fails ──────────────────────────────────────────────────


def test_a_failed_try_waits_longer_each_time_and_the_third_gives_up(worker, clock):
    make_layer()
    stone_after = []
    for wait in (0, 10, 20):
        clock.pass_by(minutes=wait)
        laid = lay(worker, clock, Pen(VoiceDown("the model is away")))
        stone_after.append((laid.later, laid.given_up))
        clock.now -= timedelta(seconds=1)
        assert lay(worker, clock).did == 0, "not before its wait is over"
        clock.now += timedelta(seconds=1)
    assert stone_after == [(1, 0), (1, 0), (0, 1)]

    stone = Stone.objects.get()
    assert (stone.state, stone.tries) == ("given_up", 3)
    assert stone.outcome == "Tried 3 times. The last time: the model is away"
    assert list(Activation.objects.values_list("state", flat=True)) == ["failed"] * 3
    assert AuditEvent.objects.about(stone).filter(action="stone.given_up").count() == 1
    clock.pass_by(hours=5)
    assert lay(worker, clock) == Laid()
    assert not Draft.objects.exists()


def test_a_wait_the_provider_names_is_kept(worker, clock):
    make_layer()
    lay(worker, clock, Pen(VoiceLimited("too much", wait=timedelta(hours=2))))
    assert Stone.objects.get().look_at == NOON + timedelta(hours=2)


def test_the_wait_doubles_up_to_six_hours():
    waits = [stones.wait_after(tries) / timedelta(minutes=1) for tries in range(1, 9)]
    assert waits == [10, 20, 40, 80, 160, 320, 360, 360]


def test_without_money_it_waits_for_fresh_money_and_that_is_no_try(worker, clock):
    make_layer()
    midnight = NOON + timedelta(hours=12)
    lay(worker, clock, Pen(OutOfBudget("today's tokens are used", until=midnight)))
    stone = Stone.objects.get()
    assert (stone.state, stone.tries, stone.look_at) == ("chosen", 0, midnight)
    assert Activation.objects.get().state == "exhausted"
    clock.now = midnight
    assert lay(worker, clock).written == 1


def test_told_to_stop_it_gives_the_stone_back_at_once(worker, clock):
    make_layer()
    lay(worker, clock, Pen(VoiceEnding("told to stop")))
    stone = Stone.objects.get()
    assert (stone.state, stone.tries) == ("chosen", 0)
    assert Activation.objects.get().state == "released"
    assert lay(worker, clock).written == 1


def test_told_to_stop_before_it_begins_it_asks_nobody(worker, clock):
    make_layer()
    pen = Pen()
    assert lay(worker, clock, pen, until=lambda: True) == Laid()
    assert pen.briefs == []


def test_words_that_were_said_before_are_a_failed_try(worker, clock):
    presence = make_layer()
    pen = Pen()
    lay(worker, clock, pen)
    said = Draft.objects.get().text
    Draft.objects.update(state="shadowed")
    make_post(account=presence.account, content=said)
    Stone.objects.update(state="chosen", draft=None, tries=0, look_at=NOON)

    again = Pen()
    again.before = lambda woken: None
    words = Written(terms="a", pointer="b", text=said, title="Again")
    laid = stones.lay_due(worker=worker, clock=clock, speak=lambda *a, **k: (words, "a pen"))
    assert laid == Laid(later=1)
    assert "same words" in Stone.objects.get().outcome


def test_an_error_of_ours_is_a_failed_try_and_ends_the_waking(worker, clock, caplog):
    make_layer()
    assert lay(worker, clock, Pen(ZeroDivisionError())) == Laid(chosen=1, later=1)
    assert "ZeroDivisionError" in Activation.objects.get().outcome
    assert "a stone failed in us" in caplog.text


def test_a_mode_switched_off_meanwhile_is_nobodys_failure(worker, clock):
    presence = make_layer()
    pen = Pen()
    pen.before = lambda woken: Account.objects.update(mode="off") and None
    lay(worker, clock, pen)
    assert Activation.objects.get().state == "released"
    presence.agent.refresh_from_db()
    assert presence.agent.failures == 0
    assert not Draft.objects.exists()


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda: AgentSettings.objects.update(lays_stones=False), "told to lay no stones"),
        (lambda: AgentSettings.objects.update(is_autonomous=False), "not to write by itself"),
        (lambda: Agent.objects.update(lives="elsewhere"), "moved elsewhere"),
        (lambda: Presence.objects.update(ended_at=NOON), "presence ended"),
        (lambda: Message.objects.update(deleted_at=NOON), "What it grows from was deleted"),
    ],
)
def test_who_is_stopped_while_the_voice_writes_posts_nothing(change, says, worker, clock):
    presence = make_layer(kernels=0, mode="auto")
    make_talk(presence, "bob")
    pen = Pen()
    pen.before = lambda woken: change() and None
    lay(worker, clock, pen)
    assert not Draft.objects.exists()
    stone = Stone.objects.get()
    assert stone.state == "chosen"
    assert says in stone.outcome
    assert Activation.objects.get().state == "released"


def test_what_was_chosen_a_day_ago_is_let_go(worker, clock):
    presence = make_layer()
    choosing.choose(presence, now=NOON)
    pausing.pause("all", why="", by="mira", now=NOON)
    clock.pass_by(days=1)
    assert lay(worker, clock) == Laid(given_up=1)
    assert Stone.objects.get().outcome == "Not written within a day."


@pytest.mark.parametrize(("change", "says"), [
    (lambda: Presence.objects.update(ended_at=NOON), "does not speak through this account"),
    (lambda: Kernel.objects.all().delete(), "is gone"),
    (lambda: Stone.objects.update(tries=3), "ended with its worker"),
])  # fmt: skip
def test_a_stone_that_cannot_be_written_any_more_is_let_go(change, says, worker, clock):
    choosing.choose(make_layer(), now=NOON)
    change()
    assert lay(worker, clock) == Laid(given_up=1)
    assert says in Stone.objects.get().outcome


def test_a_thread_deleted_meanwhile_is_not_grown_from(worker, clock):
    presence = make_layer(kernels=0)
    post = make_talk(presence, "ann")
    choosing.choose(presence, now=NOON)
    Message.objects.filter(pk=post.pk).update(deleted_at=NOON)
    assert lay(worker, clock).given_up == 1


# ── who dies, and who is faster ───────────────────────────────────────────


def test_killed_between_choice_and_writing_the_stone_is_taken_up_again(worker, clock):
    choosing.choose(make_layer(), now=NOON)  # and then nothing: the process is gone
    assert Stone.objects.get().state == "chosen"
    clock.pass_by(seconds=30)
    assert lay(worker, clock) == Laid(written=1)


def test_killed_while_the_voice_writes_the_stone_is_taken_up_again(worker, clock):
    class Killed(BaseException):
        pass

    def die(*given: Any, **named: Any) -> Any:
        raise Killed

    make_layer()
    with pytest.raises(Killed):
        stones.lay_due(worker="nobody", clock=clock, speak=die)
    assert Activation.objects.get().state == "running"
    assert not Draft.objects.exists()

    assert activations.take_back(now=clock()) == 1
    clock.pass_by(minutes=10)
    assert lay(worker, clock) == Laid(written=1)
    assert Stone.objects.get().tries == 2


def test_an_overtaken_writer_keeps_nothing(worker, clock):
    make_layer()

    def overtaken(woken: Activation) -> None:
        Activation.objects.filter(pk=woken.pk).update(
            state="abandoned", outcome="taken back", ended_at=NOON
        )

    pen = Pen()
    pen.before = overtaken
    assert lay(worker, clock, pen) == Laid(chosen=1, later=1)
    assert not Draft.objects.exists()
    assert Stone.objects.get().state == "chosen"


def test_a_late_writer_does_not_write_a_second_post(worker, clock):
    """Its activation still lives, but somebody wrote the stone meanwhile."""
    make_layer()
    pen = Pen()
    other = make_draft(what="post")
    pen.before = lambda woken: Stone.objects.update(state="written", draft=other) and None
    lay(worker, clock, pen)
    assert list(Draft.objects.all()) == [other]
    assert Stone.objects.get().draft == other
    assert Activation.objects.get().state == "released"


def test_an_agent_that_is_awake_writes_its_stone_later(worker, clock):
    presence = make_layer()
    woken = activations.begin(presence, purpose="reply", why="x", worker=worker, now=NOON)
    assert lay(worker, clock) == Laid(chosen=1)
    activations.end(woken, "done", "It answered.", now=NOON)
    assert lay(worker, clock) == Laid(written=1)
    assert Stone.objects.get().tries == 1


@pytest.mark.django_db(transaction=True)
def test_two_processes_at_once_lay_one_stone_per_slot(clock):
    presences = [make_layer() for _ in range(4)]
    pen, start, laid = Pen(), threading.Barrier(2), []

    def work() -> None:
        sender = Sender()
        sender.hold()
        start.wait()
        try:
            for _ in range(3):
                laid.append(lay(sender.name, clock, pen))
        finally:
            connection.close()

    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert sum(one.chosen for one in laid) == sum(one.written for one in laid) == len(presences)
    assert Stone.objects.filter(state="written").count() == len(presences)
    assert Draft.objects.count() == len(pen.briefs) == len(presences)


@pytest.mark.django_db(transaction=True)
def test_what_another_process_wrote_meanwhile_is_not_written_again(clock):
    make_layer()
    make_layer()
    pen, other = Pen(), Pen()

    def work() -> None:
        sender = Sender()
        sender.hold()
        lay(sender.name, clock, other)
        connection.close()

    def meanwhile(woken: Activation) -> None:
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()

    pen.before = meanwhile
    sender = Sender()
    sender.hold()
    assert lay(sender.name, clock, pen) == Laid(chosen=2, written=1)
    assert (len(pen.briefs), len(other.briefs)) == (1, 1)
    assert Draft.objects.count() == 2


@pytest.mark.django_db(transaction=True)
def test_two_choosers_at_once_choose_once(clock):
    presence = make_layer()
    start, chosen = threading.Barrier(4), []

    def work() -> None:
        connection.ensure_connection()
        start.wait()
        try:
            chosen.append(choosing.choose(presence, now=NOON))
        finally:
            connection.close()

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [stone is not None for stone in chosen].count(True) == 1
    assert Kernel.objects.get().used == 1


@pytest.mark.django_db(transaction=True)
def test_two_presences_of_one_agent_do_not_use_one_kernel_at_once(clock):
    presence = make_layer(explore_share=1.0)
    chosen = []

    def work() -> None:
        chosen.append(choosing.choose(presence, now=NOON))
        connection.close()

    thread = threading.Thread(target=work)
    with transaction.atomic():  # the other presence, about to commit
        Kernel.objects.update(last_used_at=NOON - timedelta(seconds=1))
        thread.start()
        while thread.is_alive() and not _somebody_waits_for_us():
            thread.join(0.02)
    thread.join()
    assert chosen == [None]
    assert choosing.choose(presence, now=NOON) is not None


def _somebody_waits_for_us() -> bool:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT EXISTS (SELECT 1 FROM pg_locks WHERE NOT granted"
            " AND pg_backend_pid() = ANY(pg_blocking_pids(pid)))"
        )
        return bool(cursor.fetchone()[0])


def test_a_slot_that_somebody_took_is_not_laid_twice(worker, clock):
    presence = make_layer(stones_per_day=2)
    lay(worker, clock)
    Draft.objects.update(state="withdrawn")
    Stone.objects.update(slot="2026-11-21#2")  # so that the next would be the same
    clock.pass_by(hours=7)
    assert lay(worker, clock) == Laid()
    assert presence.stones.count() == 1


# ── the command ───────────────────────────────────────────────────────────


def test_the_command_says_in_one_line_what_it_did():
    make_layer(settings={"voice": "scripted"})
    out = io.StringIO()
    call_command("stones", "--once", stdout=out)
    assert json.loads(out.getvalue()) == {"chosen": 1, "written": 1, "later": 0, "given_up": 0}
    draft = Draft.objects.get()
    assert draft.origin == "scripted"
    assert draft.title
    assert draft.terms
    assert draft.pointer

    out = io.StringIO()
    call_command("stones", "--once", stdout=out)
    assert json.loads(out.getvalue())["chosen"] == 0
