"""The page of one stone: its choice can be read again, and why it was made."""

from __future__ import annotations

import pytest

from dialogue.activations import services as activation_services
from dialogue.models import AgentSettings, Kernel, Stone
from dialogue.stones.choice import rest_of
from tests.dialogue.stones.pages import (
    LIST,
    make_exploit,
    make_stone,
    page_of,
    queries,
    text,
    words,
)
from tests.factories import make_agent, make_draft, make_post, make_presence

pytestmark = pytest.mark.django_db


def test_the_number_can_be_read_again(desk):
    stone = make_exploit()
    page = words(desk.get(page_of(stone)))
    chosen = next(row for row in stone.table if row["post"] == stone.thread_id)
    assert str(stone.why) in page
    assert f"The random number of this slot is {stone.draw:.4f}." in page
    assert f"above the explore share {stone.share:.2f}, so exploit." in page
    rest = rest_of(stone.draw, stone.share)
    assert f"= {rest:.4f}, selects" in page
    assert f"“{chosen['title']}”, which covers" in page


def test_the_number_stands_on_its_line(desk):
    page = text(desk.get(page_of(make_stone(draw=0.61, share=0.25))))
    assert 'class="explores" x="0" y="18" width="25.00%"' in page
    assert 'class="hit" cx="61.00%"' in page


@pytest.mark.parametrize(("draw", "kind", "says"), [
    (0.1, "explore", "below the explore share 0.25, so explore."),
    (0.9, "explore", "so exploit; but no thread had comments, so explore was used."),
    (0.1, "exploit", "so explore; but there were no topic seeds, so exploit was used."),
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
    assert f"{gone['title']} no longer stored" in words(page)
    assert f"/threads/{gone['post']}/" not in text(page)


def test_it_shows_the_words_and_what_they_grew_from(desk):
    kernel = Kernel.objects.create(agent=make_agent(), words="What is a <b>border</b>?", used=1)
    draft = make_draft(
        what="post", title="On borders", text="Terms: a game.\n\nPointer: a line.",
        terms="a game", pointer="a line", origin="scripted",
    )  # fmt: skip
    page = text(desk.get(page_of(make_stone(kernel=kernel, draft=draft, state="written"))))
    for said in ["On borders", "a game", "Written from a template", f"/drafts/{draft.pk}/",
                 "What is a &lt;b&gt;border", "Topic seed, used 1 time"]:  # fmt: skip
        assert said in page


def test_it_links_to_the_thread_it_grew_from(desk):
    stone = make_exploit()
    assert f'href="/threads/{stone.thread_id}/"' in text(desk.get(page_of(stone)))


def test_why_it_was_not_written_is_said(desk):
    stone = make_stone(
        state="given_up", outcome="Failed after 3 attempts. Last error: no answer", tries=3
    )
    page = words(desk.get(page_of(stone)))
    assert "The stone was not written. Failed after 3 attempts. Last error: no answer" in page
    assert "3 of 3" in page


def test_its_wakings_are_linked(desk):
    stone = make_stone()
    woken = activation_services.start(
        stone.presence, purpose="stone", why=stone.why, worker="x", now=stone.chosen_at
    )
    activation_services.finish(woken, "failed", "The model is away.", now=stone.chosen_at)
    other = activation_services.start(
        stone.presence, purpose="stone", why="another one", worker="x", now=stone.chosen_at
    )
    page = desk.get(page_of(stone))
    assert f"/activations/{woken.pk}/" in text(page)
    assert f"/activations/{other.pk}/" not in text(page)
    assert "The model is away." in words(page)


def test_the_queries_of_one_stone_do_not_grow_with_its_scores(desk):
    stone = make_exploit()
    few = queries(desk, page_of(stone))
    row = dict(stone.table[0])
    posts = [make_post(account=stone.presence.account).pk for _ in range(30)]
    Stone.objects.filter(pk=stone.pk).update(table=[row | {"post": pk} for pk in posts])
    assert queries(desk, page_of(stone)) == few <= 12


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
