"""The page of one agent's waking: its address, a test, and what was delivered."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from dialogue.models import Agent, WakeAttempt, WakeEvent, WakeHook
from dialogue.wake_hooks import payloads
from dialogue.wake_hooks.delivery import deliver_due
from surfaces import crypto
from surfaces.models import Account, AuditEvent
from tests.factories import NOON, make_account, make_agent, make_operator
from tests.fakes.receiver import Receiver

pytestmark = pytest.mark.django_db

SECRET = base64.b64encode(b"0123456789abcdef0123456789abcdef").decode()
URL = "https://agent.example.org/in/pa55?key=k-77"


@pytest.fixture
def viewer(client: Client) -> Client:
    client.force_login(make_operator(username="vic", role="viewer"))
    return client


@pytest.fixture
def receiver(settings: Any) -> Iterator[Receiver]:
    settings.WAKE_PRIVATE_ADDRESSES = True
    with Receiver(secret=SECRET) as receiver:
        yield receiver


@pytest.fixture
def agent() -> Agent:
    return make_agent(slug="gabriel", name="Gabriel", lives="elsewhere")


def hook_of(agent: Agent, **given: Any) -> WakeHook:
    ordinary = {"kind": "webhook", "url": URL, "sealed_secret": crypto.encrypt(SECRET)}
    return WakeHook.objects.create(agent=agent, **(ordinary | given))


def event_of(hook: WakeHook, *, account: Account | None = None, **given: Any) -> WakeEvent:
    news = payloads.new_items_event(
        agent=hook.agent.slug, account="", surface="", kind="hub", items=[], count=3, unread=3,
        fetch={}, now=NOON,
    )  # fmt: skip
    ordinary = {"made_at": NOON, "not_before": NOON, "body": news, "state": "delivered"}
    account = account or make_account()
    return WakeEvent.objects.create(hook=hook, account=account, **(ordinary | given))


def act(name: str, *args: Any) -> str:
    return reverse(f"dialogue:{name}", args=args)


def page_of(client: Client, query: str = "") -> str:
    response = client.get(act("wake", "gabriel") + query)
    assert response.status_code == 200
    return " ".join(response.content.decode().split())


# ── what it shows ─────────────────────────────────────────────────────────


def test_without_an_address_the_page_says_what_to_do(desk: Client, agent: Agent):
    page = page_of(desk)
    assert "No webhook URL" in page
    assert "Enter a URL first, then send a test event to check it." in page
    assert "Send test event" not in page


def test_nobody_has_a_page_who_does_not_exist(desk: Client):
    assert desk.get(act("wake", "nobody")).status_code == 404


def test_who_lives_here_is_said_to_be_woken_by_nobody(desk: Client, agent: Agent):
    Agent.objects.update(lives="here")
    assert "The webhook is not in use" in page_of(desk)


def test_an_event_tells_its_state_its_tries_and_its_next_one(desk: Client, agent: Agent):
    hook = hook_of(agent)
    account = make_account(name="gabriel@moltbook")
    later = timezone.now() + timedelta(hours=3)
    waiting = event_of(
        hook, account=account, state="waiting", tries=2, not_before=later, why="It answered 500."
    )
    for number in (1, 2):
        WakeAttempt.objects.create(
            event=waiting, at=NOON, status=500, why="It answered 500.", took_ms=1_200 + number
        )
    event_of(hook, state="failed", why="It answered 410: it wants no more events.")
    page = page_of(desk)
    assert re.search(r"3 new on\s*<bdi>gabriel@moltbook</bdi>", page)
    assert "2 attempts" in page
    assert "1,202 ms" in page
    assert "Next attempt at" in page
    assert "It answered 410: it wants no more events." in page
    assert str(waiting.key) in page


def test_words_from_elsewhere_are_escaped(desk: Client, agent: Agent):
    hook = hook_of(agent)
    account = make_account(name="<script>x</script>")
    event_of(hook, account=account, state="failed", why="<img src=x>")
    page = page_of(desk)
    assert "<script>x" not in page
    assert "<img" not in page


def test_the_log_goes_on_by_key(desk: Client, agent: Agent):
    hook = hook_of(agent)
    events = [event_of(hook, account=None) for _ in range(30)]
    first = page_of(desk)
    assert f'id="event-{events[-1].pk}"' in first
    assert f'id="event-{events[4].pk}"' not in first
    older = re.search(r'href="(\?before=\d+)"', first)
    assert older
    second = page_of(desk, older[1])
    assert f'id="event-{events[4].pk}"' in second
    assert f'id="event-{events[0].pk}"' in second
    newer = re.search(r'href="(\?after=\d+)"', second)
    assert newer
    assert f'id="event-{events[-1].pk}"' in page_of(desk, newer[1])
    assert f'id="event-{events[-1].pk}"' in page_of(desk, "?before=1")


def test_events_of_another_agent_are_not_here(desk: Client, agent: Agent):
    other = event_of(hook_of(make_agent(lives="elsewhere")))
    hook_of(agent)
    assert f'id="event-{other.pk}"' not in page_of(desk)
    asked = desk.get(f"{act('wake', 'gabriel')}?event={other.pk}", headers={"HX-Request": "true"})
    assert asked.status_code == 404
    assert desk.post(act("resend", "gabriel", other.pk)).status_code == 404


def test_the_queries_of_the_page_do_not_grow_with_its_rows(desk: Client, agent: Agent):
    hook = hook_of(agent)
    event_of(hook)
    few = _queries(desk)
    for _ in range(20):
        event = event_of(hook)
        for _ in range(3):
            WakeAttempt.objects.create(event=event, at=NOON, status=500, took_ms=3)
    assert _queries(desk) == few <= 12


def _queries(client: Client) -> int:
    with CaptureQueriesContext(
        connection,
    ) as queries:
        page_of(client)
    return len(queries)


def test_a_row_that_moves_asks_for_itself_and_a_calm_one_does_not(desk: Client, agent: Agent):
    hook = hook_of(agent)
    now = timezone.now()
    moving = event_of(hook, state="waiting", not_before=now)
    event_of(hook, state="waiting", not_before=now + timedelta(hours=1))
    event_of(hook, state="waiting", not_before=now - timedelta(hours=1))
    event_of(hook)
    page = page_of(desk)
    url = f"{act('wake', 'gabriel')}?event={moving.pk}"
    assert page.count("hx-get") == 1
    assert f'hx-get="{url}"' in page
    row = desk.get(url, headers={"HX-Request": "true"}).content.decode()
    assert row.count("<li id=") == 1
    assert "<html" not in row
    WakeEvent.objects.filter(pk=moving.pk).update(state="delivered")
    assert "hx-get" not in desk.get(url, headers={"HX-Request": "true"}).content.decode()


# ── the address ───────────────────────────────────────────────────────────


def test_a_made_secret_is_shown_once(admin: Client, agent: Agent):
    response = admin.post(
        act("set_hook", "gabriel"), {"kind": "webhook", "url": URL, "is_on": "on"}
    )
    page = response.content.decode()
    shown = re.search(r"whsec_[A-Za-z0-9+/=]{44}", page)
    assert shown
    assert "shown once" in page
    assert response.headers["Cache-Control"] == "no-store"
    hook = WakeHook.objects.get()
    assert shown[0] == f"whsec_{hook.secret}"
    assert hook.secret not in page_of(admin)
    again = admin.post(
        act("set_hook", "gabriel"), {"kind": "webhook", "url": URL, "is_on": "on"}, follow=True
    )
    assert hook.secret not in again.content.decode()
    assert (
        "Saved. Events for Gabriel are sent to https://agent.example.org." in again.content.decode()
    )


def test_links_of_that_answer_lead_to_the_page(admin: Client, agent: Agent):
    response = admin.get(act("set_hook", "gabriel") + "?before=7")
    assert (response.status_code, response.url) == (302, act("wake", "gabriel") + "?before=7")


def test_a_given_secret_never_comes_back(admin: Client, agent: Agent):
    given = {"kind": "openclaw", "url": "https://host.example:18789", "secret": "tok-8d1f"}
    saved = admin.post(act("set_hook", "gabriel"), given | {"is_on": "on"}, follow=True)
    refused = admin.post(act("set_hook", "gabriel"), given | {"url": "https://10.0.0.1/"})
    assert refused.status_code == 422
    assert "a private address" in refused.content.decode()
    for page in (saved, refused):
        assert "tok-8d1f" not in page.content.decode()
    assert WakeHook.objects.get().url == "https://host.example:18789/hooks/wake"
    assert "tok-8d1f" not in repr(list(AuditEvent.objects.values()))


def test_what_cannot_be_kept_is_said_and_what_was_typed_stays(admin: Client, agent: Agent):
    response = admin.post(act("set_hook", "gabriel"), {"kind": "webhook", "url": ""})
    assert response.status_code == 422
    assert "Enter the URL that receives the events." in response.content.decode()
    response = admin.post(act("set_hook", "gabriel"), {"kind": "webhook", "url": "http://x.org/"})
    assert response.status_code == 422
    assert "Use https" in response.content.decode()
    assert 'value="http://x.org/"' in response.content.decode()
    assert not WakeHook.objects.exists()


def test_switching_off_is_kept_and_said(admin: Client, agent: Agent):
    hook_of(agent)
    page = admin.post(act("set_hook", "gabriel"), {"kind": "webhook", "url": URL}, follow=True)
    assert not WakeHook.objects.get().is_on
    assert "The webhook is switched off." in page.content.decode()


def test_only_administrators_see_the_whole_address_and_set_it(desk: Client, agent: Agent):
    hook_of(agent)
    page = page_of(desk)
    assert "https://agent.example.org" in page
    assert "pa55" not in page
    assert "k-77" not in page
    response = desk.post(act("set_hook", "gabriel"), {"kind": "webhook", "url": URL})
    assert response.status_code == 403


# ── acts ──────────────────────────────────────────────────────────────────


def test_a_test_goes_out_and_the_log_says_what_came_of_it(
    desk: Client, agent: Agent, receiver: Receiver
):
    hook_of(agent, url=receiver.url)
    page = desk.post(act("send_test", "gabriel"), follow=True).content.decode()
    assert "Test event queued." in page
    assert "Sent within seconds." in page
    assert deliver_due(clock=timezone.now).delivered == 1
    assert receiver.refused == []
    page = page_of(desk)
    assert "delivered" in page
    took = r"Response status 200\.</bdi>\s*<span class=\"soft num\">\d+ ms</span>"
    assert re.search(took, page)


def test_sending_again_swaps_the_row(desk: Client, agent: Agent, receiver: Receiver):
    event = event_of(hook_of(agent, url=receiver.url), state="failed", tries=10)
    response = desk.post(act("resend", "gabriel", event.pk), headers={"HX-Request": "true"})
    row = response.content.decode()
    assert f'id="event-{event.pk}"' in row
    assert "Sent within seconds." in row
    assert "Event queued again" in row
    assert deliver_due(clock=timezone.now).delivered == 1
    assert receiver.keys == [str(event.key)]


def test_sending_again_works_without_script(desk: Client, agent: Agent):
    event = event_of(hook_of(agent), state="failed", tries=10)
    page = desk.post(act("resend", "gabriel", event.pk), follow=True).content.decode()
    assert "Event queued again, with the same id." in page
    event.refresh_from_db()
    assert event.state == "waiting"


def test_what_is_switched_off_sends_nothing_and_says_so(desk: Client, agent: Agent):
    hook = hook_of(agent, is_on=False)
    event = event_of(hook, state="failed")
    for url in (act("send_test", "gabriel"), act("resend", "gabriel", event.pk)):
        assert "switched off" in desk.post(url, follow=True).content.decode()
    assert not WakeEvent.objects.filter(state="waiting").exists()


def test_viewers_read_and_decide_nothing(viewer: Client, agent: Agent):
    event = event_of(hook_of(agent))
    page = page_of(viewer)
    assert page.count("disabled>Resend") == page.count("disabled>Send test event") == 1
    for url in (act("send_test", "gabriel"), act("resend", "gabriel", event.pk)):
        assert viewer.post(url).status_code == 403
        assert viewer.get(url).status_code == 405


def test_nobody_comes_here_without_signing_in(client: Client, agent: Agent):
    assert client.get(act("wake", "gabriel")).status_code == 302
