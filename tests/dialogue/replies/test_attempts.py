"""A voice that fails costs a try; ten at most, and then it is visible and a person may retry."""

from __future__ import annotations

from datetime import timedelta

import pytest

from dialogue.models import Activation
from surfaces.drafts import retry
from surfaces.models import AuditEvent, Message
from tests.dialogue.replies.factories import MINUTE, broken_voice, change_settings, of
from tests.factories import NOON

pytestmark = [pytest.mark.django_db, pytest.mark.engine]


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
    assert str(comment.reply_why).startswith("Attempt 3 failed: ")
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
    retry.retry_message(comment, by="operator:mira", now=world.now)
    change_settings(world, voice="scripted")
    world.agent.note(backs_off_until=None)
    assert world.round(MINUTE).drafted == 1


def test_the_tries_of_one_agent_can_be_fewer(world):
    change_settings(world, tries=2)
    broken_voice(world)
    comment = world.comment()
    for _ in range(6):
        world.round(timedelta(hours=7))
    comment.refresh_from_db()
    assert (comment.reply_attempts, comment.reply_status) == (2, "failed")


def test_without_money_no_voice_is_asked_and_no_try_is_counted(world):
    broken_voice(world)
    change_settings(world, money_per_day=0)
    comment = world.comment()
    world.round()
    comment.refresh_from_db()
    assert comment.reply_attempts == 0
    assert of(comment).verdict == "spent"
    assert of(comment).look_at == NOON.replace(hour=0, day=22)
    assert not Activation.objects.exists()


def test_a_bug_of_ours_is_a_failed_try_and_not_the_end_of_the_loop(world, monkeypatch, caplog):
    from dialogue.voice import briefs

    def broken(notification, **given):
        raise KeyError("a bug")

    monkeypatch.setattr(briefs, "reply_brief", broken)
    comment = world.comment()
    assert world.round().failed == 1
    comment.refresh_from_db()
    assert str(comment.reply_why) == (
        "Attempt 1 failed: Internal error: KeyError. See the log for details."
    )
