"""The documents speak of the program as it is: its commands, variables, files and decisions."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from config.env import Env

ROOT = Path(__file__).resolve().parent.parent
OPERATING = (ROOT / "docs/operating.md").read_text()
GLOSSARY = (ROOT / "docs/glossary.md").read_text()
LINK = re.compile(r"\]\(([^)\s]+)\)")
COMMANDS = sorted(
    path.stem
    for app in ("config", "dialogue", "surfaces")
    for path in (ROOT / app / "management/commands").glob("[a-z]*.py")
)
PAPERS = [
    *(ROOT / name for name in ("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md")),
    *sorted((ROOT / "docs").rglob("*.md")),
]
ELSEWHERE = re.compile(r"/work/" + r"shared|\.\./" + r"shared")  # in parts: not to find itself


def name_of(path: Path) -> str:
    return str(path.relative_to(ROOT))


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_is_explained_to_operators(command: str):
    assert re.search(rf"`{command}\b|manage\.py {command}\b", OPERATING)


@pytest.mark.parametrize("variable", [name.upper() for name in Env.__dataclass_fields__])
def test_every_variable_is_explained_to_operators(variable: str):
    assert f"`{variable}`" in OPERATING


@pytest.mark.parametrize("paper", PAPERS, ids=name_of)
def test_no_link_of_a_paper_leads_nowhere(paper: Path):
    for link in LINK.findall(paper.read_text()):
        if "://" in link or link.startswith("#"):
            continue
        assert (paper.parent / link.partition("#")[0]).exists(), link


def test_the_readme_names_both_commands():
    readme = (ROOT / "README.md").read_text()
    assert "    make run " in readme
    assert "    make test " in readme


def test_every_decision_is_listed_and_short():
    folder = ROOT / "docs/decisions"
    listed = LINK.findall((folder / "README.md").read_text())
    written = sorted(path.name for path in folder.glob("0*.md"))
    assert listed == written
    for name in written:
        text = (folder / name).read_text()
        assert len(text.splitlines()) <= 40, name
        assert [line for line in text.splitlines() if line.startswith("## ")] == [
            "## Context", "## Choice", "## Price",
        ]  # fmt: skip


@pytest.mark.django_db
def test_the_glossary_names_every_column_of_messages():
    from surfaces.models import Message

    for field in Message._meta.concrete_fields:
        assert f"\n| `{field.column}` |" in GLOSSARY, field.column


def test_the_audit_queries_are_the_ones_that_are_tested():
    from tests.surfaces.test_message import AWAITING, FAILED, THREADS

    told = [_packed(sql) for sql in re.findall(r"```sql\n(.*?);\n```", GLOSSARY, re.DOTALL)]
    assert told == [_packed(sql) for sql in (THREADS, AWAITING, FAILED)]


def _packed(sql: str) -> str:
    return " ".join(sql.split())


def test_the_recipe_for_a_new_surface_stays_two_lines_long():
    text = (ROOT / "CONTRIBUTING.md").read_text()
    recipe = text.partition("## A new surface\n\n")[2].partition("\n\n")[0]
    assert len(recipe.splitlines()) == 2


def test_nothing_points_outside_the_repository():
    done = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    if done.returncode:
        pytest.skip("this is not a git checkout")
    for name in filter(None, done.stdout.split("\0")):
        path = ROOT / name
        try:
            text = path.read_text("utf-8")
        except (UnicodeDecodeError, FileNotFoundError):
            continue  # no text, or taken away and not yet committed
        assert not ELSEWHERE.search(text), name


def test_every_verdict_is_explained_to_operators():
    from dialogue.turn_taking import Why

    for why in Why:
        line = rf"^\| `{why.code}` \| \w+ \| {re.escape(why.value)} \|"
        assert re.search(line, OPERATING, re.M), why
