from __future__ import annotations

import pytest

from surfaces.drafts import services as draft_services
from surfaces.models import AuditEvent
from tests.factories import make_approved, make_draft
from tests.surfaces.drafts.pages import MEGABYTES, do, page_of, state, text

pytestmark = pytest.mark.django_db


def test_edited_words_wait_again(desk):
    draft = make_approved()
    do(desk, draft, "edit", text="Better words.")
    assert state(draft) == "waiting"
    assert draft.text == "Better words."


def test_a_posts_title_and_community_are_edited_with_it(desk):
    draft = make_draft(what="post", title="Old", community="a")
    do(desk, draft, "edit", text="Text", title="New", community="b")
    draft.refresh_from_db()
    assert (draft.title, draft.community) == ("New", "b")


@pytest.mark.parametrize(
    "given",
    [
        {"text": "   "},
        {"text": "a\x07b"},
        {"text": MEGABYTES},
        {"text": "fine", "title": MEGABYTES},
        {"text": "fine", "title": "fine", "community": MEGABYTES},
    ],
    ids=["empty", "bell", "2 MB", "2 MB title", "2 MB community"],
)
def test_an_edit_that_cannot_be_said_is_refused_and_kept(desk, given):
    draft = make_draft(what="post", title="Old", text="Old words.")
    response = do(desk, draft, "edit", **({"title": "Old", "community": ""} | given))
    page = text(response)
    assert response.status_code == 422
    assert "Not done" in page
    assert all(value in page for value in given.values())
    draft.refresh_from_db()
    assert draft.text == "Old words."


def test_an_edit_over_somebody_elses_is_stopped_and_kept(desk, noon):
    draft = make_draft()
    begun = draft.digest()
    draft_services.edit(draft, text="Jonas wrote this.", by="operator:jonas", now=noon)
    response = do(desk, draft, "edit", text="Mira wrote this.", digest=begun)
    page = text(response)
    assert response.status_code == 409
    assert "Jonas wrote this." in page
    assert "Mira wrote this." in page
    assert "draft.edited" not in set(
        AuditEvent.objects.filter(actor="operator:mira").values_list("action", flat=True)
    )


def test_what_an_edit_changed_is_told_in_words_and_for_ears(desk, noon):
    draft = make_draft(text="Yes, and what would you leave out?")
    draft_services.edit(
        draft, text="Yes, and what would you rather keep?", by="operator:mira", now=noon
    )
    page = text(desk.get(page_of(draft)))
    assert '<del><span class="sr">removed: </span>leave out' in page
    assert '<ins><span class="sr">added: </span>rather keep' in page


def test_each_edit_tells_its_own_change(desk, noon):
    draft = make_draft(what="post", title="Reefs", text="One.", community="a")
    draft_services.edit(
        draft, text="Two.", title="Reefs", community="a", by="operator:mira", now=noon
    )
    draft_services.edit(
        draft, text="Two.", title="Moons", community="a", by="operator:mira", now=noon
    )
    page = text(desk.get(page_of(draft)))
    words = [page.index(f"</span>{word}<") for word in ("One", "Two", "Reefs", "Moons")]
    assert words == sorted(words)
    assert page.count("<ins>") == 2


def test_tags_in_an_edit_stay_words(desk, noon):
    draft = make_draft(text="plain")
    draft_services.edit(draft, text="<script>x()</script>", by="operator:mira", now=noon)
    assert "<script>x()" not in text(desk.get(page_of(draft)))
