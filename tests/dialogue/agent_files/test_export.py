"""What is exported of an agent comes back the same."""

from __future__ import annotations

from pathlib import Path

import pytest

from dialogue.models import Agent
from tests.dialogue.agent_files.factories import PERSONA, kept, put, refused, run
from tests.factories import make_agent

pytestmark = [pytest.mark.django_db, pytest.mark.engine]


def test_what_is_exported_comes_back_the_same(tmp_path: Path):
    run("import", put(tmp_path / "iris", persona=PERSONA))
    before = kept()
    _, line = run("export", tmp_path / "out")
    assert line == {"exported": ["iris"], "to": str(tmp_path / "out")}
    assert run("import", tmp_path / "out")[1]["changed"] == {}
    Agent.objects.all().delete()
    run("import", tmp_path / "out")
    assert kept() == before


def test_an_untouched_agent_comes_back_the_same(tmp_path: Path):
    make_agent(slug="iris")
    before = kept()
    run("export", tmp_path)
    assert run("import", tmp_path)[1]["changed"] == {}
    Agent.objects.all().delete()
    run("import", tmp_path)
    assert kept() == {**before, "is_autonomous": False}


@pytest.mark.parametrize(
    "persona", ["You are Iris.  \n\n", "\n  You are Iris.\n", "You are Iris. \t\n", "  \n\n"]
)
def test_blanks_at_the_ends_of_a_persona_come_back(tmp_path: Path, persona: str):
    run("import", put(tmp_path / "iris", persona=persona))
    run("export", tmp_path / "out")
    assert (tmp_path / "out/iris/system-prompt.md").read_bytes() == persona.encode()
    assert run("import", tmp_path / "out")[1]["changed"] == {}


def test_one_agent_is_exported_alone(tmp_path: Path):
    for slug in ("iris", "gabriel"):
        make_agent(slug=slug)
    run("export", tmp_path, "--agent", "gabriel")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["gabriel"]
    assert sorted(path.name for path in (tmp_path / "gabriel").iterdir()) == [
        "config.yaml",
        "system-prompt.md",
    ]


def test_an_export_of_nobody_is_refused(tmp_path: Path):
    assert refused("export", tmp_path) == ["There is no agent to export."]
    assert refused("export", tmp_path, "--agent", "vera") == ["There is no agent vera."]


def test_where_nothing_can_be_written_it_says_so(tmp_path: Path):
    make_agent(slug="iris")
    (tmp_path / "out").write_text("a file")
    assert "cannot be written" in refused("export", tmp_path / "out")[0]
