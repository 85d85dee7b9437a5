"""The forms of an agent’s settings: what they show, filled in and sent."""

from __future__ import annotations

import re
from html import unescape
from typing import Any

from django.test import Client

from dialogue.models import Agent
from surfaces.settings.services import values_of
from tests.dialogue.agents.pages import url

FIELD = re.compile(r'<(input|textarea|select)\b[^>]*\bname="([^"]+)"[^>]*>')


def posted(client: Client, name: str, slug: str = "gabriel") -> dict[str, str]:
    """What the page's own form would send as it stands."""
    page = str(client.get(url(name, slug)).content, "utf-8")  # lines and all
    form = re.search(rf'<form[^>]*action="{url(name, slug)}".*?</form>', page, re.DOTALL)
    assert form
    return dict(read_values(form[0]))


def read_values(form: str):
    for found in FIELD.finditer(form):
        tag, name = found[0], found[2]
        if found[1] == "textarea":
            rest = form[found.end() :]
            yield name, unescape(rest.partition("</textarea>")[0].removeprefix("\n"))
        elif found[1] == "select":
            rest = form[found.end() :].partition("</select>")[0]
            chosen = re.search(r'value="([^"]*)" selected', rest)
            yield name, unescape(chosen[1]) if chosen else ""
        elif ('type="radio"' not in tag and 'type="checkbox"' not in tag) or " checked" in tag:
            value = re.search(r'value="([^"]*)"', tag)
            yield name, unescape(value[1]) if value else "on" if "checkbox" in tag else ""


def save(client: Client, typed: dict[str, str], name: str = "agent_settings") -> Any:
    return client.post(url(name, "gabriel"), typed)


def kept(agent: Agent) -> dict[str, Any]:
    return values_of(Agent.objects.get(pk=agent.pk))
