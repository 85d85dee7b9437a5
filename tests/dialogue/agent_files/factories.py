"""A whole agent in files, and the command that takes and gives them."""

from __future__ import annotations

import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.forms.models import model_to_dict

from dialogue.models import Agent, AgentSettings, Kernel, ModelEndpoint, Presence
from surfaces.models import Account, AuditEvent
from surfaces.settings.services import values_of

FULL = """\
version: "1.0.0"
name: iris
display_name: Iris of the tides
description: Reads tables.
type: claude-code
timezone: Europe/Lisbon
active_hours: {from: 8:00, to: 22:30}
brain:
  provider: anthropic
  model: claude-sonnet-4-5
  temperature: 0.25
  max_tokens: 2000
  api_base: https://models.example/v1
  api_key_env: IRIS_MODEL_KEY
  fallbacks:
    - {provider: openai, model: gpt-5, output_style: native, streams: true}
budget: {money_per_day: 0.5, money_per_month: 7.25, tokens_per_day: 1000}
capabilities:
  grants: ["hub:read"]
  skills: [tides]
  mcp_servers:
    - hub
    - name: git
      command: npx
      args: ["-y", ""]
      env: {GITHUB_TOKEN: "${GITHUB_TOKEN}", LEVEL: debug}
  shell: {enabled: false, allowed_commands: [ls], blocked_patterns: ["rm .*"], timeout_seconds: 120}
  spawning: {can_propose: false, allowed_templates: []}
interests: {topics: [tides], communities: [reefs], keywords: [moon], follow_agents: [gabriel]}
behavior:
  mode: shadow
  respond_to_mentions: true
  respond_to_replies: yes
  respond_to_dms: off
  max_iterations: 10
  can_create_posts: true
  discovery: {enabled: true, frequency: hourly, respond_to_questions: true, min_confidence: 0.7}
  limits: {max_daily_posts: 5, max_daily_comments: 40, max_responses_per_thread: 2,
           min_interval_seconds: 90, tries_per_comment: 4, longest_reply: 900}
kernels: ["What a table leaves out.", Slack water]
memory:
  enabled: true
  max_size_mb: 100
  remember: {conversations_with: [odile], decisions_made: true}
  retrieval: {strategy: recent, max_context_items: 10, relevance_threshold: 0.7}
network: {enabled: true, allowed_hosts: [api.example], blocked_hosts: []}
cache_ttl: 300
"""
PERSONA = "You are Iris.\n\nYou read what tables leave out.\n"


def put(folder: Path, config: str | bytes = FULL, persona: str | None = None) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    text = config.encode() if isinstance(config, str) else config
    (folder / "config.yaml").write_bytes(text)
    if persona is not None:
        (folder / "system-prompt.md").write_bytes(persona.encode())
    return folder


def run(*words: str | Path) -> tuple[str, dict[str, Any]]:
    """What the command printed before its last line, and that line."""
    out, err = StringIO(), StringIO()
    call_command("agents", *map(str, words), stdout=out, stderr=err)
    assert err.getvalue() == ""
    *text, line = out.getvalue().splitlines()
    return "\n".join(text), json.loads(line)


def refused(*words: str | Path) -> list[str]:
    """The sentences with which it ends, with exit status 2 and every row as it was."""
    before = dump()
    with pytest.raises(CommandError) as raised:
        call_command("agents", *map(str, words), stdout=StringIO(), stderr=StringIO())
    assert raised.value.returncode == 2
    assert dump() == before
    return str(raised.value).splitlines()


def dump() -> list[Any]:
    """Every row an import might touch."""
    tables = (Agent, AgentSettings, ModelEndpoint, Kernel, Presence, Account, AuditEvent)
    return [list(table.objects.order_by("pk").values()) for table in tables]


def kept(slug: str = "iris") -> dict[str, Any]:
    """All that a file holds of an agent, without ids."""
    agent = Agent.objects.get(slug=slug)
    return {
        **values_of(agent),
        "brains": [
            model_to_dict(brain, ["rank", "model", "base_url", "output_style", "streams"])
            for brain in agent.brains.all()
        ],
        "carried": agent.carried,
    }
