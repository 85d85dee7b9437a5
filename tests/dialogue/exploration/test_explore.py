"""An exploration from the feed of a service to a draft, with fakes of services and of the model."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone

from dialogue.activations.models import ItemState
from dialogue.exploration import offer, sources
from dialogue.models import Activation
from dialogue.replies import runner
from dialogue.replies.verdicts import ReplyCounts
from surfaces.models import Draft, Message
from tests.dialogue.exploration.explorations import Exploration, clock
from tests.dialogue.exploration.factories import stored_post
from tests.factories import make_account
from tests.fakes.moltbook import FakeMoltbook
from tests.fakes.openai_chat import FakeOpenAI, Outcome
from tests.surfaces.hub.factories import make_hub_post, say

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("reads_again")]
NOTHING = {"nothing": "Nothing to engage with right now.", "post": None, "terms": None,
           "pointer": None, "exit": None}  # fmt: skip


def test_a_post_that_was_only_looked_at_is_stored_when_it_is_answered(
    moltworld: Exploration, moltbook: FakeMoltbook, openai: FakeOpenAI
):
    moltbook.add_post("odile", "Bread", "Flour and salt.")
    wanted = moltbook.add_post("odile", "On tides", "What do tides leave out?")
    moltbook.add_comment(wanted, "odile", "Nobody knows.")
    item = moltworld.run()
    assert (item.state, Draft.objects.count()) == (ItemState.DRAFTED, 1), item.why
    draft = Draft.objects.select_related("target").get()
    assert (draft.what, draft.state, draft.agent) == ("comment", "waiting", moltworld.agent.slug)
    assert draft.target.remote_id == wanted
    assert draft.written_for == f"item:{item.pk}"
    assert item.draft_id == draft.pk
    # Of the two posts that were looked at, one is stored, with its thread as it is now.
    assert Message.objects.posts().count() == 1
    assert Message.objects.comments().get().content == "Nobody knows."
    assert not [one for one in moltbook.requests if one[0] == "POST"]
    codes = {row["remote_id"]: row["why"]["code"] for row in moltworld.offered}
    assert codes[wanted] == "exploration.matches"
    assert set(codes.values()) == {"exploration.matches", "exploration.off_topic"}
    assert "Topics: tides" in openai.requests[0].system
    moltworld.activation.refresh_from_db()
    assert moltworld.activation.posts == 1


def test_on_the_hub_too(hubworld: Exploration, openai: FakeOpenAI):
    post = make_hub_post(title="On tides", content="What do tides leave out?", now=timezone.now())
    say(post, now=timezone.now())
    assert hubworld.run().state == ItemState.DRAFTED
    assert Draft.objects.get().target.remote_id == post.name


def test_nothing_to_engage_with_is_an_outcome_of_its_own(hubworld: Exploration, openai: FakeOpenAI):
    make_hub_post(title="On tides", content="Tides?", now=timezone.now())
    openai.script(Outcome("good", words=NOTHING))
    item = hubworld.run()
    assert (item.state, str(item.why)) == ("nothing", "Nothing to engage with right now.")
    assert not Draft.objects.exists()
    assert not Message.objects.exists()


def test_without_a_candidate_no_model_is_asked(hubworld: Exploration, openai: FakeOpenAI):
    make_hub_post(title="Bread", content="Flour and salt.", now=timezone.now())
    item = hubworld.run()
    assert (item.state, item.why.code) == ("nothing", "exploration.no_candidate")
    assert openai.requests == []
    step = item.steps.get()
    assert str(step.why) == "Considered 1 posts and offered 0."


def test_a_service_that_is_down_leaves_the_stored_posts(
    moltworld: Exploration, moltbook: FakeMoltbook
):
    at = timezone.now() - timedelta(hours=1)
    post = stored_post(
        moltworld.presence, created_at=at, seen_at=at, content="What do tides leave out?"
    )
    moltbook.fault("500-before", times=1000)
    item = moltworld.run()
    assert item.state == ItemState.DRAFTED, item.why
    assert Draft.objects.get().target == post
    assert "feed" in item.steps.get(kind=offer.STEP).facts


def test_a_refused_credential_stops_the_account_and_nothing_is_asked(
    moltworld: Exploration, moltbook: FakeMoltbook, openai: FakeOpenAI
):
    moltbook.fault("401", times=1000)
    assert moltworld.run().state == ItemState.NOTHING
    moltworld.presence.account.refresh_from_db()
    assert moltworld.presence.account.state == "auth_failed"
    assert openai.requests == []


def test_the_feed_is_read_outside_any_transaction(
    hubworld: Exploration, monkeypatch: pytest.MonkeyPatch
):
    depth = len(connection.savepoint_ids)
    seen: list[int] = []
    real = sources.open_reader

    def noted(*given: Any, **more: Any) -> Any:
        seen.append(len(connection.savepoint_ids))
        return real(*given, **more)

    monkeypatch.setattr(sources, "open_reader", noted)
    hubworld.run()
    assert seen == [depth]


def test_a_whole_activation_ends_done_with_its_draft_and_its_transcript(hubworld: Exploration):
    make_hub_post(title="On tides", content="Tides?", now=timezone.now())
    counts = ReplyCounts()
    runner.run(
        hubworld.activation, counts, clock=clock, until=lambda: False, is_ending=lambda: False
    )
    activation = Activation.objects.get()
    assert (activation.state, activation.posts, counts.drafted) == ("done", 1, 1)
    kinds = [step.kind for step in activation.steps.order_by("number")]
    assert kinds == ["offered", "asked", "answered", "checked"]


def test_posts_by_our_own_account_under_another_name_are_left_alone(
    moltworld: Exploration, moltbook: FakeMoltbook, openai: FakeOpenAI
):
    # The open-source server tells no ids: there the name counts, in whatever case.
    is_open = moltbook.world.dialect == "open"
    make_account(
        surface=moltworld.presence.account.surface, name="x@molt",
        handle="ODILE" if is_open else "before",
        remote_id=moltbook.world.agent("odile").id,
    )  # fmt: skip
    moltbook.add_post("odile", "On tides", "What do tides leave out?")
    assert moltworld.run().state == ItemState.NOTHING
    assert moltworld.offered[0]["why"]["code"] == "exploration.ours"
    assert openai.requests == []
