from __future__ import annotations

from collections import Counter
from time import thread_time

from hypothesis import given
from hypothesis import strategies as some

from surfaces.threads import tree as thread_tree

POST = 1
comments = some.integers(min_value=2, max_value=40)
parents = some.one_of(some.none(), some.integers(min_value=1, max_value=60))
graphs = some.dictionaries(comments, parents, max_size=39)


def laid(edges: dict[int, int | None]) -> list[tuple[int, int]]:
    return [(place.pk, place.depth) for place in thread_tree.lay_out(edges.items(), post=POST)]


@given(graphs)
def test_any_graph_of_parents_yields_each_message_exactly_once(edges):
    assert Counter(pk for pk, _ in laid(edges)) == Counter(list(edges))


@given(graphs)
def test_an_answer_stands_under_its_parent_and_one_deeper(edges):
    places = thread_tree.lay_out(edges.items(), post=POST)
    depth = {place.pk: place.depth for place in places}
    seen: set[int] = set()
    for place in places:
        if place.parent is None:
            assert place.depth == 0
        else:
            assert place.parent == edges[place.pk]
            assert place.parent in seen
            assert place.depth == depth[place.parent] + 1
        seen.add(place.pk)


@given(graphs, some.integers(min_value=1, max_value=9))
def test_the_pages_of_a_thread_hold_each_message_exactly_once(edges, most):
    places = thread_tree.lay_out(edges.items(), post=POST)
    around, shown = None, []
    while True:
        page = thread_tree.cut(places, around=around, most=most)
        assert page.before == len(shown)
        shown += page.places
        assert page.after == len(places) - len(shown)
        if page.later is None:
            break
        assert len(page.places) <= most or page.places[0].depth == 0
        around = page.later
    assert shown == places


@given(graphs, some.integers(min_value=1, max_value=9), some.integers(0, 4))
def test_every_list_that_is_opened_is_shut(edges, most, deepest):
    page = thread_tree.cut(thread_tree.lay_out(edges.items(), post=POST), most=most)
    lists = items = 0
    for line in thread_tree.lines(page.places, deepest=deepest):
        lists += line.opens
        items += 1
        items -= line.is_leaf
        lists -= len(line.shuts)
        items -= len(line.shuts)
        assert 0 <= lists <= deepest
        assert items == lists + (not line.is_leaf)
    assert lists == items == 0


def test_an_orphan_stands_under_the_post():
    assert laid({2: 99, 3: 2, 4: POST, 5: None}) == [(2, 0), (3, 1), (4, 0), (5, 0)]


def test_a_ring_is_opened_at_its_oldest_member():
    assert laid({5: 4, 2: 4, 3: 2, 4: 3}) == [(2, 0), (3, 1), (4, 2), (5, 3)]


def test_a_message_that_names_itself_stands_under_the_post():
    assert laid({2: 2, 3: 2}) == [(2, 0), (3, 1)]


def test_the_page_that_holds_a_message_is_found_from_the_message():
    places = thread_tree.lay_out(((pk, None) for pk in range(2, 1202)), post=POST)
    page = thread_tree.cut(places, around=700, most=500)
    assert 700 in {place.pk for place in page.places}
    assert (page.before, page.after) == (500, 200)
    assert page.earlier == 2


def test_a_message_nobody_knows_brings_the_first_page():
    places = thread_tree.lay_out(((pk, None) for pk in range(2, 1202)), post=POST)
    assert thread_tree.cut(places, around=-5).before == 0


def test_what_is_too_deep_says_whom_it_answers():
    places = thread_tree.lay_out(((pk, pk - 1) for pk in range(2, 12)), post=POST)
    told = [line.is_under_parent for line in thread_tree.lines(places, deepest=3)]
    assert told == [True] * 4 + [False] * 6


def test_ten_thousand_comments_in_one_line_are_laid_out_in_a_blink():
    started = thread_time()
    places = thread_tree.lay_out([(2, None), *((pk, pk - 1) for pk in range(3, 10_002))], post=POST)
    thread_tree.lines(thread_tree.cut(places).places)
    assert places[-1].depth == 9_999
    assert thread_time() - started < 1


def test_five_thousand_rings_are_opened_in_a_blink():
    started = thread_time()
    rings = [(pk, pk ^ 1) for pk in range(2, 10_002)]
    assert len(thread_tree.lay_out(rings, post=POST)) == 10_000
    assert thread_time() - started < 1
