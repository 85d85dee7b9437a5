"""One act on many: each as it was seen, each with what came of it."""

from __future__ import annotations

import re

import pytest

from surfaces.models import DeskItem, Draft
from tests.factories import make_draft, make_message, make_operator

pytestmark = pytest.mark.django_db
HTMX = {"HTTP_HX_REQUEST": "true"}


def stamps(desk) -> dict[str, str]:
    page = desk.get("/desk/").content.decode()
    return dict(re.findall(r'name="(stamp-[\w-]+)" value="(\w+)"', page))


def test_many_are_approved_as_they_were_seen_and_each_says_what_came_of_it(desk):
    good, moved = make_draft(), make_draft()
    seen = stamps(desk)
    Draft.objects.filter(pk=moved.pk).update(text="Nobody has read this.")
    keys = [f"draft-{good.pk}", f"draft-{moved.pk}", "draft-999", "x", "suspect-1"]
    page = desk.post("/desk/bulk", {"x": keys, "act": "approve", **seen}, **HTMX).content.decode()
    assert "1 of 5 done" in page
    assert "It changed after you opened it" in page
    assert list(Draft.objects.filter(state="approved")) == [good]


def test_without_its_stamp_nothing_is_approved_in_bulk(desk):
    draft = make_draft()
    desk.post("/desk/bulk", {"x": [f"draft-{draft.pk}"], "act": "approve"})
    draft.refresh_from_db()
    assert draft.state == "waiting"


def test_many_are_taken_back_at_once(desk):
    comments = [make_message(spam_status="suspect") for _ in range(3)]
    keys = [f"suspect-{row.pk}" for row in comments]
    desk.post("/desk/bulk", {"x": keys, "act": "spam"})
    assert not DeskItem.objects.exists()
    desk.post("/desk/undo", {"what": " ".join(f"{key}:spam" for key in keys)})
    assert DeskItem.objects.filter(kind="suspect").count() == 3


def test_nothing_selected_says_so(desk):
    page = desk.post("/desk/bulk", {"act": "spam"}, follow=True)
    assert "Nothing is selected" in page.content.decode()


def test_one_act_on_everything_selected_is_within_reach_only(client):
    mine, other = make_message(spam_status="suspect"), make_message(spam_status="suspect")
    operator = make_operator()
    operator.surfaces.add(mine.account.surface)
    client.force_login(operator)
    keys = [f"suspect-{row.pk}" for row in (mine, other)]
    client.post("/desk/bulk", {"x": keys, "act": "spam"})
    client.post("/desk/bulk", {"x": keys, "act": "later"})
    other.refresh_from_db()
    assert other.spam_status == "suspect"
    assert DeskItem.objects.get(item_id=other.pk).later_until is None


def test_an_act_that_an_item_does_not_have_names_the_item_and_what_is_possible(desk):
    draft = make_draft()
    keys = [f"draft-{draft.pk}", "nonsense"]
    page = desk.post("/desk/bulk", {"x": keys, "act": "clean"}, **HTMX).content.decode()
    said = " ".join(page.split())
    assert f"@{draft.target.author}" in said
    assert "“Clean” is not possible for this item (Draft to review)." in said
    assert "Possible: Approve, Reject, Spam." in said
    assert "There is no such item on the desk." in said
