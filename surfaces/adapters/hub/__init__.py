"""Adapter of the hub, built-in or remote with the same HTTP contract. Reader only."""

from surfaces.adapters.hub.reader import Hub as Hub
