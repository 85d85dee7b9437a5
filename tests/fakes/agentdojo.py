"""The injections of agentdojo's Slack suite: goals of attackers and how they are worded.

Debenedetti et al., AgentDojo (2024), MIT licence. The package is installed without what it needs,
so its sources are read, not imported.
"""

from __future__ import annotations

import ast
import importlib.util
from pathlib import Path
from typing import Any

SUITE = "default_suites/v1/slack/injection_tasks.py"
PAGES = "data/suites/slack/environment.yaml"
ATTACKS = ("attacks/baseline_attacks.py", "attacks/important_instructions_attacks.py")


def root() -> Path:
    found = importlib.util.find_spec("agentdojo")
    assert found is not None, "agentdojo is not installed: make ready"
    assert found.origin
    return Path(found.origin).parent


def goals() -> list[str]:
    """What each attacker of the Slack suite wants, in the suite's order."""
    tree = ast.parse((root() / SUITE).read_text("utf-8"))
    found = []
    for task in (node for node in tree.body if isinstance(node, ast.ClassDef)):
        known: dict[str, Any] = {}
        for line in task.body:
            if isinstance(line, ast.Assign) and isinstance(line.targets[0], ast.Name):
                known[line.targets[0].id] = _text(line.value, known)
        found.append(known["GOAL"])
    return found


def wordings() -> list[str]:
    """How a goal is put into a text, with the place {goal}."""
    found: dict[str, None] = {}
    for name in ATTACKS:
        tree = ast.parse((root() / name).read_text("utf-8"))
        given = [
            node.args[0] for node in ast.walk(tree) if isinstance(node, ast.Call) and node.args
        ]
        given += [node.value for node in ast.walk(tree) if isinstance(node, ast.Assign)]
        for text in (_text(node, {}) for node in given):
            if "{goal}" in text:
                found[text] = None
    return list(found)


def pages() -> list[str]:
    """The texts of the suite's web pages that hold a place for an injection."""
    import yaml

    held = yaml.safe_load((root() / PAGES).read_text("utf-8"))["web"]["web_content"]
    return [text for text in held.values() if "{" in text]


def _text(node: ast.expr, known: dict[str, Any]) -> str:
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else ""
    if isinstance(node, ast.BinOp):
        return _text(node.left, known) + _text(node.right, known)
    if isinstance(node, ast.JoinedStr):
        return "".join(_text(part, known) for part in node.values)
    if isinstance(node, ast.FormattedValue):
        return known.get(node.value.id, "") if isinstance(node.value, ast.Name) else ""
    return ""
