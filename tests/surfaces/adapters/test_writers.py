"""Every service that is read can be written, and the other way round."""

from __future__ import annotations

from surfaces.adapters import READERS
from surfaces.adapters.writers import WRITERS


def test_every_service_has_a_reader_and_a_writer():
    assert READERS.keys() == WRITERS.keys()
