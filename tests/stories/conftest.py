"""What stories share: the whole program, running."""

from tests.stories.running import data, running

__all__ = ["data", "running"]
