"""Adapter of Moltbook, live site and open-source server. Reader only."""

from surfaces.adapters.moltbook.reader import Moltbook as Moltbook
