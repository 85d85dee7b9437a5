"""Agents elsewhere hear what is new: all of it, once, and nothing a person must see first."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import OperationalError, connection

from dialogue.agents.models.presence import Presence
from dialogue.models import Notification, WakeEvent, WakeHook
from dialogue.wake_hooks import payloads
from dialogue.wake_hooks.delivery import announce
from surfaces.models import Message
from surfaces.pauses import services as pause_services
from tests.dialogue.wake_hooks.factories import make_hook, make_news
from tests.factories import NOON, make_account, make_agent, make_presence, make_surface
from tests.surfaces.hub.factories import at_once

pytestmark = pytest.mark.django_db


def test_what_an_agent_elsewhere_was_not_told_of_becomes_one_event():
    hook = make_hook("https://agent.example.org/")
    news = make_news(hook, author="hollowpine", content="What\ndoes the tide leave out?")

    assert announce(now=NOON) == 1

    news.refresh_from_db()
    assert news.announced_at == NOON
    assert news.read_at is None, "told is not read"
    event = WakeEvent.objects.get()
    assert (event.hook, event.account, event.state) == (hook, news.presence.account, "waiting")
    message = news.message
    assert event.body["type"] == "agent.reply_check"
    assert event.body["data"] == {
        "marker": "[MOLTBOOK_REPLY_CHECK]",
        "task": payloads.TASK,
        "agent": hook.agent.slug,
        "account": news.presence.account.name,
        "surface": news.presence.account.surface.name,
        "new": [
            {
                "notification": news.pk,
                "kind": "reply",
                "author": "hollowpine",
                "excerpt": "What does the tide leave out?",
                "message": message.pk,
                "thread": message.post_id,
                "url": "",
                "page": f"http://127.0.0.1:8000/threads/{message.post_id}/",
            }
        ],
        "count": 1,
        "unread": 1,
        "fetch": {
            "desk": "http://127.0.0.1:8000/threads/",
            "surface": news.presence.account.surface.base_url,
        },
    }


def test_what_was_told_is_not_told_again():
    hook = make_hook("https://agent.example.org/")
    presence = make_news(hook).presence
    announce(now=NOON)
    assert announce(now=NOON) == 0
    make_news(hook, presence=presence)
    assert announce(now=NOON) == 1
    newest = WakeEvent.objects.first()
    assert newest
    assert (newest.body["data"]["count"], newest.body["data"]["unread"]) == (1, 2)


def test_each_account_has_an_event_of_its_own():
    hook = make_hook("https://agent.example.org/")
    one = make_news(hook)
    other_place = make_account(surface=make_surface(kind="hub", base_url="https://hub.example"))
    other = make_news(hook, presence=make_presence(agent=hook.agent, account=other_place))
    make_news(hook, presence=one.presence)

    assert announce(now=NOON) == 2

    told = {event.account_id: event.body["data"] for event in WakeEvent.objects.all()}
    assert told[one.presence.account_id]["count"] == 2
    assert told[one.presence.account_id]["marker"] == "[MOLTBOOK_REPLY_CHECK]"
    assert told[other.presence.account_id]["count"] == 1
    assert told[other.presence.account_id]["marker"] == "[EXTERNAL_REPLY_CHECK]"


def test_of_many_the_first_twenty_are_told_and_all_are_counted():
    hook = make_hook("https://agent.example.org/")
    presence = make_presence(agent=hook.agent)
    made = [make_news(hook, presence=presence).pk for _ in range(25)]
    announce(now=NOON)
    data = WakeEvent.objects.get().body["data"]
    assert [one["notification"] for one in data["new"]] == made[:20]
    assert (data["count"], data["unread"]) == (25, 25)
    assert not Notification.objects.filter(announced_at=None).exists()


def test_strangers_words_are_cut_and_only_links_are_links():
    hook = make_hook("https://agent.example.org/")
    make_news(hook, author="x" * 200, content="a\u202eb" * 400, url='javascript:alert(1) " > evil')
    announce(now=NOON)
    (one,) = WakeEvent.objects.get().body["data"]["new"]
    assert len(one["excerpt"]) == 280
    assert len(one["author"]) == 80
    assert one["url"] == ""
    assert "\u202e" not in one["excerpt"]


def test_a_link_of_the_surface_is_told():
    hook = make_hook("https://agent.example.org/")
    make_news(hook, url="https://www.moltbook.com/post/5#c-9")
    announce(now=NOON)
    (one,) = WakeEvent.objects.get().body["data"]["new"]
    assert one["url"] == "https://www.moltbook.com/post/5#c-9"


def test_who_lives_here_is_not_woken():
    hook = make_hook("https://agent.example.org/", agent=make_agent())
    make_news(hook)
    assert announce(now=NOON) == 0


def test_while_switched_off_news_wait_and_are_told_later():
    hook = make_hook("https://agent.example.org/", is_on=False)
    news = make_news(hook)
    assert announce(now=NOON) == 0
    news.refresh_from_db()
    assert news.announced_at is None
    WakeHook.objects.update(is_on=True)
    assert announce(now=NOON) == 1


@pytest.mark.parametrize(
    "given", [{"spam_status": "spam"}, {"spam_status": "suspect"}, {"deleted_at": NOON}]
)
def test_what_a_person_must_look_at_first_is_not_told(given: dict[str, Any]):
    hook = make_hook("https://agent.example.org/")
    news = make_news(hook, **given)
    assert announce(now=NOON) == 0
    Message.objects.filter(pk=news.message_id).update(spam_status="clean", deleted_at=None)
    assert announce(now=NOON) == 1, "and once a person called it clean, it is"


def test_of_an_account_it_left_an_agent_is_not_told():
    hook = make_hook("https://agent.example.org/")
    news = make_news(hook)
    Presence.objects.filter(pk=news.presence_id).update(ended_at=NOON)
    assert announce(now=NOON) == 0


@pytest.mark.parametrize("scope", ["all", "agent", "account", "surface"])
def test_who_is_paused_is_not_woken_until_it_is_over(scope: str):
    hook = make_hook("https://agent.example.org/")
    account = make_news(hook).presence.account
    subject = {"agent": hook.agent.slug, "account": account.name, "surface": account.surface.slug}
    pause_services.pause(scope, subject.get(scope, ""), why="rest", by="operator:mira", now=NOON)
    assert announce(now=NOON) == 0
    pause_services.resume(scope, subject.get(scope, ""), by="operator:mira", now=NOON)
    assert announce(now=NOON) == 1


@pytest.mark.django_db(transaction=True)
def test_the_event_and_the_mark_come_together_or_not_at_all():
    hook = make_hook("https://agent.example.org/")
    news = make_news(hook)

    def dies(execute: Any, sql: str, *rest: Any) -> Any:
        if sql.startswith('UPDATE "dialogue_notification"'):
            raise OperationalError("the server closed the connection")
        return execute(sql, *rest)

    with connection.execute_wrapper(dies), pytest.raises(OperationalError):
        announce(now=NOON)
    assert not WakeEvent.objects.exists()
    news.refresh_from_db()
    assert news.announced_at is None
    assert announce(now=NOON) == 1


@pytest.mark.django_db(transaction=True)
def test_two_announcers_at_once_tell_of_everything_once():
    hook = make_hook("https://agent.example.org/")
    presence = make_presence(agent=hook.agent)
    made = {make_news(hook, presence=presence).pk for _ in range(20)}
    at_once([lambda: announce(now=NOON)] * 4)
    told = [one["notification"] for one in WakeEvent.objects.get().body["data"]["new"]]
    assert sorted(told) == sorted(made)
