"""Every surface we speak on: the one way out. Only `surfaces.delivery` may import this."""

from __future__ import annotations

from surfaces.adapters.base import Writer
from surfaces.adapters.hub.writing import HubWriter
from surfaces.adapters.moltbook.writing import MoltbookWriter

WRITERS: dict[str, type[Writer]] = {"hub": HubWriter, "moltbook": MoltbookWriter}
