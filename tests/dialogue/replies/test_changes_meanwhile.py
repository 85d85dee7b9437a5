"""What changes while the voice writes is obeyed before its words are put down."""

from __future__ import annotations

import pytest

from dialogue.agents import presences
from dialogue.voice import generate
from surfaces.drafts import staleness
from surfaces.models import Account, Draft, Message
from tests.dialogue.replies.factories import MINUTE, World, change_agent, change_settings, of
from tests.factories import NOON, make_message, make_post

pytestmark = [pytest.mark.django_db, pytest.mark.engine]


def test_a_mode_changed_while_the_voice_writes_is_the_one_that_holds(monkeypatch):
    world = World(mode="auto")
    world.comment()

    speak = generate.generate

    def slowly(*args, **given):
        Account.objects.update(mode="review")
        return speak(*args, **given)

    monkeypatch.setattr(generate, "generate", slowly)
    world.round()
    assert Draft.objects.get().state == "waiting"


def test_what_moved_while_the_voice_was_writing_makes_the_draft_stale(world, monkeypatch):
    post = make_post(account=world.account)
    world.comment(post=post, author="ana")
    speak = generate.generate

    def slowly(*args, **given):
        world.now += 3 * MINUTE
        make_message(post=post, author="ana", content="Wait, I meant another table.",
                     seen_at=world.now - MINUTE, created_at=world.now - MINUTE)  # fmt: skip
        return speak(*args, **given)

    monkeypatch.setattr(generate, "generate", slowly)
    world.round()
    staleness.mark_stale(now=world.now)
    assert str(Draft.objects.order_by("id").first().stale_why) == "@ana wrote again in this thread."


@pytest.mark.parametrize(
    ("moves", "then"),
    [
        (lambda w: presences.leave(w.presence, by="operator:mira", now=w.now), "presence_ended"),
        (lambda w: change_agent(w, lives="elsewhere"), "elsewhere"),
        (lambda w: change_settings(w, is_autonomous=False), "switched_off"),
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
    assert (
        "while" in str(of(comment).why)
        or "spam" in str(of(comment).why)
        or "deleted" in str(of(comment).why)
    )
    world.round(MINUTE)
    assert of(comment).verdict == then


def test_a_comment_edited_while_the_voice_writes_is_answered_as_it_stands_then(monkeypatch):
    world = World(mode="auto")
    comment = world.comment()
    new = {"content": "Is a lighthouse a promise, then?", "edited_at": NOON}
    _meanwhile(monkeypatch, lambda: Message.objects.filter(pk=comment.pk).update(**new))
    assert world.round().given_back == 1
    assert "edited" in str(of(comment).why)
    assert world.round(MINUTE).drafted == 1
    assert "lighthouse" in Draft.objects.get().text


def _meanwhile(monkeypatch, moves) -> None:
    """Let it happen once, while the voice is writing."""
    speak, left = generate.generate, [moves]

    def slowly(*args, **given):
        if left:
            left.pop()()
        return speak(*args, **given)

    monkeypatch.setattr(generate, "generate", slowly)
