from __future__ import annotations

import pytest

from surfaces.models import Draft
from tests.factories import make_account
from tests.surfaces.drafts.pages import MEGABYTES, page_of, text

pytestmark = pytest.mark.django_db


def test_a_new_post_becomes_a_waiting_draft(desk):
    account = make_account()
    given = {"title": "On reefs", "community": "tides", "text": "What is left out?"}
    response = desk.post("/posts/new", given | {"account": account.pk})
    draft = Draft.objects.get()
    assert response.url == page_of(draft)
    assert (draft.what, draft.state, draft.title, draft.community) == (
        "post", "waiting", "On reefs", "tides",
    )  # fmt: skip


def test_without_an_account_the_way_to_one_is_shown(desk):
    assert "/surfaces/connect" in text(desk.get("/posts/new"))


@pytest.mark.parametrize(
    "given",
    [{"title": ""}, {"text": ""}, {"text": "a\x07b"},
     {"text": MEGABYTES}, {"title": MEGABYTES}, {"community": MEGABYTES}, {"account": "x"},
     {"account": "99999999999999999999"}],
    ids=lambda given: "-".join(f"{k} {str(v)[:5]!r}" for k, v in given.items()),
)  # fmt: skip
def test_a_post_that_cannot_be_is_refused_and_kept(desk, given):
    ordinary = {"account": make_account().pk, "title": "On reefs", "text": "My words here."}
    response = desk.post("/posts/new", ordinary | given)
    page = text(response)
    assert response.status_code == 422
    assert "Not saved" in page
    assert (given.get("text", "My words here.")) in page
    assert not Draft.objects.exists()
