"""The house rules that a machine can check."""

from __future__ import annotations

import ast
import re
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


FLAT = {  # what stands beside the packages of a floor
    *("__init__", "admin", "crypto", "demo", "errors", "extension_points", "extensions"),
    *("health_checks", "model_fields", "models", "replier", "tasks", "urls"),
}


def test_a_module_of_a_floor_stands_in_the_package_of_its_noun():
    for app in ("surfaces", "dialogue", "crossbot", "companion"):
        assert {path.stem for path in (ROOT / app).glob("*.py")} <= FLAT


def test_no_class_name_is_used_twice():
    found: dict[str, list[str]] = {}
    for path in OURS:
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ClassDef) and node.name not in {"Meta", "Command"}:
                found.setdefault(node.name, []).append(name_of(path))
    assert {name: paths for name, paths in found.items() if len(paths) > 1} == {}
    assert not found.keys() & {"Page", "Row", "Line", "Told", "Place", "Kind"}


def test_a_migration_imports_no_module_of_ours():
    for path in ROOT.glob("*/migrations/0*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom):
                names = [node.module or ""]
            assert not [name for name in names if name.split(".")[0] in APPS], path


@pytest.mark.parametrize("app", ["surfaces", "dialogue"])
def test_the_ground_floor_names_no_page_of_the_floors_above(app: str):
    above = {
        "surfaces": ("dialogue", "crossbot", "companion"),
        "dialogue": ("crossbot", "companion"),
    }
    below = [*(ROOT / app).rglob("*.py"), *(ROOT / "templates" / app).rglob("*.html")]
    for path in below:
        for floor in above[app]:
            assert not re.search(rf"""["']{floor}[:/]""", path.read_text()), path


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
        if path == ROOT / "surfaces/delivery/sender.py":
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom):
                names = {alias.name for alias in node.names if alias.name.endswith("Writer")}
                # `challenges` is handed one; it cannot open one.
                assert not names - ({"Writer"} if path.name == "challenges.py" else set()), path


REPLY_STATE = {"reply_status", "reply_attempts", "reply_why"}
WRITERS = {"update", "update_or_create", "bulk_update", "save", "setattr", "create", "Message"}


def writes_reply_state(tree: ast.AST) -> list[int]:
    """Lines that set how far an answer is: by `update`, by attribute, or in SQL."""
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            name = getattr(node.func, "attr", getattr(node.func, "id", ""))
            given = {keyword.arg for keyword in node.keywords}
            given |= {part.value for part in ast.walk(node) if isinstance(part, ast.Constant)}
            found += [node.lineno] if name in WRITERS and given & REPLY_STATE else []
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            found += [node.lineno] if node.attr == "reply_status" else []
        elif isinstance(node, ast.Dict):
            keys = {getattr(key, "value", "") for key in node.keys}
            found += [node.lineno] if "reply_status" in keys else []
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            sets = re.search(r"\b(SET|,)\s+reply_(status|attempts|why)\s*=", node.value)
            found += [node.lineno] if sets else []
    return found


def test_how_far_an_answer_is_is_written_in_one_module():
    door = ROOT / "surfaces/messages/reply_state.py"
    found = {name_of(path): writes_reply_state(ast.parse(path.read_text())) for path in OURS}
    assert found.pop(name_of(door))
    assert {name: lines for name, lines in found.items() if lines} == {}


def test_nobody_reads_the_clock_below_the_edges():
    edges = {"views", "management", "tasks.py", "templatetags", "admin.py", "transport.py"}
    defaults = {
        f"surfaces/{name}.py"
        for name in ("audit/models", "accounts/clients", "watcher/rounds", "home/frame")
    } | {"surfaces/home/dashboard.py"}
    floors = {"surfaces", "dialogue", "crossbot", "companion"}
    for path in OURS:
        if path.parts[len(ROOT.parts)] not in floors or {*path.parts} & edges:
            continue
        text = path.read_text()
        if name_of(path) in defaults:  # they may name it as a default, and never call it
            text = text.replace("= timezone.now", "")
        assert "datetime.now(" not in text.replace("lambda: datetime.now(UTC)", ""), path


def test_nobody_computes_under_a_lock_that_all_instances_share():
    """functools.cached_property does, up to Python 3.11: slow work of one thread stops others."""
    locks = [
        name_of(path)
        for path in OURS
        if re.search(r"from functools import .*\bcached_property", path.read_text())
    ]
    assert locks == []


def test_every_schedule_names_a_task_that_exists():
    for task, minutes, *_pool in settings.SCHEDULES.values():
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


def test_no_template_line_is_over_120_characters():
    long = [
        f"{name_of(path)}:{number}: {len(line)}"
        for path in sorted((ROOT / "templates").rglob("*.html"))
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if len(line) > 120
    ]
    assert long == []


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
