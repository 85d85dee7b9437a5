"""The hub: the built-in one, or a remote one that serves the same contract. Listening only."""

from surfaces.adapters.hub.reading import Hub

__all__ = ["Hub"]
