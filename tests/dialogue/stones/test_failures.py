"""A stone that could not be written waits longer each time, and is let go with a reason."""

from __future__ import annotations

from datetime import timedelta

import pytest

from dialogue.errors import OutOfBudget, VoiceDown, VoiceLimited, VoiceStopping
from dialogue.models import Activation, Agent, AgentSettings, Kernel, Presence, Stone
from dialogue.stones import scheduler, writer
from dialogue.stones.writer import WriteReport
from dialogue.voice.base import Reply
from surfaces.models import Account, AuditEvent, Draft, Message
from surfaces.pauses import services as pause_services
from tests.dialogue.stones.factories import Pen, lay, make_layer, make_talk
from tests.factories import NOON, make_post

pytestmark = pytest.mark.django_db


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
    assert str(stone.outcome) == "Failed after 3 attempts. Last error: the model is away"
    assert list(Activation.objects.values_list("state", flat=True)) == ["failed"] * 3
    assert AuditEvent.objects.about(stone).filter(action="stone.given_up").count() == 1
    clock.pass_by(hours=5)
    assert lay(worker, clock) == WriteReport()
    assert not Draft.objects.exists()


def test_a_wait_the_provider_names_is_kept(worker, clock):
    make_layer()
    lay(worker, clock, Pen(VoiceLimited("too much", wait=timedelta(hours=2))))
    assert Stone.objects.get().look_at == NOON + timedelta(hours=2)


def test_the_wait_doubles_up_to_six_hours():
    waits = [writer.retry_delay(tries) / timedelta(minutes=1) for tries in range(1, 9)]
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
    lay(worker, clock, Pen(VoiceStopping("told to stop")))
    stone = Stone.objects.get()
    assert (stone.state, stone.tries) == ("chosen", 0)
    assert Activation.objects.get().state == "released"
    assert lay(worker, clock).written == 1


def test_told_to_stop_before_it_begins_it_asks_nobody(worker, clock):
    make_layer()
    pen = Pen()
    assert lay(worker, clock, pen, until=lambda: True) == WriteReport()
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
    words = Reply(terms="a", pointer="b", text=said, title="Again")
    laid = writer.write_due(worker=worker, clock=clock, speak=lambda *a, **k: (words, "a pen"))
    assert laid == WriteReport(later=1)
    assert "same text" in str(Stone.objects.get().outcome)


def test_an_error_of_ours_is_a_failed_try_and_ends_the_waking(worker, clock, caplog):
    make_layer()
    assert lay(worker, clock, Pen(ZeroDivisionError())) == WriteReport(chosen=1, later=1)
    assert "ZeroDivisionError" in str(Activation.objects.get().outcome)
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
        (lambda: AgentSettings.objects.update(lays_stones=False), "“Write posts” was switched off"),
        (
            lambda: AgentSettings.objects.update(is_autonomous=False),
            "Automatic replies were switched off",
        ),
        (lambda: Agent.objects.update(lives="elsewhere"), "written by an external agent"),
        (lambda: Presence.objects.update(ended_at=NOON), "was unassigned from the agent"),
        (lambda: Message.objects.update(deleted_at=NOON), "The source was deleted"),
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
    assert says in str(stone.outcome)
    assert Activation.objects.get().state == "released"


def test_what_was_chosen_a_day_ago_is_let_go(worker, clock):
    presence = make_layer()
    scheduler.choose(presence, now=NOON)
    pause_services.pause("all", why="", by="mira", now=NOON)
    clock.pass_by(days=1)
    assert lay(worker, clock) == WriteReport(given_up=1)
    assert str(Stone.objects.get().outcome) == "Not written within one day."


@pytest.mark.parametrize(("change", "says"), [
    (lambda: Presence.objects.update(ended_at=NOON), "no longer assigned to the agent"),
    (lambda: Kernel.objects.all().delete(), "The source was deleted"),
    (lambda: Stone.objects.update(tries=3), "The last worker process died"),
])  # fmt: skip
def test_a_stone_that_cannot_be_written_any_more_is_let_go(change, says, worker, clock):
    scheduler.choose(make_layer(), now=NOON)
    change()
    assert lay(worker, clock) == WriteReport(given_up=1)
    assert says in str(Stone.objects.get().outcome)


def test_a_thread_deleted_meanwhile_is_not_grown_from(worker, clock):
    presence = make_layer(kernels=0)
    post = make_talk(presence, "ann")
    scheduler.choose(presence, now=NOON)
    Message.objects.filter(pk=post.pk).update(deleted_at=NOON)
    assert lay(worker, clock).given_up == 1
