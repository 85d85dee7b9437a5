"""Signs of life of what we do not loop ourselves: web processes, and workers of the queue."""

from multiprocessing.util import Finalize
from typing import Any

from django.utils import timezone
from django_q.signals import post_execute_in_worker, post_spawn, pre_execute

from surfaces.workers.heartbeat import Heartbeat

ENDS_FIRST = 10  # before the process lets go of what a last statement needs


def web_heartbeat() -> Heartbeat:
    """Call it once per process that answers; who called ends it, too."""
    beat = Heartbeat("web", clock=timezone.now)
    beat.start()
    return beat


def cluster_heartbeat() -> None:
    """Listen for the queue's workers. Each is a process of its own, forked when it pleases."""
    post_spawn.connect(_begin, dispatch_uid="sign of life")


def _begin(proc_name: str = "", **facts: Any) -> None:
    beat = Heartbeat("tasks", clock=timezone.now, name=proc_name)
    beat.start()
    Finalize(None, beat.end, exitpriority=ENDS_FIRST)

    def works(task: Any, **facts: Any) -> None:
        beat.doing(str(task.get("name") or task.get("func")))

    def rests(**facts: Any) -> None:
        beat.doing("")

    # Kept alive by us: the queue holds its listeners weakly.
    pre_execute.connect(works, weak=False)
    post_execute_in_worker.connect(rests, weak=False)
