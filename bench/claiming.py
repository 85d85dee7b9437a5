"""Claiming the most urgent agents, against a Redis BRPOP + SET NX pair per agent.

Our claim chooses among agents that may work, leases each with a fencing number, and starts its
activation; Redis pops from a list that nobody orders. It is as durable as we are: `appendfsync
always`, on the same disk. Each side has its claimers in processes of their own; each agent is
claimed exactly once. A process of ours claims for all of its workers that are free at that moment:
64 here, the most that `activate --workers` may have, and one in the last line.
"""

from __future__ import annotations

import multiprocessing
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from bench.world import NOON, maintain, scratch_database

CLAIMERS = ((1, 64), (4, 64), (16, 64), (1, 1))  # processes, free workers of each
AGENTS, KEYS = 90_000, 200_000  # more than can be claimed in the time
SECONDS = 4.0


def main() -> list[tuple[str, float, str]]:
    from tests.crowds import ask_all, make_crowd

    found = []
    ask_all(make_crowd(AGENTS, tag="claimed"))
    with redis_server() as port:
        for claimers, workers in CLAIMERS:
            maintain("VACUUM ANALYZE")
            ours = claims_a_second(claimers, claim_rows, workers)
            check_claims()
            fill_redis(port)
            theirs = claims_a_second(claimers, claim_keys, port)
            found.append((
                f"claims by {claimers} at once with {workers} free workers, against BRPOP + SET NX",
                ours / theirs, f"{ours:,.0f} a second against {theirs:,.0f}",
            ))  # fmt: skip
    return found


def claims_a_second(claimers: int, work: Callable[..., None], *given: Any) -> float:
    """Claims of all processes together."""
    from django.db import connections

    connections.close_all()
    fork = multiprocessing.get_context("fork")
    barrier, claimed = fork.Barrier(claimers), fork.Value("i", 0)
    processes = [
        fork.Process(target=work, args=(f"claimer {n}", barrier, claimed, *given))
        for n in range(claimers)
    ]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    return claimed.value / SECONDS


def claim_rows(claimer: str, barrier: Any, claimed: Any, workers: int) -> None:
    from django.db import connection

    from dialogue.activations.services import claim

    names = [f"{claimer}, worker {n}" for n in range(workers)]
    claim(workers=names, now=NOON)  # what is compiled once is compiled
    barrier.wait(60)
    ends_at = time.monotonic() + SECONDS
    while time.monotonic() < ends_at:
        found = claim(workers=names, now=NOON)
        assert len(found) == workers, "no agent is left"
        with claimed.get_lock():
            claimed.value += workers
    connection.close()


def claim_keys(worker: str, barrier: Any, claimed: Any, port: int) -> None:
    import redis

    server = redis.Redis(port=port)
    server.ping()
    barrier.wait(60)
    ends_at = time.monotonic() + SECONDS
    while time.monotonic() < ends_at:
        if found := server.brpop("agents", timeout=1):
            assert server.set(b"lease:" + found[1], worker, nx=True, ex=300)
            with claimed.get_lock():
                claimed.value += 1


def check_claims() -> None:
    """Each agent is in one hand, by its first fencing number."""
    from dialogue.models import Activation, Agent

    rows = list(Activation.objects.values_list("agent", "number"))
    assert len(rows) == len({agent for agent, _ in rows}), "an agent was claimed twice"
    assert {number for _, number in rows} == {1}
    assert not Agent.objects.filter(claims__gt=1).exists()


@contextmanager
def redis_server() -> Iterator[int]:
    """A server of our own that writes each command to the disk before it answers."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    from django.conf import settings

    with tempfile.TemporaryDirectory(prefix="redis-", dir=Path(settings.DATA_DIR)) as folder:
        server = subprocess.Popen(
            ["redis-server", "--port", str(port), "--bind", "127.0.0.1", "--dir", folder,
             "--appendonly", "yes", "--appendfsync", "always", "--save", ""],
            stdout=subprocess.DEVNULL,
        )  # fmt: skip
        try:
            wait_for(port)
            yield port
        finally:
            server.terminate()
            server.wait(10)


def wait_for(port: int) -> None:
    import redis

    for _ in range(100):
        try:
            redis.Redis(port=port).ping()
        except redis.ConnectionError:
            time.sleep(0.1)
        else:
            return
    raise RuntimeError("redis-server did not start")


def fill_redis(port: int) -> None:
    import redis

    server = redis.Redis(port=port)
    server.flushall()
    server.lpush("agents", *range(KEYS))


if __name__ == "__main__":
    with scratch_database():
        sys.stdout.write(f"{main()}\n")
