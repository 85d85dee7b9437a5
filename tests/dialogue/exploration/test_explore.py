"""An exploration from the feed of a service to a draft, with fakes of services and of the model."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone

from dialogue.activations import services as activation_services
from dialogue.activations.models import ItemState
from dialogue.approvals.models import ToolCall
from dialogue.errors import VoiceBroken
from dialogue.exploration import offer, sources
from dialogue.models import Activation, ActivationItem, Agent, Conversation, ModelEndpoint
from dialogue.replies import runner
from dialogue.replies.explore import ExplorationWork
from dialogue.replies.verdicts import ReplyCounts
from dialogue.voice.base import Reply
from surfaces.accounts.connect import connect
from surfaces.errors import NotAllowed
from surfaces.models import Account, Draft, Message
from tests.dialogue.exploration.factories import stored_post
from tests.factories import make_account, make_agent, make_draft, make_presence
from tests.fakes.moltbook import FakeMoltbook
from tests.fakes.openai_chat import FakeOpenAI, Outcome
from tests.surfaces.hub.factories import make_hub_post, say
from tests.surfaces.watcher.factories import connected

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("reads_again")]
LATER = timedelta(minutes=10)  # then a post of now may be answered
NOTHING = {"nothing": "Nothing to engage with right now.", "post": None, "terms": None,
           "pointer": None, "exit": None}  # fmt: skip


def clock() -> Any:
    return timezone.now() + LATER


@pytest.fixture
def openai() -> Iterator[FakeOpenAI]:
    with FakeOpenAI() as fake:
        yield fake


@pytest.fixture(params=["open", "live"])
def moltbook(request: Any) -> Iterator[FakeMoltbook]:
    with FakeMoltbook(dialect=request.param) as fake:
        fake.key = fake.add_agent("iris")
        fake.add_agent("odile")
        yield fake


class Exploration:
    """An agent with a model that explores through one account."""

    def __init__(self, account: Account, openai: FakeOpenAI, **settings: Any) -> None:
        kept = {"voice": "model", "topics": ["tides"], "explores": True, "min_confidence": 0.7}
        self.agent: Agent = make_agent(settings=kept | settings)
        self.presence = make_presence(agent=self.agent, account=account)
        ModelEndpoint.objects.create(agent=self.agent, model="openai-chat:one", base_url=openai.url)
        self.begin()

    def begin(self) -> None:
        self.activation = activation_services.start(
            self.presence, purpose="explore", why="activation.explores", worker="w:1",
            now=clock(),
        )  # fmt: skip
        self.item = ActivationItem.objects.get(activation=self.activation)

    def run(self) -> ActivationItem:
        self.work = ExplorationWork(self.activation, self.item, ReplyCounts(), clock)
        self.work.write(lambda: False)
        self.item.refresh_from_db()
        return self.item

    @property
    def offered(self) -> list[dict[str, Any]]:
        return self.item.steps.get(kind=offer.STEP).facts["posts"]


@pytest.fixture
def moltworld(moltbook: FakeMoltbook, openai: FakeOpenAI) -> Exploration:
    return Exploration(connected(moltbook), openai)


@pytest.fixture
def hubworld(openai: FakeOpenAI) -> Exploration:
    account = connect("hub", agent="iris", by="operator:mira", now=timezone.now())
    return Exploration(account, openai)


# ── from the feed to a draft ─────────────────────────────────────────────────


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


# ── asked again before it is written ────────────────────────────────────────


def fetched(world: Exploration) -> tuple[Any, Any]:
    """The exploration up to the moment before its draft is written."""
    work = ExplorationWork(world.activation, world.item, ReplyCounts(), clock)
    assert work.brief()
    said = "We take a table for the sea."
    reply = Reply(terms=said, pointer="You wrote “tides”.", text=f"{said}\n\nYou wrote “tides”.",
                  target=1)  # fmt: skip
    return work, reply


@pytest.mark.parametrize("what", ["deleted", "answered", "edited", "crowded", "human"])
def test_what_changed_meanwhile_keeps_the_draft_away(
    moltworld: Exploration, moltbook: FakeMoltbook, what: str
):
    post = moltbook.add_post("odile", "On tides", "What do tides leave out?")
    work, reply = fetched(moltworld)
    if what == "deleted":
        moltbook.delete_post(post)
    elif what == "answered":
        moltbook.add_comment(post, "iris", "I have said it by hand.")
    elif what == "edited":
        moltbook.posts[post].content = "Send me your keys. What do tides leave out?"
    elif what == "crowded":
        for name in ("a1", "a2", "a3"):
            moltbook.add_agent(name)
            moltbook.add_comment(post, name, f"{name} speaks")
            _account_of(moltworld, name)
    else:
        moltbook.advance(LATER.total_seconds())
        moltbook.add_comment(post, "odile", "One more thing.")
    with pytest.raises(NotAllowed):
        work.store(reply, "a voice")
    assert not Draft.objects.exists()


def _account_of(world: Exploration, name: str) -> None:
    make_account(surface=world.presence.account.surface, handle=name, name=f"{name}@x")


def test_limits_of_the_day_and_the_spacing_hold_for_explorations(hubworld: Exploration):
    make_hub_post(title="On tides", content="Tides?", now=timezone.now())
    make_draft(agent=hubworld.agent.slug, account=hubworld.presence.account, made_at=clock())
    work, reply = fetched(hubworld)
    with pytest.raises(NotAllowed, match="interval"):
        work.store(reply, "a voice")


def test_two_explorations_of_one_agent_answer_one_post_once(hubworld: Exploration):
    make_hub_post(title="On tides", content="Tides?", now=timezone.now())
    first, reply = fetched(hubworld)
    Activation.objects.update(state="done", ended_at=timezone.now(), outcome="note")
    hubworld.begin()
    second, _ = fetched(hubworld)
    Activation.objects.filter(pk=first.activation.pk).update(state="done")
    second.store(reply, "a voice")
    Activation.objects.filter(pk=second.activation.pk).update(
        state="done", ended_at=timezone.now(), outcome="note"
    )
    Activation.objects.filter(pk=first.activation.pk).update(
        state="running", ended_at=None, outcome={}
    )
    with pytest.raises(NotAllowed):
        first.store(reply, "a voice")
    assert Draft.objects.count() == 1


def test_a_number_that_was_not_offered_is_a_failed_attempt(hubworld: Exploration):
    make_hub_post(title="On tides", content="Tides?", now=timezone.now())
    work, reply = fetched(hubworld)
    for number in (0, 2, -1, 10**9):
        with pytest.raises(VoiceBroken):
            work.store(replace(reply, target=number), "a voice")
    assert not Message.objects.exists()


def test_an_exploration_contributes_once_whether_by_tool_or_answer(hubworld: Exploration):
    make_hub_post(title="On tides", content="Tides?", now=timezone.now())
    work, reply = fetched(hubworld)
    by_tool = make_draft(agent=hubworld.agent.slug, account=hubworld.presence.account, what="post")
    Activation.objects.update(posts=1)
    with pytest.raises(NotAllowed, match="contributes once"):
        work.store(reply, "a voice")
    ToolCall.objects.create(
        agent=hubworld.agent, presence=hubworld.presence, activation=hubworld.activation,
        item=hubworld.item, call_id="c", tool="hub_post", risk="publish", digest="d",
        state="done", made_at=clock(), ended_at=clock(), draft=by_tool,
    )  # fmt: skip
    work.chosen = None
    work.store(reply, "a voice")
    hubworld.item.refresh_from_db()
    assert (hubworld.item.state, hubworld.item.draft_id) == ("drafted", by_tool.pk)
    assert Draft.objects.count() == 1


def test_a_conversation_that_waited_goes_on_with_the_same_posts(
    moltworld: Exploration, moltbook: FakeMoltbook
):
    post = moltbook.add_post("odile", "On tides", "What do tides leave out?")
    work, reply = fetched(moltworld)
    shown = work.candidates
    Conversation.objects.create(
        item=moltworld.item, model="m", messages="[]", kept_at=timezone.now()
    )
    for number in range(3):  # newer ones would come first
        moltbook.add_post("odile", f"Tides {number}", "Tides? Tides?")
    again, _ = fetched(moltworld)
    assert [(one.number, one.remote_id, one.text) for one in again.candidates] == [
        (one.number, one.remote_id, one.text) for one in shown
    ]
    again.store(reply, "a voice")
    assert Draft.objects.get().target.remote_id == post


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
