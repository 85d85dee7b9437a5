"""Files of an agent name the variable of a key and never hold the key."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dialogue.models import ModelEndpoint
from tests.dialogue.agent_files.factories import dump, put, refused, run

pytestmark = [pytest.mark.django_db, pytest.mark.engine]

MODEL = "name: iris\nbrain:\n  provider: anthropic\n  model: claude\n  api_key_env: IRIS_KEY\n"


def the_key() -> str:
    return ModelEndpoint.objects.get(rank=0).key


def test_a_key_comes_from_its_variable_and_is_never_told(tmp_path: Path, monkeypatch: Any):
    monkeypatch.setenv("IRIS_KEY", "key-of-the-model")
    put(tmp_path / "iris", MODEL)
    shown, told = run("import", tmp_path / "iris", "--dry-run")
    _, line = run("import", tmp_path / "iris")
    run("export", tmp_path / "out")
    assert the_key() == "key-of-the-model"
    assert "+ key of anthropic:claude: the value of IRIS_KEY" in shown
    config = (tmp_path / "out/iris/config.yaml").read_text()
    assert "api_key_env: IRIS_KEY" in config
    assert "key-of-the-model" not in f"{shown}{told}{line}{config}{dump()}"


def test_a_new_key_replaces_the_old_one(tmp_path: Path, monkeypatch: Any):
    put(tmp_path / "iris", MODEL)
    for key in ("first", "second"):
        monkeypatch.setenv("IRIS_KEY", key)
        _, line = run("import", tmp_path / "iris")
        assert "key of anthropic:claude" in line["changed"]["iris"]
        assert the_key() == key


def test_without_the_variable_the_key_stays_and_a_missing_one_is_told(
    tmp_path: Path, monkeypatch: Any
):
    put(tmp_path / "iris", MODEL)
    _, line = run("import", tmp_path / "iris")
    assert line["keys_not_set"] == {"iris": ["IRIS_KEY"]}
    monkeypatch.setenv("IRIS_KEY", "first")
    run("import", tmp_path / "iris")
    monkeypatch.delenv("IRIS_KEY")
    put(tmp_path / "iris", MODEL.replace("claude", "claude-next"))
    _, line = run("import", tmp_path / "iris")
    assert line["keys_not_set"] == {}
    assert the_key() == "first"


def test_a_key_never_follows_to_another_address(tmp_path: Path, monkeypatch: Any):
    monkeypatch.setenv("IRIS_KEY", "first")
    run("import", put(tmp_path / "iris", MODEL))
    monkeypatch.delenv("IRIS_KEY")
    run("import", put(tmp_path / "iris", f"{MODEL}  api_base: https://elsewhere.example/v1\n"))
    assert the_key() == ""


@pytest.mark.parametrize(
    "variable", ["SECRET_KEY", "SECRET_KEY_FILE", "DATABASE_URL", "CREDENTIAL_KEYS"]
)
def test_our_own_variables_are_no_keys(tmp_path: Path, variable: str):
    [sentence] = refused("import", put(tmp_path / "iris", MODEL.replace("IRIS_KEY", variable)))
    assert "names a variable of Colloquy itself" in sentence


def test_a_key_does_not_travel_in_the_clear(tmp_path: Path, monkeypatch: Any):
    for host, is_taken in (("127.0.0.1:8080", True), ("models.example", False)):
        put(tmp_path / "iris", f"{MODEL}  api_base: http://{host}/v1\n")
        if is_taken:
            run("import", tmp_path / "iris")
        else:
            assert "http would send unencrypted" in refused("import", tmp_path / "iris")[0]


def test_what_is_no_key_is_refused_without_being_told(tmp_path: Path, monkeypatch: Any):
    monkeypatch.setenv("IRIS_KEY", "two\nlines")
    [sentence] = refused("import", put(tmp_path / "iris", MODEL))
    assert "IRIS_KEY" in sentence
    assert "two" not in sentence


def test_a_servers_secret_is_only_the_name_of_a_variable(tmp_path: Path):
    config = (
        "capabilities:\n  mcp_servers:\n    - name: git\n      env:\n        GIT_TOKEN: hidden\n"
    )
    [sentence] = refused("import", put(tmp_path / "iris", config))
    assert "line 5: capabilities.mcp_servers[0].env.GIT_TOKEN must be a variable" in sentence
    assert "hidden" not in sentence
