"""Laying a stone: from the choice to a draft before a person, with its reasons kept."""

from __future__ import annotations

import io
import json
from datetime import timedelta

import pytest
from django.core.management import call_command

from dialogue.models import Activation, Kernel, Stone
from dialogue.stones import writer
from dialogue.stones.writer import WriteReport
from surfaces.drafts import services as draft_services
from surfaces.models import Account, AuditEvent, Draft
from tests.dialogue.stones.factories import Pen, lay, make_layer, make_talk
from tests.factories import NOON, make_account, make_message, make_post

pytestmark = pytest.mark.django_db


# ── from choice to draft ──────────────────────────────────────────────────


def test_a_stone_is_chosen_written_and_put_before_a_person(worker, clock):
    presence = make_layer(stone_community="general")

    assert lay(worker, clock) == WriteReport(chosen=1, written=1)

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
    assert "“On tides”" in str(stone.why)
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
    draft_services.send_back(first, note="Shorter, please.", by="operator:mira", now=clock())
    pen = Pen()

    assert lay(worker, clock, pen) == WriteReport(written=1)

    stone = Stone.objects.get()
    assert (stone.state, stone.slot, stone.tries) == ("written", "2026-11-21#1", 1)
    assert stone.draft != first
    (brief,) = pen.briefs
    assert brief.notes[-1] == "A person sent the last draft back: Shorter, please."
    assert brief.before == first.text
    assert lay(worker, clock, pen).did == 0


def test_the_real_voice_writes_other_words_when_sent_back(worker, clock):
    make_layer(kernels=3)
    writer.write_due(worker=worker, clock=clock)
    first = Draft.objects.get()
    draft_services.send_back(first, note="Say it otherwise.", by="operator:mira", now=NOON)
    writer.write_due(worker=worker, clock=clock)
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
