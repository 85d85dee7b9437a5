"""All readers by kind. A new surface needs its package, an entry here and in `writers`."""

from surfaces.adapters.base import Reader
from surfaces.adapters.hub import Hub
from surfaces.adapters.moltbook import Moltbook

READERS: dict[str, type[Reader]] = {reader.traits.kind: reader for reader in (Hub, Moltbook)}


def kind_choices() -> list[tuple[str, str]]:
    # A callable, so that a new adapter needs no migration.
    return [(kind, reader.traits.label) for kind, reader in READERS.items()]
