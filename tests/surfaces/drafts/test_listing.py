from __future__ import annotations

import pytest

from tests.factories import NOON, make_draft, make_message, make_post
from tests.surfaces.drafts.pages import queries, text

pytestmark = pytest.mark.django_db
LIST = "/drafts/"


def test_nothing_waiting_says_what_to_do_next(desk):
    page = text(desk.get(LIST))
    assert "No drafts to review" in page
    assert "/messages/?waiting=1" in page


def test_tabs_count_what_a_person_should_know(desk):
    make_draft()
    make_draft()
    make_draft(state="failed")
    page = text(desk.get(LIST))
    assert 'Waiting <span class="n num">2</span>' in page
    assert 'Failed <span class="n num">1</span>' in page


@pytest.mark.parametrize("name", ["unknown", "failed", "sent", "withdrawn", "shadowed", "all"])
def test_each_state_has_its_tab_and_its_empty_sentence(desk, name):
    assert desk.get(LIST, {"state": name}).status_code == 200
    given = {"sent_at": NOON} if name == "sent" else {}
    make_draft(text="To be found", state="waiting" if name == "all" else name, **given)
    assert "To be found" in text(desk.get(LIST, {"state": name}))


def test_a_state_that_is_none_shows_what_waits(desk):
    make_draft(text="Still here")
    assert "Still here" in text(desk.get(f"{LIST}?state=purple"))


@pytest.mark.parametrize(
    "query", ["before=x", "after=%00", "before=-1", "before=99999999999999999999"]
)
def test_a_broken_query_is_refused_with_a_sentence(desk, query):
    response = desk.get(f"{LIST}?{query}")
    assert response.status_code == 400
    assert "Open the page from the menu again." in text(response) or "NUL" in text(response)


def test_pages_follow_one_another_by_key(desk):
    target = make_post()
    ids = [make_draft(what="comment", target=target).pk for _ in range(60)][::-1]
    first = text(desk.get(LIST))
    assert f'"/drafts/{ids[0]}/"' in first
    assert f'"/drafts/{ids[55]}/"' not in first
    second = text(desk.get(LIST, {"state": "waiting", "before": ids[49]}))
    assert f'"/drafts/{ids[55]}/"' in second
    assert f"after={ids[50]}" in second


def test_the_queries_of_the_list_do_not_grow_with_its_rows(desk):
    make_draft()
    few = queries(desk, LIST)
    for _ in range(20):
        make_draft()
    assert queries(desk, LIST) == few <= 8


def test_what_changed_while_it_waited_has_a_tab_and_says_why_in_its_row(desk):
    make_draft(text="Nothing happened here.")
    make_draft(text="Look again.", stale_why="@ana wrote again in this thread.", stale_at=NOON)
    make_draft(text="Long gone.", state="withdrawn", stale_why="@ben wrote again.", stale_at=NOON)
    page = text(desk.get(LIST, {"state": "changed"}))
    assert 'Stale <span class="n num">1</span>' in page
    assert "Look again." in page
    assert '<span class="badge wait">changed</span>' in page
    assert "@ana wrote again in this thread." in page
    assert "Nothing happened here." not in page
    assert "Long gone." not in page


def test_nothing_changed_says_what_the_tab_is_for(desk):
    make_draft()
    assert "No stale drafts" in text(desk.get(LIST, {"state": "changed"}))


def test_a_row_names_who_speaks_and_who_wrote(desk):
    make_draft(agent="gabriel", origin="scripted")
    make_draft(target=make_message())
    page = text(desk.get(LIST))
    assert "gabriel · scripted voice" in page
    assert "by hand" in page
