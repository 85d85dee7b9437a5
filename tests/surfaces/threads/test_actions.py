"""A thread is worked on where it stands: approve, edit, reject, and who else is looking."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from surfaces.models import DeskViewer, Message
from tests.dialogue.inbox.test_thread_annotations import wake
from tests.factories import (
    NOON,
    make_draft,
    make_message,
    make_notification,
    make_operator,
    make_post,
    make_presence,
)
from tests.surfaces.drafts.pages import text
from tests.surfaces.threads.test_views import balance, page_of

pytestmark = pytest.mark.django_db


def back(draft) -> str:
    return f"{page_of(draft.target.post)}?message={draft.target_id}#m{draft.target_id}"


def test_a_draft_is_approved_where_it_stands_and_the_thread_comes_back(desk):
    draft = make_draft()
    page = text(desk.get(page_of(draft.target.post)))
    assert f'action="/drafts/{draft.pk}/approve"' in page
    assert f'value="{draft.digest()}"' in page
    given = {"digest": draft.digest(), "next": back(draft)}
    assert desk.post(f"/drafts/{draft.pk}/approve", given).url == back(draft)
    draft.refresh_from_db()
    assert draft.state == "approved"


def test_rejecting_and_editing_come_back_to_the_thread_too(desk):
    draft = make_draft()
    given = {"text": "Better words.", "digest": draft.digest(), "next": back(draft)}
    assert desk.post(f"/drafts/{draft.pk}/edit", given).url == back(draft)
    given = {"reason": "Tone", "next": back(draft)}
    assert desk.post(f"/drafts/{draft.pk}/withdraw", given).url == back(draft)
    assert "Draft withdrawn by mira." in text(desk.get(page_of(draft.target.post)))


def test_a_foreign_next_is_not_followed(desk):
    draft = make_draft()
    given = {"digest": draft.digest(), "next": "https://elsewhere.example/"}
    assert desk.post(f"/drafts/{draft.pk}/approve", given).url == f"/drafts/{draft.pk}/"


def test_what_moved_must_be_approved_anyway(desk):
    draft = make_draft(stale_why="The comment was edited.")
    page = text(desk.get(page_of(draft.target.post)))
    assert "Approve anyway" in page
    assert "The comment was edited." in page


def test_only_the_draft_at_hand_has_the_primary_button(desk):
    post = make_post()
    for _ in range(3):
        make_draft(target=make_message(post=post))
    page = text(desk.get(page_of(post)))
    assert page.count('data-key="a"') == 3
    assert page.count('primary" data-key="a"') == 1


def test_a_viewer_sees_the_acts_disabled_and_why(client):
    draft = make_draft()
    client.force_login(make_operator(role="viewer"))
    page = text(client.get(page_of(draft.target.post)))
    assert "/approve" not in page
    assert "You have read-only access." in page


def test_who_has_something_of_it_open_is_named(desk, operator):
    jonas = make_operator(username="jonas", first_name="Jonas")
    draft, now = make_draft(), timezone.now()
    suspect = make_message(post=draft.target.post, spam_status="suspect")
    lease = {"since": now, "until": now + timedelta(minutes=5)}
    DeskViewer.objects.create(kind="draft", item_id=draft.pk, operator=jonas, **lease)
    DeskViewer.objects.create(kind="suspect", item_id=suspect.pk, operator=operator, **lease)
    DeskViewer.objects.create(kind="draft", item_id=draft.pk + 99, operator=operator, **lease)
    page = text(desk.get(page_of(draft.target.post)))
    assert "Opened by Jonas" in page
    beside = page[page.index("Viewing now") :].split("</section>")[0]
    assert beside.count("<li>") == 2
    assert f'href="#draft-{draft.pk}"' in beside
    assert f'href="#m{suspect.pk}"' in beside
    DeskViewer.objects.update(until=now - timedelta(minutes=1))
    assert "Viewing now" not in text(desk.get(page_of(draft.target.post)))


def test_the_side_names_the_agents_and_the_next_round(desk):
    presence = make_presence()
    message = make_message(account=presence.account)
    wake(make_notification(presence=presence, message=message), at=NOON, cost="0.02")
    page = text(desk.get(page_of(message.post)))
    assert "Agents here" in page
    assert "1 attempt, $0.02" in page
    assert "every 5 minutes" in page


def test_a_message_has_an_address_of_its_own_that_opens_its_life(desk):
    message = make_message()
    response = desk.get(f"/messages/{message.pk}/", follow=True)
    page = text(response)
    assert f'id="m{message.pk}" aria-current="true"' in page
    assert "Message timeline" in page
    assert f'href="/messages/{message.pk}/"' in page


def test_times_of_a_life_are_exact_and_relative_in_the_operators_zone(desk, operator):
    operator.time_zone = "Asia/Shanghai"
    operator.save()
    message = make_message(seen_at=NOON)
    page = text(desk.get(page_of(message.post, f"?message={message.pk}")))
    life = page[page.index('class="steps"') :].split("</ol>")[0]
    assert "21 Nov 20:00" in life or "20:00:00" in life
    assert life.count("<time") == 2 * life.count('class="at"') > 0


def test_strangers_cannot_break_out_of_a_life(desk):
    message = make_message(
        content="<script>x()</script>\u202eevil", author="<b>odile</b>", spam_score=0.6,
        spam_status="suspect", spam_reasons=[["link", "<i>link</i>"]],
    )  # fmt: skip
    page = text(desk.get(page_of(message.post, f"?message={message.pk}")))
    for bad in ("<script>x", "<b>odile", "<i>link", "\u202e"):
        assert bad not in page


def test_twenty_thousand_comments_five_hundred_deep_take_twelve_queries(desk):
    post = make_post()
    base = {"account": post.account, "post": post, "kind": "comment", "direction": "incoming",
            "author": "a stranger", "content": "and then?", "seen_at": NOON}  # fmt: skip
    first = post.pk + 1_000_000
    Message.objects.bulk_create(
        (Message(pk=first + i, parent_id=first + i - 1 if i % 500 else None, remote_id=f"c{i}",
                 created_at=NOON + timedelta(seconds=i), **base) for i in range(20_000)),
        batch_size=5_000,
    )  # fmt: skip
    make_draft(target=Message.objects.get(pk=first + 19_999))
    with CaptureQueriesContext(connection) as queries:
        page = text(desk.get(page_of(post, f"?message={first + 19_999}")))
    assert len(queries) <= 12
    assert f'id="m{first + 19_999}"' in page
    assert "Show the previous 19,900 messages" in page
    assert f"?message={first + 19_899}#m{first + 19_899}" in page, "says whom the first answers"
    assert balance(page).deepest <= 9
