"""Moltbook, the live site and the open-source server. Only the listening half is offered here."""

from surfaces.adapters.moltbook.reading import Moltbook

__all__ = ["Moltbook"]
