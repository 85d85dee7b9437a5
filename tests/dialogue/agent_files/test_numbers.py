"""A number that is written to a file can be read again, however many places it has."""

from __future__ import annotations

from pathlib import Path

import pytest

from dialogue.models import AgentSettings
from tests.dialogue.agent_files.factories import put, run

pytestmark = pytest.mark.django_db


def test_the_longest_number_that_we_write_comes_back_the_same(tmp_path: Path):
    put(tmp_path / "iris", "name: iris\n")
    run("import", tmp_path / "iris")
    AgentSettings.objects.update(temperature=0.00036797527420606724)
    run("export", tmp_path / "out")
    AgentSettings.objects.update(temperature=1)
    run("import", tmp_path / "out")
    assert AgentSettings.objects.get().temperature == 0.00036797527420606724


@pytest.mark.parametrize(
    ("kilobytes", "written"),
    [(1, "0.0009765625"), (256, "0.25"), (100, "0.09765625"), (102_400, "100")],
)
def test_a_size_in_megabytes_loses_no_kilobyte(tmp_path: Path, kilobytes: int, written: str):
    run("import", put(tmp_path / "iris", "name: iris\n"))
    AgentSettings.objects.update(memory_kilobytes=kilobytes)
    run("export", tmp_path / "out")
    assert f"max_size_mb: {written}\n" in (tmp_path / "out/iris/config.yaml").read_text()
    AgentSettings.objects.update(memory_kilobytes=7)
    run("import", tmp_path / "out")
    assert AgentSettings.objects.get().memory_kilobytes == kilobytes
