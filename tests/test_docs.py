"""The documents speak of the program as it is: its commands, variables, files and decisions."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from config.env import Env

ROOT = Path(__file__).resolve().parent.parent
OPERATING = (ROOT / "docs/operate.md").read_text()
MODERATING = (ROOT / "docs/moderate.md").read_text()
ARCHITECTURE = (ROOT / "docs/architecture.md").read_text()
GLOSSARY = (ROOT / "docs/glossary.md").read_text()
LINK = re.compile(r"\]\(([^)\s]+)\)")
CODE = re.compile(r"```.*?```|^ {4,}.*?$|`[^`]*`|\]\([^)]*\)", re.M | re.S)
RETIRED = re.compile(r"\b(waking|ledger|laps|knob|house|brain|inbox mark)", re.I)
HEADING = re.compile(r"^#+ (.+)$", re.M)
COMMANDS = sorted(
    path.stem
    for app in ("config", "dialogue", "surfaces")
    for path in (ROOT / app / "management/commands").glob("[a-z]*.py")
)
PAPERS = [
    *sorted(ROOT.glob("*.md")),
    *sorted((ROOT / "docs").rglob("*.md")),
    ROOT / "deploy/README.md",
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
        if "://" in link:
            continue
        name, _, anchor = link.partition("#")
        linked = paper.parent / name if name else paper
        assert linked.exists(), link
        assert not anchor or anchor in anchors(linked), link


def anchors(paper: Path) -> list[str]:
    """The addresses of a paper's headings, as GitHub makes them."""
    found = (re.sub(r"[^\w\- ]", "", title.lower()) for title in HEADING.findall(paper.read_text()))
    return [title.replace(" ", "-") for title in found]


@pytest.mark.parametrize("paper", PAPERS, ids=name_of)
def test_the_papers_use_the_words_of_the_pages(paper: Path):
    if paper.name != "CHANGELOG.md":  # it tells what a word was before
        assert not RETIRED.search(CODE.sub("", paper.read_text()))


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
    from tests.surfaces.messages.test_models import AWAITING, FAILED, THREADS

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
    from dialogue.replies.decision import Reason

    for why in Reason:
        assert re.search(rf"^\| `{why.code}` \| (pass|hold|wait|reply) \| \w", MODERATING, re.M), (
            why
        )


def test_the_walk_of_a_comment_enters_each_package_once_per_process():
    table = ARCHITECTURE.partition("## The walk of one comment")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| (.*?) ?\| (.+?) \| `(.+?)` \|$", table, re.M)
    walk: dict[int, list[str]] = {}
    for process, _, package in rows:
        walk.setdefault(len(walk) if process else len(walk) - 1, []).append(package)
    packages = {package for row in walk.values() for package in row}
    assert 20 <= len(packages) <= 30
    assert f"These are {len(packages)} packages." in table
    for entered in walk.values():
        assert len(entered) == len(set(entered)), entered
    for package in packages:
        assert (ROOT / package).is_dir() or (ROOT / f"{package}.py").is_file(), package
    for step in (
        "fetch", "row", "verdict", "notification", "decision", "activation", "words", "draft",
        "desk", "approval", "sending", "record",
    ):  # fmt: skip
        assert any(done.startswith(step) for _, done, _ in rows), step
