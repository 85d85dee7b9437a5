"""A dry run of an import shows the difference and changes nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.dialogue.agent_files.factories import FULL, PERSONA, dump, put, run

pytestmark = [pytest.mark.django_db, pytest.mark.engine]


def test_a_dry_run_shows_the_difference_and_changes_nothing(tmp_path: Path):
    run("import", put(tmp_path / "iris", persona=PERSONA))
    changed = (
        FULL.replace("max_daily_comments: 40", "max_daily_comments: 44")
        .replace("Slack water", "Neap tides")
        .replace("gpt-5", "gpt-6")
        .replace("cache_ttl: 300", "cache_ttl: 60")
    )
    put(tmp_path / "iris", changed, PERSONA.replace("tables", "maps"))
    before = dump()
    shown, line = run("import", tmp_path / "iris", "--dry-run")
    assert dump() == before
    assert shown.splitlines() == [
        "iris",
        "- replies_per_day: 40",
        "+ replies_per_day: 44",
        "- kernels: Slack water",
        "+ kernels: Neap tides",
        "--- persona",
        "+++ system-prompt.md",
        "@@ -1,3 +1,3 @@",
        " You are Iris.",
        " ",
        "-You read what tables leave out.",
        "+You read what maps leave out.",
        "- models: openai:gpt-5, native, streams",
        "+ models: openai:gpt-6, native, streams",
        "- cache_ttl: 300",
        "+ cache_ttl: 60",
    ]
    assert line["dry_run"] is True
    assert line["imported"] == []
    assert line["changed"]["iris"] == [
        "replies_per_day", "kernels", "persona", "models", "cache_ttl",
    ]  # fmt: skip


def test_a_dry_run_of_a_new_agent_makes_nothing(tmp_path: Path):
    before = dump()
    shown, line = run("import", put(tmp_path / "iris"), "--dry-run")
    assert "iris: new" in shown
    assert line["new"] == ["iris"]
    assert dump() == before


def test_a_dry_run_without_a_difference_says_so(tmp_path: Path):
    run("import", put(tmp_path / "iris"))
    shown, line = run("import", tmp_path / "iris", "--dry-run")
    assert shown == "iris: no change"
    assert line["changed"] == {}


def test_what_would_steer_a_terminal_is_spelled_out(tmp_path: Path):
    config = 'name: iris\nkernels: ["red \\e[31m"]\n'
    shown, _ = run("import", put(tmp_path / "iris", config, "a \x1b[2J b"), "--dry-run")
    assert "\x1b" not in shown
    assert r"red \x1b[31m" in shown
    assert r"+a \x1b[2J b" in shown
