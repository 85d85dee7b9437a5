"""How long a task of the queue goes on with more work."""

import time
from collections.abc import Callable

TASK_SECONDS = 45.0  # the next of its kind is due after 60


def end_of_task(seconds: float = TASK_SECONDS) -> Callable[[], bool]:
    """Return a function that is true once the task should take up nothing more."""
    ends_at = time.monotonic() + seconds
    return lambda: time.monotonic() >= ends_at
