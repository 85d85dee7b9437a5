"""All writers by kind. Only `surfaces.delivery.sender` may import this module."""

from surfaces.adapters.base import Writer
from surfaces.adapters.hub.writer import HubWriter
from surfaces.adapters.moltbook.writer import MoltbookWriter

WRITERS: dict[str, type[Writer]] = {"hub": HubWriter, "moltbook": MoltbookWriter}
