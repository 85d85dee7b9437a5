"""The list of stones: who laid what and why, and what it earned, counted honestly."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from dialogue.models import Kernel
from dialogue.stones import scheduler
from tests.dialogue.stones.pages import LIST, make_laid, make_stone, page_of, queries, text, words
from tests.factories import NOON, make_account, make_agent, make_message, make_presence

pytestmark = pytest.mark.django_db


def test_with_nothing_laid_it_says_what_to_do(desk):
    make_presence()
    page = words(desk.get(LIST))
    assert "No stones yet" in page
    assert "enter topic seeds under “Topic seeds”" in page
    assert 'href="/agents/"' in text(desk.get(LIST))


def test_an_agent_without_stones_is_led_to_its_settings(desk):
    make_agent(slug="iris")
    page = text(desk.get(LIST, {"agent": "iris"}))
    assert "No stones by this agent" in page
    assert 'href="/agents/iris/settings/"' in page


def test_once_switched_on_it_says_when_the_first_may_come(desk):
    presence = make_presence(settings={"lays_stones": True}, next_stone_at=NOON)
    Kernel.objects.create(agent=presence.agent, words="A thought")
    page = words(desk.get(LIST))
    assert "No stones yet" in page
    assert "The next stone not before 21 Nov" in page
    assert "1 topic seed." in page


@pytest.mark.parametrize(("settings", "mode", "says"), [
    ({"is_autonomous": False}, "", "automatic replies are off"),
    ({}, "off", "The mode is off"),
])  # fmt: skip
def test_what_keeps_a_presence_from_laying_stands_beside_it(settings, mode, says, desk):
    make_presence(settings={"lays_stones": True} | settings, mode=mode)
    assert says in words(desk.get(LIST))


def test_that_there_was_nothing_to_lay_is_said_until_something_was_laid(desk):
    presence = make_presence(settings={"lays_stones": True})
    assert scheduler.choose(presence, now=NOON) is None
    assert "There are no topic seeds" in words(desk.get(LIST))
    make_stone(presence=presence, chosen_at=timezone.now() + timedelta(seconds=1))
    assert "There are no topic seeds" not in words(desk.get(LIST))


def test_a_row_says_kind_slot_who_why_state_and_what_it_earned(desk):
    stone = make_laid(
        "ann",
        "ben",
        "ann",
        kind="exploit",
        why="Exploit: the random number 0.61 is not below the setting.",
    )
    page = words(desk.get(LIST))
    assert f"{stone.slot} exploit Iris {stone.presence.account.name}" in page
    assert "Exploit: the random number 0.61 is not below the setting. sent draft" in page
    assert f"draft {stone.draft_id} 3 2 " in page
    assert f'href="/drafts/{stone.draft_id}/"' in text(desk.get(LIST))


@pytest.mark.parametrize(("facts", "says"), [
    ({"state": "chosen"}, "to write"),
    ({"state": "chosen", "tries": 2}, "2 attempts"),
    ({"state": "given_up", "outcome": "x"}, "failed"),
    ({"state": "written"}, "draft deleted"),
])  # fmt: skip
def test_each_state_has_its_word(facts, says, desk):
    stone = make_stone(**facts)
    assert says in words(desk.get(LIST))
    assert desk.get(page_of(stone)).status_code == 200


def test_only_strangers_words_that_are_no_spam_are_earned(desk):
    stone = make_laid("ann")
    post, account = stone.draft.message, stone.presence.account
    make_account(surface=account.surface, handle="Nightjar", remote_id="agent-7")
    make_message(post=post, spam_status="spam", author="seller")
    make_message(post=post, direction="outgoing", author="iris")
    make_message(post=post, deleted_at=NOON, author="gone")
    make_message(post=post, author="nightjar")
    make_message(post=post, author="renamed", author_id="agent-7")
    assert f"draft {stone.draft_id} 1 1 " in words(desk.get(LIST))
    assert "1 comment by others 1 person" in words(desk.get(page_of(stone)))


def test_one_person_under_two_names_of_one_id_is_one_person(desk):
    stone = make_laid()
    make_message(post=stone.draft.message, author="ann", author_id="7")
    make_message(post=stone.draft.message, author="ann.b", author_id="7")
    assert f"draft {stone.draft_id} 2 1 " in words(desk.get(LIST))


def test_one_agents_stones_can_be_looked_at_alone(desk):
    ours = make_stone(presence=make_presence(agent=make_agent(slug="ours")))
    other = make_stone(presence=make_presence(agent=make_agent(slug="other")))
    page = text(desk.get(LIST, {"agent": "ours"}))
    assert page_of(ours) in page
    assert page_of(other) not in page
    assert '<option value="ours" selected>' in page
    assert "1 of 1 stone" in page


def test_an_agent_that_is_none_shows_the_newest_of_all(desk):
    stone = make_stone()
    assert page_of(stone) in text(desk.get(f"{LIST}?agent=nobody"))


@pytest.mark.parametrize(
    "query", ["agent=%00", "before=x", "after=-1", "before=99999999999999999999"]
)
def test_a_broken_query_is_refused(desk, query):
    assert desk.get(f"{LIST}?{query}").status_code == 400


def test_pages_follow_one_another_by_key(desk):
    presence = make_presence()
    ids = [make_stone(presence=presence).pk for _ in range(55)][::-1]
    first = text(desk.get(LIST))
    assert f'"/stones/{ids[0]}/"' in first
    assert f'"/stones/{ids[52]}/"' not in first
    second = text(desk.get(LIST, {"before": ids[49]}))
    assert f'"/stones/{ids[52]}/"' in second
    assert f"after={ids[50]}" in second


def test_the_queries_of_the_list_do_not_grow_with_its_rows(desk):
    make_laid("ann")
    few = queries(desk, LIST)
    for _ in range(12):
        make_laid("ann", "ben")
        make_stone()
    assert queries(desk, LIST) == few <= 14
