"""A post that names us is answered by a comment on it, under the same decision and limits."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import IntegrityError, transaction

from dialogue.voice import generate
from surfaces.drafts import retry
from surfaces.drafts import services as draft_services
from surfaces.models import Account, Draft, Message
from tests.dialogue.replies.factories import MINUTE, World, change_settings, of
from tests.factories import NOON, make_message, make_post

pytestmark = [pytest.mark.django_db, pytest.mark.engine]
MIRA = "operator:mira"


@pytest.fixture
def world() -> World:
    world = World(spacing_seconds=0)
    Account.objects.filter(pk=world.account.pk).update(handle="iris")
    world.account.refresh_from_db()
    return world


def named(world: World, **given: Any) -> Message:
    facts = {"direction": "incoming", "author": "ana", "title": "Tides",
             "content": "What does @iris say of tide tables?"}  # fmt: skip
    return make_post(account=world.account, **(facts | given))


def test_it_is_answered_by_a_comment(world):
    post = named(world)
    assert world.round().drafted == 1
    draft = Draft.objects.get()
    assert (draft.what, draft.target) == ("comment", post)
    assert draft.written_for == f"notification:{of(post).pk}"
    assert (of(post).draft, of(post).verdict) == (draft, "drafted")
    for _ in range(3):
        assert world.round(MINUTE).drafted == 0


def test_for_one_notification_at_most_one_draft_lives(world):
    named(world)
    world.round()
    draft = Draft.objects.get()
    draft.pk, draft.key = None, "5b2b7e9e-2f9f-4a53-9bd2-3a2b7f0f2a11"
    with pytest.raises(IntegrityError, match="draft_one_live_per_cause"), transaction.atomic():
        draft.save(force_insert=True)


def test_sent_it_is_answered_and_the_post_is_marked(world):
    post = named(world)
    world.round()
    Draft.objects.update(state="sent", sent_at=world.now)
    world.round(MINUTE)
    post.refresh_from_db()
    assert (str(of(post).outcome), post.reply_status) == ("answered", "sent")


def test_a_comment_of_ours_on_it_answers_it(world):
    post = named(world)
    make_message(post=post, direction="outgoing", author="iris")
    world.round()
    assert (str(of(post).outcome), of(post).verdict) == ("answered", "answered")
    assert not Draft.objects.exists()


def test_withdrawn_it_is_not_written_again_until_a_person_asks(world):
    post = named(world)
    world.round()
    draft_services.withdraw(Draft.objects.get(), by=MIRA, now=world.now, why="Off topic")
    for _ in range(2):
        assert world.round(MINUTE).drafted == 0
    assert of(post).verdict == "rejected"
    post.refresh_from_db()
    retry.retry_message(post, by=MIRA, now=world.now)
    assert world.round(MINUTE).drafted == 1


def test_sent_back_it_is_written_again(world):
    named(world)
    world.round()
    draft_services.send_back(Draft.objects.get(), note="Shorter.", by=MIRA, now=world.now)
    assert world.round(MINUTE).drafted == 1


def test_a_comment_that_could_not_be_sent_is_not_written_again_by_itself(world):
    post = named(world)
    world.round()
    Draft.objects.update(state="failed", why="sending.target_deleted")
    assert world.round(MINUTE).drafted == 0
    assert of(post).verdict == "refused"
    retry.retry_draft(Draft.objects.get(), by=MIRA, now=world.now)
    world.round(MINUTE)
    assert (of(post).verdict, of(post).draft) == ("drafted", Draft.objects.get())


def test_edited_while_the_voice_writes_it_is_answered_as_it_stands_then(world, monkeypatch):
    post, speak, edits = named(world), generate.generate, []

    def slowly(*given: Any, **more: Any) -> Any:
        if not edits:
            new = {"content": "What does @iris say of lighthouses?", "edited_at": NOON}
            edits.append(Message.objects.filter(pk=post.pk).update(**new))
        return speak(*given, **more)

    monkeypatch.setattr(generate, "generate", slowly)
    assert world.round().given_back == 1
    assert world.round(MINUTE).drafted == 1


def test_deleted_or_spam_it_is_passed(world):
    gone = named(world)
    world.round()
    Draft.objects.all().delete()
    of(gone).note(draft=None, look_at=world.now)
    Message.objects.filter(pk=gone.pk).update(deleted_at=world.now, reply_status=None)
    world.round(MINUTE)
    assert of(gone).verdict == "deleted"


def test_it_counts_as_a_reply_against_the_limits(world):
    change_settings(world, replies_per_day=1)
    named(world)
    assert world.round().drafted == 1
    comment = world.comment()
    world.round(MINUTE)
    assert of(comment).verdict == "day_full"


@pytest.mark.parametrize(
    ("kind", "name"),
    [("mention", "responds_to_mentions"), ("reply", "responds_to_replies"),
     ("dm", "responds_to_dms")],
)  # fmt: skip
def test_kinds_that_the_agent_does_not_answer_are_passed_and_decided_again(world, kind, name):
    from surfaces.settings.services import change

    change_settings(world, **{name: False})
    post = named(world)
    world.round()
    if kind != "mention":
        Draft.objects.all().delete()
        of(post).note(kind=kind, draft=None, look_at=world.now)
        Message.objects.update(reply_status=None)
        world.round(MINUTE)
    assert (of(post).verdict, str(of(post).outcome)) == ("not_wanted", "passed")
    agent = type(world.agent).objects.select_related("settings").get()
    change(agent, {name: True}, by=MIRA, now=world.now)
    assert world.round(MINUTE).drafted == 1
