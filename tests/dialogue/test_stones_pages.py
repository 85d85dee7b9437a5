"""The pages of stones: every choice can be read again, and what it earned is counted honestly."""

from __future__ import annotations

import re
from datetime import timedelta
from itertools import count
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from dialogue import activations, choosing
from dialogue.models import AgentSettings, Kernel, Stone
from dialogue.stone_choice import Comment as Said
from dialogue.stone_choice import Facts, Post, choose, drawn, rest_of
from dialogue.stone_choice import Kernel as Thought
from tests.factories import (
    NOON,
    make_account,
    make_agent,
    make_draft,
    make_message,
    make_post,
    make_presence,
)

pytestmark = pytest.mark.django_db
LIST = "/stones/"
SLOT = "2026-11-21#1"
_slots = count(1)


def text(response: Any) -> str:
    """The page on one line, as a reader sees its spaces."""
    return " ".join(response.content.decode().split())


def words(response: Any) -> str:
    """What stands on it, without its tags."""
    without = re.sub(r"<[^>]+>", " ", re.sub(r"</?bdi>", "", text(response)))
    return " ".join(without.split())


def page_of(stone: Stone) -> str:
    return f"{LIST}{stone.pk}/"


def make_stone(**given: Any) -> Stone:
    """A stone of today that is being written."""
    presence = given.pop("presence", None) or make_presence(settings={"lays_stones": True})
    now = timezone.now()
    ordinary = {
        "slot": f"2026-11-21#{next(_slots)}",
        "kind": "explore",
        "why": "0.10 is below the share 0.25: explore. The kernel was never used before.",
        "draw": 0.1,
        "share": 0.25,
        "chosen_at": now,
        "look_at": now,
    }
    return Stone.objects.create(presence=presence, **(ordinary | given))


def make_laid(*authors: str, **given: Any) -> Stone:
    """A stone that was sent, and what these people said under it."""
    presence = given.pop("presence", None) or make_presence(settings={"lays_stones": True})
    post = make_post(account=presence.account)
    for author in authors:
        make_message(post=post, author=author, author_id=f"id-{author}")
    draft = make_draft(
        what="post", account=presence.account, title="On borders", state="sent", sent_at=NOON,
        message=post,
    )  # fmt: skip
    return make_stone(presence=presence, state="written", draft=draft, **given)


def make_exploit(**given: Any) -> Stone:
    """A stone as the choice makes it, that grew from one of two threads."""
    presence = make_presence(settings={"lays_stones": True})
    posts = [make_post(account=presence.account, title=f"Thread {number}") for number in (1, 2)]
    said = [Said(author="ann", is_question=True), Said(author="ben")]
    facts = Facts(
        presence=presence.pk,
        slot=SLOT,
        share=drawn(presence.pk, SLOT) / 2,
        posts=[
            Post(
                id=posts[0].pk, title="Thread 1", created_at=NOON - timedelta(days=2), comments=said
            ),
            Post(id=posts[1].pk, title="Thread 2", created_at=NOON, comments=said[1:]),
        ],
        kernels=[Thought(id=1)],
    )
    choice = choose(facts, now=NOON)
    table = [{name: getattr(row, name) for name in row.__slots__} for row in choice.table]
    return make_stone(
        presence=presence, slot=facts.slot, kind="exploit", why=choice.why, table=table,
        draw=choice.draw, share=facts.share, thread_id=choice.post_id, **given,
    )  # fmt: skip


# ── the list ──────────────────────────────────────────────────────────────


def test_with_nothing_laid_it_says_what_to_do(desk):
    make_presence()
    page = words(desk.get(LIST))
    assert "No stones yet" in page
    assert "Give an agent kernels" in page
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
    assert "The next not before 21 Nov" in page
    assert "1 kernel." in page


@pytest.mark.parametrize(("settings", "mode", "says"), [
    ({"is_autonomous": False}, "", "the switch is off"),
    ({}, "off", "Its mode is off"),
])  # fmt: skip
def test_what_keeps_a_presence_from_laying_stands_beside_it(settings, mode, says, desk):
    make_presence(settings={"lays_stones": True} | settings, mode=mode)
    assert says in words(desk.get(LIST))


def test_that_there_was_nothing_to_lay_is_said_until_something_was_laid(desk):
    presence = make_presence(settings={"lays_stones": True})
    assert choosing.choose(presence, now=NOON) is None
    assert "the list of kernels is empty" in words(desk.get(LIST))
    make_stone(presence=presence, chosen_at=timezone.now() + timedelta(seconds=1))
    assert "the list of kernels is empty" not in words(desk.get(LIST))


def test_a_row_says_kind_slot_who_why_state_and_what_it_earned(desk):
    stone = make_laid("ann", "ben", "ann", kind="exploit", why="0.61 is above the share: exploit.")
    page = words(desk.get(LIST))
    assert f"{stone.slot} exploit Iris {stone.presence.account.name}" in page
    assert "0.61 is above the share: exploit. sent draft" in page
    assert f"draft {stone.draft_id} 3 2 " in page
    assert f'href="/drafts/{stone.draft_id}/"' in text(desk.get(LIST))


@pytest.mark.parametrize(("facts", "says"), [
    ({"state": "chosen"}, "to be written"),
    ({"state": "chosen", "tries": 2}, "tried 2 times"),
    ({"state": "given_up", "outcome": "x"}, "given up"),
    ({"state": "written"}, "draft gone"),
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


@pytest.mark.parametrize("query", ["agent=%00", "agent=nobody", "before=x", "after=-1",
                                   "before=99999999999999999999"])  # fmt: skip
def test_a_broken_query_shows_the_newest_of_all(desk, query):
    stone = make_stone()
    assert page_of(stone) in text(desk.get(f"{LIST}?{query}"))


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
    few = _queries(desk, LIST)
    for _ in range(12):
        make_laid("ann", "ben")
        make_stone()
    assert _queries(desk, LIST) == few <= 14


# ── twelve weeks ──────────────────────────────────────────────────────────


def test_the_share_of_exploring_stands_beside_the_setting(desk):
    presence = make_presence()
    for kind in ["explore", "exploit", "exploit", "exploit", "exploit"]:
        make_stone(presence=presence, kind=kind, share=0.3)
    page = text(desk.get(LIST))
    assert "1 of 5 stones, 20 %; set to 30 %" in page
    assert "1 of 5 stones explored, 20 %; set to 30 %. This week 1 of 5." in page
    (now,) = re.findall(r'<rect class="col now"[^>]*>', page)
    assert 'height="20.0"' in now
    assert 'y="104.0"' in now
    assert 'y1="94.0" y2="94.0"' in page  # the setting, dashed


def test_weeks_are_told_apart_and_older_ones_left_out(desk):
    presence, now = make_presence(), timezone.now()
    make_stone(presence=presence, kind="explore", chosen_at=now - timedelta(weeks=3))
    make_stone(presence=presence, kind="exploit", chosen_at=now)
    make_stone(presence=presence, kind="explore", chosen_at=now - timedelta(weeks=13))
    page = desk.get(LIST)
    assert "1 of 2 stones, 50 %" in text(page)
    rows = re.findall(r"<tr><td>[^<]+</td>(.*?)</tr>", text(page))
    figures = [re.findall(r">([^<>]+)</td>", row)[:3] for row in rows]
    assert len(figures) == 12
    assert figures[-1] == ["0", "1", "0 %"]
    assert figures[-4] == ["1", "0", "100 %"]
    assert figures[0] == ["0", "0", "–"]


def test_what_each_kind_earned_is_an_average_over_what_was_sent(desk):
    make_laid("ann", "ben", "ann", kind="explore")
    make_laid(kind="explore")
    make_laid("cat", kind="exploit")
    make_stone(kind="exploit")  # not sent: it could not earn
    page = words(desk.get(LIST))
    assert "3 stones sent in twelve weeks" in page
    assert "Explore, 2 stones: 1.5 comments by 1.0 people." in page
    assert "Exploit, 1 stone: 1.0 comments by 1.0 people." in page
    assert "Explore 2 3 1.5 2 1.0" in page
    bars = re.findall(
        r'<rect class="col (explore|exploit)"[^>]*width="([^"]+)"', text(desk.get(LIST))
    )
    assert bars == [
        ("explore", "62.00%"), ("exploit", "41.33%"), ("explore", "41.33%"), ("exploit", "41.33%"),
    ]  # fmt: skip


def test_before_anything_was_sent_nothing_is_compared(desk):
    make_stone()
    page = words(desk.get(LIST))
    assert "None of these stones was sent" in page
    assert "1 of 1 stone, 100 %" in page


# ── one stone ─────────────────────────────────────────────────────────────


def test_the_number_can_be_read_again(desk):
    stone = make_exploit()
    page = words(desk.get(page_of(stone)))
    chosen = next(row for row in stone.table if row["post"] == stone.thread_id)
    assert stone.why in page
    assert f"The number of this slot is {stone.draw:.4f}. Drawn again it is the same." in page
    assert f"above the share {stone.share:.2f}, so exploit." in page
    rest = rest_of(stone.draw, stone.share)
    assert f"= {rest:.4f}, fell on “{chosen['title']}”, from" in page


def test_the_number_stands_on_its_line(desk):
    page = text(desk.get(page_of(make_stone(draw=0.61, share=0.25))))
    assert 'class="explores" x="0" y="18" width="25.00%"' in page
    assert 'class="hit" cx="61.00%"' in page


@pytest.mark.parametrize(("draw", "kind", "says"), [
    (0.1, "explore", "below the share 0.25, so explore."),
    (0.9, "explore", "so exploit; but no thread had engagement."),
    (0.1, "exploit", "so explore; but the list of kernels was empty."),
])  # fmt: skip
def test_where_the_number_was_overruled_it_says_by_what(draw, kind, says, desk):
    assert says in words(desk.get(page_of(make_stone(draw=draw, kind=kind))))


def test_the_score_table_shows_what_was_counted_and_what_was_chosen(desk):
    stone = make_exploit()
    page = words(desk.get(page_of(stone)))
    row = next(row for row in stone.table if row["title"] == "Thread 1")
    picked = " chosen" if row["post"] == stone.thread_id else ""
    figures = f"2 2 1 2.0 days {row['score']:.2f} {round(row['share'] * 100)} %"
    assert f"Thread 1{picked} {figures}" in page
    assert text(desk.get(page_of(stone))).count("chosen</span>") == 1


def test_a_post_that_is_gone_keeps_its_line_without_a_link(desk):
    stone = make_exploit()
    gone = next(row for row in stone.table if row["post"] != stone.thread_id)
    stone.presence.account.messages.filter(pk=gone["post"]).delete()
    page = desk.get(page_of(stone))
    assert f"{gone['title']} not stored any more" in words(page)
    assert f"/threads/{gone['post']}/" not in text(page)


def test_it_shows_the_words_and_what_they_grew_from(desk):
    kernel = Kernel.objects.create(agent=make_agent(), words="What is a <b>border</b>?", used=1)
    draft = make_draft(
        what="post", title="On borders", text="Terms: a game.\n\nPointer: a line.",
        terms="a game", pointer="a line", origin="scripted",
    )  # fmt: skip
    page = text(desk.get(page_of(make_stone(kernel=kernel, draft=draft, state="written"))))
    for said in ["On borders", "a game", "Written from a template", f"/drafts/{draft.pk}/",
                 "What is a &lt;b&gt;border", "A kernel, used 1 time"]:  # fmt: skip
        assert said in page


def test_it_links_to_the_thread_it_grew_from(desk):
    stone = make_exploit()
    assert f'href="/threads/{stone.thread_id}/"' in text(desk.get(page_of(stone)))


def test_why_it_was_not_written_is_said(desk):
    stone = make_stone(state="given_up", outcome="Tried 3 times. The last time: no answer", tries=3)
    page = words(desk.get(page_of(stone)))
    assert "It was not written. Tried 3 times. The last time: no answer" in page
    assert "3 of 3" in page


def test_its_wakings_are_linked(desk):
    stone = make_stone()
    woken = activations.begin(
        stone.presence, purpose="stone", why=stone.why, worker="x", now=stone.chosen_at
    )
    activations.end(woken, "failed", "The model is away.", now=stone.chosen_at)
    other = activations.begin(
        stone.presence, purpose="stone", why="another one", worker="x", now=stone.chosen_at
    )
    page = desk.get(page_of(stone))
    assert f"/activations/{woken.pk}/" in text(page)
    assert f"/activations/{other.pk}/" not in text(page)
    assert "The model is away." in words(page)


def test_the_queries_of_one_stone_do_not_grow_with_its_scores(desk):
    stone = make_exploit()
    few = _queries(desk, page_of(stone))
    row = dict(stone.table[0])
    posts = [make_post(account=stone.presence.account).pk for _ in range(30)]
    Stone.objects.filter(pk=stone.pk).update(table=[row | {"post": pk} for pk in posts])
    assert _queries(desk, page_of(stone)) == few <= 12


def test_an_unknown_stone_is_not_there(desk):
    assert desk.get(f"{LIST}0/").status_code == 404


def test_only_who_signed_in_may_look(client):
    for path in (LIST, page_of(make_stone())):
        assert client.get(path).status_code == 302


def test_what_an_agent_called_itself_stays_words(desk):
    presence = make_presence(agent=make_agent(name="<script>a()</script>"))
    AgentSettings.objects.update(lays_stones=True)
    stone = make_stone(presence=presence, why="<i>why</i>")
    for path in (LIST, page_of(stone)):
        page = text(desk.get(path))
        assert "<script>a()" not in page
        assert "<i>why" not in page


def _queries(desk: Any, path: str) -> int:
    desk.get(path)
    with CaptureQueriesContext(connection) as asked:
        assert desk.get(path).status_code == 200
    return len(asked)
