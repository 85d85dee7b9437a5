"""The inbox of an agent: what became of each comment, and why."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from dialogue.models import Notification, Presence
from surfaces.drafts import services as draft_services
from surfaces.models import AuditEvent
from tests.dialogue.agents.pages import html, url
from tests.factories import NOON, make_draft, make_message, make_notification, make_presence

pytestmark = pytest.mark.django_db


def one_of_each(presence: Presence) -> dict[str, Notification]:
    def comment(words: str, **given: Any):
        return make_message(account=presence.account, content=words, **given)

    failed = comment("failed one", reply_status="failed", reply_attempts=10, reply_why="No words.")
    passed = {"outcome": "passed", "read_at": NOON, "verdict": "thread_full"}
    given: dict[str, dict[str, Any]] = {
        "new": {},
        "waiting": {"verdict": "hours", "why": "Waiting: outside the active hours of the agent"},
        "answered": {"verdict": "answered", "outcome": "answered", "read_at": NOON},
        "passed": passed | {"why": "No reply: 3 of 3 replies allowed per thread are used"},
        "failed": {"message": failed, "verdict": "tried_out", "outcome": "passed",
                   "read_at": NOON, "why": "No reply: all attempts failed"},
    }  # fmt: skip
    return {
        name: make_notification(presence=presence, **({"message": comment(f"{name} one")} | facts))
        for name, facts in given.items()
    }


@pytest.mark.parametrize(
    ("show", "names"),
    [
        ("", {"new", "waiting", "answered", "passed", "failed"}),
        ("unread", {"new", "waiting"}),
        ("waiting", {"waiting"}),
        ("answered", {"answered"}),
        ("passed", {"passed", "failed"}),
        ("failed", {"failed"}),
        ("nonsense", {"new", "waiting", "answered", "passed", "failed"}),
    ],
)
def test_the_inbox_is_filtered_by_what_became_of_it(desk: Client, show: str, names: set[str]):
    rows = one_of_each(make_presence())
    page = html(desk, "agent_inbox", rows["new"].agent.slug, query=f"?show={show}")
    assert {name for name in rows if f"{name} one" in page} == names


def test_why_something_is_not_answered_stands_beside_it(desk: Client):
    rows = one_of_each(make_presence())
    page = html(desk, "agent_inbox", rows["new"].agent.slug)
    assert "Waiting: outside the active hours of the agent." in page
    assert "3 of 3 replies allowed per thread are used" in page
    assert "failed, 10 attempts" in page
    assert "No words." in page
    assert "Not checked yet." in page


def test_what_was_passed_is_tried_again_by_a_moderator(desk: Client):
    rows = one_of_each(make_presence())
    place = url("agent_inbox", rows["new"].agent.slug)
    assert html(desk, "agent_inbox", rows["new"].agent.slug).count(">Retry <kbd>") == 2
    message = rows["failed"].message
    desk.post(reverse("surfaces:try_again", args=[message.pk]), {"next": place})
    message.refresh_from_db()
    assert (message.reply_status, message.reply_attempts) == (None, 0)
    assert AuditEvent.objects.called("message.retried").get().actor == "operator:mira"


def test_the_inbox_goes_on_by_key(desk: Client):
    presence, post = make_presence(), None
    for number in range(52):
        message = make_message(account=presence.account, content=f"words {number:02}", **(
            {"post": post} if post else {}))  # fmt: skip
        post = message.post
        make_notification(presence=presence, message=message)
    first = desk.get(url("agent_inbox", presence.agent.slug))
    page = first.context["page"]
    assert "words 51" in first.content.decode()
    assert "words 01" not in first.content.decode()
    second = html(desk, "agent_inbox", presence.agent.slug, query=f"?{page.older}")
    assert "words 01" in second
    assert "words 02" not in second
    assert 'data-page="newer"' in second


def test_a_draft_of_the_agent_is_found_from_its_pages(desk: Client):
    note = make_notification()
    draft = make_draft(account=note.presence.account, target=note.message, agent=note.agent.slug)
    Notification.objects.update(draft=draft)
    place = reverse("surfaces:draft", args=[draft.pk])
    assert place in html(desk, "agent_inbox", note.agent.slug)
    draft_services.withdraw(draft, by="operator:mira", now=NOON)
    assert "withdrawn" in html(desk, "agent_inbox", note.agent.slug)
