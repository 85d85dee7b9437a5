"""The pages of agents as a test asks for them."""

from __future__ import annotations

from typing import Any

from django.test import Client
from django.urls import reverse
from django.utils import timezone

from dialogue.activations import services as activation_services
from dialogue.models import Activation, Presence

ADA = "operator:ada"


def url(name: str, *args: Any) -> str:
    return reverse(f"dialogue:{name}", args=args)


def html(client: Client, name: str, *args: Any, query: str = "") -> str:
    response = client.get(url(name, *args) + query)
    assert response.status_code == 200
    return response.content.decode()


def wake(presence: Presence, why: str = "Answer odile", **given: Any) -> Activation:
    return activation_services.start(
        presence, purpose="reply", why=why, worker="w:1", now=timezone.now(), **given
    )


def places(presence: Presence, waking: Activation) -> list[str]:
    slug = presence.agent.slug
    return [
        url("agents"), url("activations"), url("activation", waking.pk), url("agent", slug),
        url("agent_inbox", slug), url("agent_settings", slug), url("agent_voice", slug),
        url("agent_tools", slug), url("agent_memory", slug),
    ]  # fmt: skip
