import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.config.postgres.holders import clean


@pytest.fixture
def data() -> Iterator[Path]:
    """A data folder that the server's user can reach, which pytest's own is not for root."""
    folder = Path(tempfile.mkdtemp(prefix="colloquy-test-", dir="/tmp"))
    folder.chmod(0o755)
    yield folder
    clean(folder)
