from __future__ import annotations

from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from surfaces import drafting, pausing
from surfaces.models import AuditEvent, Draft, Message
from tests.factories import (
    NOON,
    make_account,
    make_approved,
    make_draft,
    make_message,
    make_operator,
    make_post,
)

pytestmark = pytest.mark.django_db
LIST = "/drafts/"
HTMX = {"HTTP_HX_REQUEST": "true"}
MEGABYTES = "x" * 2_000_000


def text(response) -> str:
    return response.content.decode()


def page_of(draft: Draft) -> str:
    return f"/drafts/{draft.pk}/"


def do(desk, draft: Draft, verb: str, **given):
    return desk.post(f"/drafts/{draft.pk}/{verb}", given)


def state(draft: Draft) -> str:
    draft.refresh_from_db()
    return draft.state


def make_unknown(**given) -> Draft:
    return make_draft(**({"state": "unknown", "needs_person": True, "asked_at": NOON} | given))


# ── the list ──────────────────────────────────────────────────────────────


def test_nothing_waiting_says_what_to_do_next(desk):
    page = text(desk.get(LIST))
    assert "Nothing waits for you" in page
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


@pytest.mark.parametrize("query", ["state=purple", "before=x", "after=%00", "before=-1",
                                   "before=99999999999999999999"])  # fmt: skip
def test_a_broken_query_shows_what_waits(desk, query):
    make_draft(text="Still here")
    assert "Still here" in text(desk.get(f"{LIST}?{query}"))


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
    few = _queries(desk, LIST)
    for _ in range(20):
        make_draft()
    assert _queries(desk, LIST) == few <= 8


# ── one draft ─────────────────────────────────────────────────────────────


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


def test_approving_names_what_was_seen_and_says_it_leaves(desk):
    draft = make_draft()
    response = do(desk, draft, "approve", digest=draft.digest())
    assert response.url == page_of(draft)
    assert state(draft) == "approved"
    assert "Approved. It leaves now." in text(desk.get(response.url))


def test_words_that_changed_since_are_not_approved(desk, noon):
    draft = make_draft()
    seen = draft.digest()
    drafting.edit(draft, text="Other words.", by="operator:jonas", now=noon)
    response = do(desk, draft, "approve", digest=seen)
    assert response.status_code == 409
    assert state(draft) == "waiting"
    assert "changed since you looked" in text(response)
    assert "Other words." in text(response)


def test_the_second_operator_is_told_what_the_first_decided(desk):
    draft = make_draft()
    make_operator(username="jonas", first_name="Jonas")
    earlier = timezone.now() - timedelta(seconds=4)
    drafting.withdraw(draft, by="operator:jonas", now=earlier, why="Off topic")
    response = do(desk, draft, "approve", digest=draft.digest())
    assert response.status_code == 409
    page = text(response)
    assert "Jonas decided this" in page
    assert "before you: it is withdrawn." in page


def test_a_forged_step_is_refused_with_a_sentence(desk):
    draft = make_draft(state="sent", sent_at=NOON)
    for verb in ["approve", "edit", "withdraw", "retry", "settle_there", "settle_absent"]:
        response = do(desk, draft, verb, text="x", digest="x", typed_id="x")
        assert response.status_code in {409, 422}, verb
        assert "Not done" in text(response)
    assert state(draft) == "sent"


def test_an_approval_from_a_page_left_open_repeats_nothing(desk):
    """Jonas approved it, the sending is in doubt, and Mira's page still has its button."""
    draft = make_unknown(approved_digest="x", not_before=NOON, decided_by="operator:jonas",
                         decided_at=NOON)  # fmt: skip
    response = do(desk, draft, "approve", digest=draft.digest())
    assert response.status_code == 409
    assert state(draft) == "unknown"


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
        {"text": "a\0b"},
        {"text": MEGABYTES},
        {"text": "fine", "title": MEGABYTES},
        {"text": "fine", "title": "fine", "community": MEGABYTES},
    ],
    ids=["empty", "NUL", "2 MB", "2 MB title", "2 MB community"],
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
    drafting.edit(draft, text="Jonas wrote this.", by="operator:jonas", now=noon)
    response = do(desk, draft, "edit", text="Mira wrote this.", digest=begun)
    page = text(response)
    assert response.status_code == 409
    assert "Jonas wrote this." in page
    assert "Mira wrote this." in page
    assert "draft.edited" not in set(
        AuditEvent.objects.filter(actor="operator:mira").values_list("action", flat=True)
    )


def test_withdrawing_keeps_the_reason(desk):
    draft = make_draft()
    do(desk, draft, "withdraw", reason="Off topic", why="")
    assert state(draft) == "withdrawn"
    assert draft.why == "Off topic"


@pytest.mark.parametrize("why", ["a\0b", MEGABYTES], ids=["NUL", "2 MB"])
def test_no_reason_breaks_the_withdrawal(desk, why):
    draft = make_draft()
    do(desk, draft, "withdraw", why=why)
    assert state(draft) == "withdrawn"


def test_a_failed_draft_says_why_and_can_be_retried(desk):
    draft = make_draft(state="failed", why="The sign-in expired.")
    page = text(desk.get(page_of(draft)))
    assert "It was not sent." in page
    assert "The sign-in expired." in page
    do(desk, draft, "retry")
    assert state(draft) == "approved"


def test_a_lost_sending_is_settled_by_picking_our_message(desk):
    draft = make_unknown()
    ours = make_message(post=draft.target.post, direction="outgoing", content="Yes, and …")
    page = text(desk.get(page_of(draft)))
    assert f'value="{ours.remote_id}"' in page
    do(desk, draft, "settle_there", remote_id=ours.remote_id)
    assert state(draft) == "sent"


def test_a_lost_sending_is_settled_by_its_id(desk):
    draft = make_unknown()
    do(desk, draft, "settle_there", typed_id=" c-77 ")
    assert state(draft) == "sent"
    assert Message.objects.filter(remote_id="c-77").exists()


@pytest.mark.parametrize("given", ["", "\0", MEGABYTES], ids=["none", "NUL", "2 MB"])
def test_an_id_that_is_none_is_asked_for_again(desk, given):
    draft = make_unknown()
    response = do(desk, draft, "settle_there", typed_id=given)
    assert response.status_code == 422
    assert "Paste the id" in text(response)
    assert state(draft) == "unknown"


def test_a_lost_post_can_be_settled_too(desk):
    draft = make_unknown(what="post", title="Lost", account=make_account())
    page = text(desk.get(page_of(draft)))
    assert "Send it again" in page
    do(desk, draft, "settle_absent")
    assert state(draft) == "approved"


def test_while_we_look_there_is_nothing_to_press(desk):
    page = text(desk.get(page_of(make_unknown(needs_person=False, look_at=NOON))))
    assert "Nothing to decide yet" in page
    assert "settle_absent" not in page


def test_where_the_service_cannot_delete_the_page_says_so(desk, monkeypatch):
    target = make_message()
    ours = make_message(post=target.post, direction="outgoing")
    draft = make_draft(target=target, state="sent", sent_at=NOON, message=ours)
    page = text(desk.get(page_of(draft)))
    can = "comment" in draft.account.surface.traits.can_delete
    assert ("Take back…" in page) is can
    assert ("no way to delete" in page) is not can


def test_htmx_swaps_the_whole_draft_and_brings_the_toast(desk):
    draft = make_draft()
    given = {"digest": draft.digest()}
    page = text(desk.post(f"/drafts/{draft.pk}/approve", given, **HTMX))
    assert page.lstrip().startswith('<article id="item"')
    assert 'hx-swap-oob="true"' in page
    assert "Approved. It leaves now." in page
    assert "<html" not in page


def test_keys_are_on_the_buttons(desk):
    page = text(desk.get(page_of(make_draft())))
    assert all(f'data-key="{key}"' in page for key in "aew")


def test_the_next_that_waits_is_one_step_away(desk):
    first, second = make_draft(), make_draft()
    assert page_of(second) in text(desk.get(page_of(first)))
    assert page_of(first) in text(desk.get(page_of(second)))


@pytest.mark.parametrize(
    "verb", ["approve", "edit", "withdraw", "retry", "settle_there", "settle_absent", "retract"]
)
def test_acts_are_posts_and_need_the_role(client, verb):
    draft = make_draft()
    client.force_login(make_operator(role="viewer"))
    assert client.get(f"/drafts/{draft.pk}/{verb}").status_code == 405
    assert client.post(f"/drafts/{draft.pk}/{verb}").status_code == 403
    page = text(client.get(page_of(draft)))
    assert "decides nothing" in page
    assert f"/drafts/{draft.pk}/{verb}" not in page


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
    few = _queries(desk, page_of(draft))
    for number in range(20):
        drafting.edit(draft, text=f"Words {number}.", by="operator:mira", now=noon)
        make_draft()
    assert _queries(desk, page_of(draft)) == few <= 8


# ── a new post ────────────────────────────────────────────────────────────


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
    [{"title": ""}, {"text": ""}, {"text": "a\0b"}, {"title": "a\0b"}, {"community": "\0"},
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


def _queries(desk, url: str) -> int:
    with CaptureQueriesContext(connection) as queries:
        desk.get(url)
    return len(queries)


# ── after the approval ────────────────────────────────────────────────────


def test_an_open_page_hears_of_a_change_and_of_nothing_else(desk):
    draft = make_approved()
    path, htmx = f"/drafts/{draft.pk}/?seen=approved", {"HTTP_HX_REQUEST": "true"}
    assert desk.get(path, **htmx).status_code == 204
    draft.advance("withdrawn")
    page = text(desk.get(path, **htmx))
    assert "withdrawn" in page
    assert "data-polls" not in page


def test_an_approved_draft_says_who_holds_it(desk, noon):
    draft = make_draft()
    pausing.pause("all", why="Low tide", by="operator:jonas", now=noon)
    desk.post(f"/drafts/{draft.pk}/approve", {"digest": draft.digest()})
    page = text(desk.get(f"/drafts/{draft.pk}/"))
    assert "It waits: sending is paused." in page
    assert "jonas paused everything" in page
    assert "data-polls" not in page
