"""The house rules that a machine can check."""

from __future__ import annotations

import ast
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest
from django.conf import settings
from django.core.management import call_command
from django.test.utils import captured_stdout

ROOT = Path(__file__).resolve().parent.parent
APPS = ("config", "surfaces", "dialogue", "crossbot", "companion")
OURS = [
    path
    for app in APPS
    for path in sorted((ROOT / app).rglob("*.py"))
    if "migrations" not in path.parts
]


def name_of(path: Path) -> str:
    return str(path.relative_to(ROOT))


def test_imports_go_down_and_only_delivery_holds_a_writer():
    done = subprocess.run(
        [sys.executable, "-c", "from importlinter.cli import lint_imports_command as go; go()"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stdout[-3000:]


@pytest.mark.parametrize("path", OURS, ids=name_of)
def test_no_file_outgrows_one_idea(path: Path):
    assert len(path.read_text().splitlines()) <= 320


def functions() -> list[tuple[str, int]]:
    found = []
    for path in OURS:
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.FunctionDef) and node.end_lineno:
                found.append((f"{name_of(path)}:{node.name}", node.end_lineno - node.lineno + 1))
    return found


def test_functions_are_short():
    lengths = sorted(length for _, length in functions())
    assert lengths[len(lengths) // 2] <= 9
    assert lengths[int(len(lengths) * 0.9)] <= 25
    assert [f for f in functions() if f[1] > 45] == []


def test_writers_are_named_in_one_place():
    for path in OURS:
        if path.parts[len(ROOT.parts)] != "surfaces" or "adapters" in path.parts:
            continue
        if path.name == "delivery.py":
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom):
                names = {alias.name for alias in node.names if alias.name.endswith("Writer")}
                # `verifying` is handed one; it cannot open one.
                assert not names - ({"Writer"} if path.name == "verifying.py" else set()), path


def test_nobody_reads_the_clock_below_the_edges():
    edges = {"views", "management", "tasks.py", "templatetags", "admin.py", "transport.py"}
    defaults = {"audit.py", "access.py", "watcher.py", "pages.py", "overview.py"}
    floors = {"surfaces", "dialogue", "crossbot", "companion"}
    for path in OURS:
        if path.parts[len(ROOT.parts)] not in floors or {*path.parts} & edges:
            continue
        text = path.read_text()
        if path.name in defaults:  # they may name it as a default, and never call it
            text = text.replace("= timezone.now", "")
        assert "datetime.now(" not in text.replace("lambda: datetime.now(UTC)", ""), path


def test_every_schedule_names_a_task_that_exists():
    for task, minutes in settings.SCHEDULES.values():
        module, name = task.rsplit(".", 1)
        assert callable(getattr(import_module(module), name))
        assert minutes >= 1


def test_a_task_that_still_runs_is_not_handed_out_again():
    assert settings.Q_CLUSTER["timeout"] < settings.Q_CLUSTER["retry"]
    assert settings.Q_CLUSTER["catch_up"] is False


@pytest.mark.django_db
def test_every_change_of_a_model_has_its_migration():
    with captured_stdout():
        call_command("makemigrations", check=True, dry_run=True)


@pytest.mark.parametrize("path", sorted((ROOT / "templates").rglob("*.html")), ids=name_of)
def test_templates_hold_no_inline_style_or_script(path: Path):
    text = path.read_text()
    assert " style=" not in text
    assert "<style" not in text
    assert "onclick=" not in text
    assert "<script>" not in text
    assert "|safe" not in text


def test_django_finds_nothing_to_deploy_against(tmp_path: Path):
    done = subprocess.run(
        [sys.executable, "manage.py", "check", "--deploy", "--fail-level", "WARNING"],
        cwd=ROOT,
        env={
            "PATH": "/usr/bin:/bin",
            "COLLOQUY_URL": "https://desk.example.org",
            "COLLOQUY_DATA": str(tmp_path),
        },
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
