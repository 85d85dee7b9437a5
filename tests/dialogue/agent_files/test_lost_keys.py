"""A key sealed under a secret that we lost keeps no file from coming in."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dialogue.models import ModelEndpoint
from tests.dialogue.agent_files.factories import put, run

pytestmark = [pytest.mark.django_db, pytest.mark.engine]

MODEL = "name: iris\nbrain:\n  provider: anthropic\n  model: claude\n  api_key_env: IRIS_KEY\n"


def test_a_key_that_nobody_can_open_is_replaced_by_what_the_variable_holds(
    tmp_path: Path, monkeypatch: Any
):
    monkeypatch.setenv("IRIS_KEY", "first")
    put(tmp_path / "iris", MODEL)
    run("import", tmp_path / "iris")
    ModelEndpoint.objects.update(sealed_key=b"sealed under a key we lost")
    _, line = run("import", tmp_path / "iris")
    assert line["changed"] == {"iris": ["key of anthropic:claude"]}
    assert ModelEndpoint.objects.get().key == "first"


def test_a_key_that_nobody_can_open_is_told_as_missing(tmp_path: Path, monkeypatch: Any):
    monkeypatch.setenv("IRIS_KEY", "first")
    put(tmp_path / "iris", MODEL)
    run("import", tmp_path / "iris")
    ModelEndpoint.objects.update(sealed_key=b"sealed under a key we lost")
    monkeypatch.delenv("IRIS_KEY")
    _, line = run("import", tmp_path / "iris")
    assert line["keys_not_set"] == {"iris": ["IRIS_KEY"]}
