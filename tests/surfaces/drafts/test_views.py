from __future__ import annotations

import re

import pytest
from django.urls import reverse

from surfaces.drafts import services as draft_services
from tests.factories import NOON, make_approved, make_draft, make_message, make_post
from tests.surfaces.drafts.pages import make_voiced, page_of, queries, text

pytestmark = pytest.mark.django_db
TERMS, POINTER, EXIT = "It is a game of names.", "Your “good morning” stays.", "Or leave it."


def test_the_comment_stands_beside_the_draft(desk):
    draft = make_draft(target=make_message(content="What is it?"), text="An edge.")
    page = text(desk.get(page_of(draft)))
    assert page.index("What is it?") < page.index("An edge.")
    assert "8 of " in page


def test_strangers_words_and_ours_stay_words(desk):
    target = make_message(content="<script>a()</script> مرحبا", author="<i>x</i>")
    page = text(desk.get(page_of(make_draft(target=target, text="<script>b()</script>"))))
    for bad in ["<script>a()", "<script>b()", "<i>x</i>"]:
        assert bad not in page
    assert "&lt;script&gt;b()&lt;/script&gt;" in page


def test_the_next_that_waits_is_one_step_away(desk):
    first, second = make_draft(), make_draft()
    assert page_of(second) in text(desk.get(page_of(first)))
    assert page_of(first) in text(desk.get(page_of(second)))


@pytest.mark.parametrize(
    "given",
    [
        {"state": "composed"},
        {"state": "sending", "approved_digest": "x", "not_before": NOON, "lease_until": NOON},
        {"state": "unknown"},
        {"state": "failed"},
        {"state": "withdrawn"},
        {"state": "shadowed"},
    ],
    ids=lambda given: given["state"],
)
def test_every_state_has_its_page(desk, given):
    for what in ("reply", "post"):
        draft = make_draft(what=what, **given)
        assert desk.get(page_of(draft)).status_code == 200


def test_the_queries_of_a_draft_do_not_grow_with_its_history(desk, noon):
    draft = make_draft()
    few = queries(desk, page_of(draft))
    for number in range(20):
        draft_services.edit(draft, text=f"Words {number}.", by="operator:mira", now=noon)
        make_draft()
    assert queries(desk, page_of(draft)) == few <= 12


def test_an_open_page_hears_of_a_change_and_of_nothing_else(desk):
    draft = make_approved()
    path, htmx = f"/drafts/{draft.pk}/?seen=approved", {"HTTP_HX_REQUEST": "true"}
    assert desk.get(path, **htmx).status_code == 204
    draft.advance("withdrawn")
    page = text(desk.get(path, **htmx))
    assert "withdrawn" in page
    assert "data-polls" not in page


# ── what a voice meant ────────────────────────────────────────────────────


def voiced(**given):
    parts = {"terms": TERMS, "pointer": POINTER, "exit": EXIT}
    said = f"{TERMS}\n\n{POINTER}\n\n{EXIT}"
    return make_voiced(**({"text": said} | parts | given))


def test_a_voices_parts_are_named_in_the_margin(desk):
    page = text(desk.get(page_of(voiced())))
    for name, words in [("Terms", "It is a game"), ("Exit", "Or leave it.")]:
        assert f">{name}</dt><dd>{words}" in page
    assert "Written by the scripted voice (a template)." in page


def test_a_part_that_was_rewritten_loses_its_name(desk):
    page = text(desk.get(page_of(voiced(text=f"{TERMS}\n\nOther words.\n\n{EXIT}"))))
    assert ">Terms</dt>" in page
    assert ">Pointer</dt>" not in page
    assert "<dt></dt><dd>Other words.</dd>" in page


def test_the_passage_it_points_at_is_marked_in_both(desk):
    draft = voiced(target=make_message(content="We say the same *Good* morning, all day."))
    page = text(desk.get(page_of(draft)))
    assert "<mark>Good</mark></em><mark> morning</mark>" in page
    assert "<mark>good morning</mark>" in page


def test_a_passage_that_stands_nowhere_is_not_marked(desk):
    draft = voiced(target=make_message(content="Something else."))
    assert "<mark>" not in text(desk.get(page_of(draft)))


# ── the talk around it ────────────────────────────────────────────────────


def test_the_way_down_to_the_comment_is_shown_with_ours_marked(desk):
    post = make_post(title="On reefs")
    first = make_message(post=post, author="quietengine", content="Is it a membrane?")
    ours = make_message(post=post, parent=first, direction="outgoing", author="iris",
                        content="Two readings.")  # fmt: skip
    question = make_message(post=post, parent=ours, content="Which one?")
    make_message(post=post, parent=first, content="Not on the way.")
    make_message(post=post, content="Nor this.")
    make_message(post=post, parent=ours, content="Right beside it.")
    page = text(desk.get(page_of(make_draft(target=question))))
    places = [page.index(words) for words in ("On reefs", "Is it a membrane?", "Two readings.")]
    assert places == sorted(places)
    assert "3 earlier in this thread: <bdi>our post, quietengine, iris</bdi>" in page
    assert '<span class="small ours">ours</span>' in page
    assert "Right beside it." in page
    assert "Not on the way." not in page
    assert "Nor this." not in page


def test_the_newest_beside_it_are_shown_without_spam(desk):
    question = make_message()
    for number in range(6):
        make_message(post=question.post, content=f"beside {number}")
    make_message(post=question.post, content="Buy now", spam_status="spam")
    page = text(desk.get(page_of(make_draft(target=question))))
    assert [n for n in range(6) if f"beside {n}" in page] == [2, 3, 4, 5]
    assert "Buy now" not in page


def test_a_post_of_ours_has_nothing_around_it(desk):
    page = text(desk.get(page_of(make_draft(what="post", title="On reefs"))))
    assert "in this thread" not in page.lower()


def test_the_queries_of_a_draft_do_not_grow_with_its_thread(desk):
    question = make_message()
    draft = make_draft(target=question)
    few = queries(desk, page_of(draft))
    above = question
    for _ in range(10):
        above = make_message(post=question.post, parent=above)
        make_message(post=question.post, author="a stranger", created_at=NOON)
    deep = make_draft(target=above)
    assert queries(desk, page_of(draft)) == queries(desk, page_of(deep)) == few <= 12


@pytest.mark.parametrize(
    ("tab", "said"),
    [
        ("unknown", "when the surface gave no clear answer to a send"),
        ("failed", "when it could not be sent"),
        ("shadowed", "It is never sent."),
    ],
)
def test_an_empty_tab_says_what_it_lists(desk, tab, said):
    page = desk.get(reverse("surfaces:drafts"), {"state": tab}).content.decode()
    assert said in page


def test_the_page_of_a_failed_draft_has_its_reason_among_the_details(desk):
    draft = make_draft(state="failed", why="the connection broke")
    page = desk.get(reverse("surfaces:draft", args=[draft.pk])).content.decode()
    assert re.search(r"<dt>Reason</dt><dd><bdi>the connection broke", page)
