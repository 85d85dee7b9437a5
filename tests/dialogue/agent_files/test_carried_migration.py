"""What an imported file says becomes a setting; what the setting cannot take stays and is named."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from django.apps import apps
from django.test import Client

from dialogue.agent_files.schema import KEYS, SCALED
from dialogue.models import Agent
from tests.dialogue.agent_files.factories import run
from tests.dialogue.agents.pages import html
from tests.factories import make_agent

pytestmark = pytest.mark.django_db
migration = import_module("dialogue.migrations.0009_carried_to_columns")

CARRIED: dict[str, Any] = {
    "version": "1.0.0",
    "capabilities": {"grants": ["hub:read", "!hub:write:tides"], "skills": ["tides"]},
    "behavior": {
        "respond_to_dms": False, "max_iterations": 25, "max_daily_posts": 3,
        "limits": {"max_daily_posts": 3},
        "discovery": {"enabled": True, "frequency": "daily", "min_confidence": 0.4},
    },
    "memory": {
        "enabled": True, "max_size_mb": 5, "remember": {"decisions_made": True},
        "retrieval": {"strategy": "embedding_search", "max_context_items": 4},
    },
}  # fmt: skip
LEFT = {
    "version": "1.0.0",
    "capabilities": {"skills": ["tides"]},
    "memory": {"remember": {"decisions_made": True}},
}


def migrated(carried: dict[str, Any]) -> Agent:
    agent = make_agent(carried=carried, slug="iris")
    migration.to_columns(apps, None)
    return Agent.objects.select_related("settings").get(pk=agent.pk)


def test_what_fits_moves_and_the_rest_stays_as_it_was():
    agent = migrated(CARRIED)
    row = agent.settings
    assert agent.carried == LEFT
    assert row.grants == ["hub:read", "!hub:write:tides"]
    assert (row.responds_to_dms, row.max_iterations, row.posts_per_day) == (False, 25, 3)
    assert (row.explores, row.explore_frequency, row.min_confidence) == (True, "daily", 0.4)
    assert (row.has_memory, row.memory_kilobytes, row.memory_items) == (True, 5 * 1_024, 4)
    assert row.memory_strategy == "embedding_search"


def test_the_way_back_gives_the_keys_again():
    agent = migrated(CARRIED)
    migration.to_carried(apps, None)
    agent.refresh_from_db()
    back = dict(CARRIED, behavior=dict(CARRIED["behavior"]))
    back["behavior"].pop("max_daily_posts")  # of two keys for one value the newer is written
    assert agent.carried == back


@pytest.mark.parametrize(
    ("carried", "column", "default"),
    [
        ({"behavior": {"max_iterations": 500}}, "max_iterations", 10),
        ({"memory": {"max_size_mb": 1_000}}, "memory_kilobytes", 256),
        ({"capabilities": {"grants": ["hub:write", "! hub"]}}, "grants", []),
        ({"capabilities": {"grants": "hub:read"}}, "grants", []),
        ({"behavior": 7}, "explores", False),
    ],
)
def test_what_does_not_fit_stays_carried(carried: dict[str, Any], column: str, default: Any):
    agent = migrated(carried)
    assert agent.carried == carried
    assert getattr(agent.settings, column) == default


def test_the_settings_name_what_did_not_fit_until_it_is_set(admin: Client, tmp_path: Path):
    agent = migrated({"behavior": {"max_iterations": 500}, "version": "2"})
    page = html(admin, "agent_settings", "iris")
    assert "has values that these settings do not take" in page
    assert "behavior.max_iterations: <bdi>500</bdi>" in page
    run("export", tmp_path)
    assert "max_iterations: 10\n" in (tmp_path / "iris/config.yaml").read_text()
    agent.settings.__class__.objects.update(max_iterations=100)
    assert "do not take" not in html(admin, "agent_settings", "iris")


def test_the_migration_knows_every_key_that_got_a_column():
    known = {key: column for key, (column, _) in migration.KEYS.items()}
    assert known.items() <= KEYS.items()
    assert SCALED["memory.max_size_mb"].times == migration.MB
