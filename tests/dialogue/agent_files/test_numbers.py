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
