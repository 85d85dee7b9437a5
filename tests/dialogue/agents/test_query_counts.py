"""No page of an agent asks the database more where there is more."""

from __future__ import annotations

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from dialogue.activations import services as activation_services
from dialogue.activations.models import ActivationState
from dialogue.models import Activation, Agent, Notification, Presence
from dialogue.voice import endpoints
from surfaces.settings.services import change
from tests.dialogue.activations.factories import make_item, make_memory, make_tool_call
from tests.dialogue.agents.pages import ADA, places, url, wake
from tests.factories import (
    NOON,
    make_agent,
    make_draft,
    make_message,
    make_notification,
    make_presence,
)

pytestmark = pytest.mark.django_db

MOST_QUERIES = 12


def queries(client: Client, place: str) -> int:
    with CaptureQueriesContext(connection) as asked:
        assert client.get(place).status_code == 200
    return len(asked)


def more_of_everything(agent: Agent) -> None:
    for _ in range(3):
        presence = make_presence(agent=agent)
        message = make_message(account=presence.account)
        note = make_notification(presence=presence, message=message, verdict="hours")
        draft = make_draft(
            agent=agent.slug, account=presence.account, target=message, judged="edited",
            decided_at=timezone.now(), state="withdrawn",
        )  # fmt: skip
        Notification.objects.filter(pk=note.pk).update(draft=draft)
        waking = wake(presence, notification=note)
        activation_services.record_step(waking, "asked", "Asked.", now=NOON)
        item = make_item(waking, notification=note, draft=draft)
        make_tool_call(item, draft=draft)
        activation_services.record_step(waking, "called", "Called.", now=NOON, item=item)
        make_memory(agent, source=message, activation=waking)
        activation_services.finish(
            waking, ActivationState.DONE, "Done.", now=timezone.now(), draft=draft
        )
        Agent.objects.filter(pk=agent.pk).update(due_at=NOON, last_activated_at=NOON)
        endpoints.add_brain(agent, model=f"openai:m{note.pk}", key="sk-1", by=ADA)
        change(agent, {"tries": note.pk % 9 + 1}, by=ADA, now=NOON)


def test_no_page_asks_more_where_there_is_more(admin: Client):
    agent = make_agent(settings={"voice": "model"})
    more_of_everything(agent)
    presence = Presence.objects.filter(agent=agent).latest("pk")
    place = [*places(presence, Activation.objects.latest("pk")), url("add_presence", agent.slug)]
    before = {at: queries(admin, at) for at in place}
    for other in (agent, make_agent(settings={"voice": "model"}), make_agent()):
        more_of_everything(other)
    assert {at: queries(admin, at) for at in place} == before
    assert max(before.values()) <= MOST_QUERIES, before
