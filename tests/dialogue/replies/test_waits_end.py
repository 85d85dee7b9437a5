"""A wait ends when its cause ends: in the transaction that changes it, and with its reason."""

from __future__ import annotations

from datetime import time, timedelta
from decimal import Decimal

import pytest

from dialogue.activations import choosing
from dialogue.agents.settings import services as agent_settings
from dialogue.budgets.models import HOUSE, Spending
from dialogue.budgets.services import owner_of
from dialogue.budgets.shared import current
from dialogue.models import Agent, ModelEndpoint
from surfaces.drafts import services as draft_services
from surfaces.models import Draft, Message
from surfaces.settings.services import change
from tests.dialogue.replies.factories import MINUTE, World, broken_voice, of
from tests.factories import NOON, make_agent, make_post

pytestmark = [pytest.mark.django_db, pytest.mark.engine]
MIRA = "operator:mira"


def set_agent(world: World, **values) -> None:
    agent = Agent.objects.select_related("settings").get(pk=world.agent.pk)
    change(agent, values, by=MIRA, now=world.now)


def is_due(world: World, comment: Message) -> bool:
    row = of(comment)
    return row.read_at is None and row.look_at is not None and row.look_at <= world.now


def told(comment: Message) -> tuple[str, str]:
    return str(of(comment).why), str(Message.objects.get(pk=comment.pk).reply_why)


AGAIN = "What it waited for has changed. It is checked again now."


def test_more_replies_a_day_are_used_today():
    world = World(replies_per_day=1, spacing_seconds=0)
    world.comment()
    second = world.comment()
    world.round()
    assert "1 of 1 replies allowed per day are used" in told(second)[1]
    set_agent(world, replies_per_day=5)
    assert is_due(world, second)
    assert told(second) == (AGAIN, AGAIN)
    assert world.round(MINUTE).drafted == 1


def test_more_replies_in_a_thread_reopen_what_was_passed():
    world = World(replies_per_thread=1, spacing_seconds=0)
    post = make_post(account=world.account)
    comments = [world.comment(post=post) for _ in range(2)]
    world.round()
    passed = next(comment for comment in comments if of(comment).outcome == "passed")
    set_agent(world, replies_per_thread=2)
    assert is_due(world, passed)
    assert world.round(MINUTE).drafted == 1


def test_other_hours_begin_at_once():
    world = World(agent=make_agent(active_from=time(14), active_to=time(20)))
    comment = world.comment()
    world.round()
    set_agent(world, active_from=time(8))
    assert is_due(world, comment)
    assert world.round(MINUTE).drafted == 1


def test_a_shorter_spacing_counts_for_what_waits():
    world = World(spacing_seconds=3600)
    world.comment()
    second = world.comment()
    world.round()
    set_agent(world, spacing_seconds=0)
    assert is_due(world, second)
    assert world.round(MINUTE).drafted == 1


def test_a_later_oldest_day_reopens_what_was_too_old():
    world = World(oldest_days=1)
    comment = world.comment(created_at=NOON - timedelta(days=2))
    world.round()
    assert of(comment).outcome == "passed"
    set_agent(world, oldest_days=7)
    assert is_due(world, comment)
    assert world.round(MINUTE).drafted == 1


@pytest.mark.parametrize("owner", ["agent", "house"])
def test_granted_money_is_there_for_what_waits(owner):
    world = World(voice="model", money_per_day=Decimal(1))
    ModelEndpoint.objects.create(
        agent=world.agent, model="openai-chat:nobody", base_url="http://127.0.0.1:9/v1"
    )
    named = HOUSE if owner == "house" else owner_of(world.agent.slug)
    Spending.objects.create(
        owner=named, period="day", starts=NOON.date(), money=Decimal(5 if owner == "house" else 1)
    )
    comment = world.comment()
    world.round()
    assert of(comment).verdict == "spent"
    if owner == "house":
        change(current(), {"money_per_day": Decimal(9)}, by=MIRA, now=world.now)
    else:
        set_agent(world, money_per_day=Decimal(2))
    assert is_due(world, comment)


def test_clearing_the_back_off_frees_the_agent_and_its_comments():
    world = World()
    broken_voice(world)
    comment = world.comment()
    world.round()
    assert of(comment).verdict == "between_tries"
    other = world.comment()
    world.agent.note(failures=7, backs_off_until=NOON + timedelta(hours=1))
    world.round()
    assert of(other).verdict == "backed_off"
    agent_settings.clear_back_off(world.agent, by=MIRA)
    assert is_due(world, comment)
    assert is_due(world, other)
    assert of(comment).not_before is None


def test_a_reply_that_was_rejected_gives_its_place_back():
    world = World(replies_per_day=1, spacing_seconds=0)
    comments = {comment.pk: comment for comment in (world.comment(), world.comment())}
    world.round()
    draft = Draft.objects.get()
    del comments[draft.target_id]
    draft_services.withdraw(draft, by=MIRA, now=world.now, why="rejected.tone")
    assert is_due(world, *comments.values())
    assert world.round(MINUTE).drafted == 1


def test_a_wait_of_another_agent_is_left_alone():
    worlds = [World(replies_per_day=1, spacing_seconds=0) for _ in range(2)]
    for world in worlds:
        world.comment()
        world.last = world.comment()
    worlds[0].round()
    set_agent(worlds[0], replies_per_day=5)
    assert is_due(worlds[0], worlds[0].last)
    assert not is_due(worlds[1], worlds[1].last)


def test_a_change_while_the_replier_takes_its_work_counts_already(monkeypatch):
    world = World(replies_per_day=1, spacing_seconds=0)
    world.comment()
    second = world.comment()
    world.round()
    set_agent(world, replies_per_day=2)
    of(second).note(look_at=world.now)
    claim = choosing.claim

    def claim_and_change(**given):
        claimed = claim(**given)
        set_agent(world, replies_per_day=1)
        return claimed

    monkeypatch.setattr(choosing, "claim", claim_and_change)
    assert world.round(MINUTE).drafted == 0
    assert of(second).verdict == "day_full"
