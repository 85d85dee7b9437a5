"""One activation on its page: items with their steps, tool calls, drafts, limits, Stop."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from dialogue.activations import services as activation_services
from dialogue.activations.live import live_mark
from dialogue.activations.models import ActivationState
from dialogue.models import Activation, AgentSettings
from surfaces.models import AuditEvent
from surfaces.operators.scope import UNRESTRICTED
from tests.dialogue.activations.factories import make_item, make_tool_call
from tests.dialogue.agents.pages import html, url, wake
from tests.factories import (
    NOON,
    make_agent,
    make_draft,
    make_notification,
    make_operator,
    make_presence,
)

pytestmark = pytest.mark.django_db


def words(page: str) -> str:
    return " ".join(re.sub(r"<[^>]+>", " ", page).split())


def test_steps_stand_with_the_item_they_belong_to(desk: Client):
    first = make_notification()
    second = make_notification(presence=first.presence)
    waking = wake(first.presence, notification=first)
    one = make_item(waking, position=1, notification=first, state="drafted", why="Wrote draft 7.",
                    draft=make_draft(account=first.presence.account))  # fmt: skip
    two = make_item(waking, position=2, notification=second, state="failed", why="It broke.")
    for number, item in enumerate((one, two, one)):
        activation_services.record_step(waking, "asked", f"Step {number}.", now=NOON, item=item)
    page = html(desk, "activation", waking.pk)
    parts = page.partition('id="h-item-1"')[2].split('id="h-item-2"')
    assert "Step 0." in parts[0]
    assert "Step 2." in parts[0]
    assert "Wrote draft 7." in parts[0]
    assert f"/drafts/{one.draft_id}/" in parts[0]
    assert "Step 1." in parts[1]
    assert "It broke." in parts[1]


def test_a_tool_call_shows_what_it_was_who_decided_and_where_it_waits(desk: Client):
    waking = wake(make_presence())
    item = make_item(waking, position=1, state="working", why="", ended_at=None)
    make_tool_call(
        item, arguments={"content": "<script>alert(1)</script>\nTwo"}, tool="hub_post",
        decided_by="operator:jonas", decided_at=NOON, said="Shorter, <b>please</b>",
    )  # fmt: skip
    waits = make_tool_call(item, state="waiting", ended_at=None, result="",
                           expires_at=NOON + timedelta(days=1))  # fmt: skip
    make_tool_call(item, decided_by="rule:5", decided_at=NOON, asked_arguments={"query": "x"})
    page = html(desk, "activation", waking.pk)
    assert "<script>alert(1)" not in page
    assert "<b>please" not in page
    said = words(page)
    assert "Decided by jonas," in said
    assert "Decided by rule 5," in said
    assert "The arguments were edited." in said
    assert f'href="/desk/tool_call/{waits.pk}/"' in page
    assert page.count("Decide on the desk") == 1


def test_limits_are_shown_as_used_of_most(desk: Client):
    presence = make_presence()
    AgentSettings.objects.update(max_iterations=4, seconds_per_run=60)
    waking = wake(presence)
    began = timezone.now() - timedelta(seconds=45)
    Activation.objects.update(requests=3, calls=2, tokens_in=900, tokens_out=100, started_at=began)
    said = words(html(desk, "activation", waking.pk))
    assert "Requests 3 of 4" in said
    assert "Tool calls 2 of 30" in said
    assert "Tokens 1,000 of 100,000" in said
    assert re.search(r"Working time, in seconds 4[56] of 60", said)


def test_time_spent_waiting_is_no_working_time(desk: Client):
    waking = wake(make_presence())
    Activation.objects.update(
        state="waiting", worked_ms=20_000, started_at=timezone.now() - timedelta(hours=3)
    )
    assert "Working time, in seconds 20 of 300" in words(html(desk, "activation", waking.pk))


def test_a_step_of_a_tool_names_the_tool(desk: Client):
    waking = wake(make_presence())
    facts = {"tool": "hub_search", "arguments": "{}"}
    activation_services.record_step(waking, "called", now=NOON, facts=facts)
    assert "Called hub_search" in words(html(desk, "activation", waking.pk))


def test_a_long_activation_asks_the_database_no_more_than_a_short_one(desk: Client):
    waking = wake(make_presence())
    counts = []
    for _ in range(2):
        for _ in range(5):
            note = make_notification(presence=waking.presence)
            item = make_item(waking, notification=note)
            draft = make_draft(account=waking.presence.account)
            make_tool_call(item, draft=draft)
            activation_services.record_step(waking, "called", "Called.", now=NOON, item=item)
        with CaptureQueriesContext(connection) as asked:
            html(desk, "activation", waking.pk)
        counts.append(len(asked))
    assert counts[0] == counts[1] <= 12


# ── the list ──────────────────────────────────────────────────────────────


def test_running_ones_stand_first_and_once(desk: Client):
    running = wake(make_presence(), "Answer odile")
    ended = wake(make_presence(), "Answer marrow")
    activation_services.finish(ended, ActivationState.DONE, "Done.", now=timezone.now())
    page = html(desk, "activations")
    assert page.index("Answer odile") < page.index("Answer marrow")
    assert page.count("Answer odile") == 1
    assert f'action="/activations/{running.pk}/stop"' in page
    assert f'action="/activations/{ended.pk}/stop"' not in page


def test_they_are_chosen_by_purpose_and_by_waiting(desk: Client):
    wake(make_presence(), "Answer odile")
    other = wake(make_presence(), "Look around")
    Activation.objects.filter(pk=other.pk).update(purpose="explore", state="waiting")
    for query in ("?purpose=explore", "?state=waiting"):
        page = html(desk, "activations", query=query)
        assert "Look around" in page
        assert "Answer odile" not in page
    assert "No matching activations" in html(desk, "activations", query="?purpose=task")


def test_an_open_list_hears_what_ended_since(desk: Client):
    waking = wake(make_presence())
    place = re.search(r'data-live-url="([^"]+)"', html(desk, "activations"))
    assert place
    activation_services.finish(waking, ActivationState.DONE, "Done.", now=timezone.now())
    page = desk.get(url("activations") + place[1].replace("&amp;", "&")).content.decode()
    assert "Show 1 activation that ended" in page
    assert "Show 1 activation that ended" not in html(desk, "activations")
    assert "Show " not in html(desk, "activations", query="?seen=2026-99-99").partition("main")[0]


def test_the_mark_of_open_pages_changes_with_every_step():
    marks = [live_mark(UNRESTRICTED)]
    waking = wake(make_presence())
    marks.append(live_mark(UNRESTRICTED))
    activation_services.record_step(waking, "asked", "Asked.", now=timezone.now())
    marks.append(live_mark(UNRESTRICTED))
    activation_services.finish(waking, ActivationState.DONE, "Done.", now=timezone.now())
    marks.append(live_mark(UNRESTRICTED))
    assert len(set(marks)) == len(marks)
    assert live_mark(UNRESTRICTED) == marks[-1]


# ── Stop ──────────────────────────────────────────────────────────────────


def test_stop_is_asked_once_and_says_by_whom(desk: Client):
    waking = wake(make_presence())
    page = desk.post(url("stop_activation", waking.pk), follow=True).content.decode()
    assert f"Activation {waking.pk} is being stopped." in page
    assert "Stop requested by" in page
    assert "Stop…" not in page
    assert "Not done:" in desk.post(url("stop_activation", waking.pk), follow=True).content.decode()
    assert AuditEvent.objects.called("activation.stop_asked").count() == 1


def test_who_reads_only_sees_no_stop_and_cannot_stop(client: Client):
    waking = wake(make_presence())
    client.force_login(make_operator(role="viewer"))
    assert "Stop…" not in html(client, "activation", waking.pk)
    assert "Stop…" not in html(client, "activations")
    assert client.post(url("stop_activation", waking.pk)).status_code == 403
    assert Activation.objects.get().stop_asked_at is None


def test_a_limited_operator_sees_and_stops_only_their_own(client: Client):
    own, other = make_agent(), make_agent()
    mine, theirs = (wake(make_presence(agent=agent)) for agent in (own, other))
    client.force_login(make_operator(role="moderator", agents=[own.slug]))
    page = html(client, "activations")
    assert f'href="/activations/{mine.pk}/"' in page
    assert f'href="/activations/{theirs.pk}/"' not in page
    assert client.get(url("activation", theirs.pk)).status_code == 404
    assert client.post(url("stop_activation", theirs.pk)).status_code == 404
