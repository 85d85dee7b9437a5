"""One hostile service among 50 accounts, and the memory of a watcher against every such answer.

A watcher runs as a process of its own, as an operator runs it; the services run in another, so that
its memory is its own.
"""

from __future__ import annotations

import multiprocessing
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection
from pathlib import Path
from time import perf_counter, sleep

ACCOUNTS = 50
LATE = 60.0  # seconds: a round on time begins within a fifth of its interval of 5 minutes
MOST_MEGABYTES = 150
BOMB = 1024  # megabytes that a packed answer unpacks to
WATCH = """
import os, django
os.environ["DJANGO_SETTINGS_MODULE"] = "config.settings"
from django.conf import settings
settings.DATABASES["default"]["NAME"] = {name!r}
django.setup()
from django.core.management import call_command
call_command("watch")
"""


def main() -> list[tuple[str, float, str]]:
    return [_among_fifty(), *_memory()]


def _serve(attacks: list[str], good: int, tells: Connection) -> None:
    """The services, in a process of their own: hostile ones, and one Moltbook with `good` keys."""
    from tests.fakes.hostile import Hostile
    from tests.fakes.moltbook import FakeMoltbook

    moltbook = FakeMoltbook().start()
    keys = [moltbook.add_agent(f"good_{number}") for number in range(good)]
    for number in range(good):
        moltbook.add_post(f"good_{number}", "On tides")
    fakes = [Hostile(attack, bomb=BOMB).start() for attack in attacks]
    tells.send((moltbook.url, keys, [fake.root for fake in fakes]))
    while True:
        sleep(1)


@contextmanager
def _services(attacks: list[str], good: int = 0) -> Iterator[tuple[str, list[str], list[str]]]:
    context = multiprocessing.get_context("spawn")
    hears, tells = context.Pipe(duplex=False)
    process = context.Process(target=_serve, args=[attacks, good, tells], daemon=True)
    process.start()
    try:
        yield hears.recv()
    finally:
        process.kill()


@contextmanager
def _watcher() -> Iterator[subprocess.Popen[bytes]]:
    from django.db import connection

    code = WATCH.format(name=connection.settings_dict["NAME"])
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.DEVNULL)
    try:
        yield process
    finally:
        process.terminate()
        process.wait()


def _among_fifty() -> tuple[str, float, str]:
    """How late the last good round begins, beside a service that trickles its headers."""
    from surfaces.models import WatchRound
    from tests.factories import make_account, make_surface

    with _services(["slow headers"], ACCOUNTS - 1) as (url, keys, [hostile]):
        make_account(surface=make_surface(base_url=hostile + "/api/v1"), name="hostile", handle="")
        surface = make_surface(base_url=url)
        for number, key in enumerate(keys):
            make_account(surface=surface, name=f"good {number}", handle="", token=key)
        _make_due()
        good = WatchRound.objects.exclude(account__name="hostile").filter(outcome="")
        began = perf_counter()
        with _watcher():
            while good.count() < len(keys) and perf_counter() - began < 10 * LATE:
                sleep(0.1)
        took = perf_counter() - began
        assert good.count() == len(keys), f"{good.count()} of {len(keys)} rounds"
    return (
        f"a service that trickles among {ACCOUNTS} accounts: share of the time others may wait",
        took / LATE,
        f"the other {len(keys)} read in {took:.1f} s, start of the process included;"
        f" promise ≤ {LATE:.0f} s",
    )


def _make_due() -> None:
    from django.utils import timezone

    from surfaces.models import Account

    # The hostile one first.
    Account.objects.update(next_watch_at=timezone.now(), watch_lease_until=None)


def _memory() -> list[tuple[str, float, str]]:
    """Let one watcher read one hostile service after the other, then all of them at once."""
    from surfaces.models import Account, WatchRound
    from tests.factories import make_account, make_surface
    from tests.fakes.hostile import ATTACKS, SLOW

    Account.objects.update(is_on=False)
    quick = [name for name in ATTACKS if name not in SLOW]
    found: dict[str, float] = {}
    with _services(quick) as (_, _, roots), _watcher() as process:
        for name, root in zip(["nothing", *quick], [roots[0], *roots], strict=True):
            # Nobody listens at port 9; that first round loads what every round needs.
            url = "http://127.0.0.1:9" if name == "nothing" else root
            make_account(surface=make_surface(base_url=url + "/api/v1"), name=name, handle="")
            found[name] = _peak_of(process, WatchRound.objects.count() + 1)
        _make_due()
        found["all at once"] = _peak_of(process, WatchRound.objects.count() + len(found))
    for name, megabytes in found.items():
        sys.stderr.write(f"  {name:22} {megabytes:6.1f} MB\n")
    together = found.pop("all at once")
    worst = max(found, key=lambda name: found[name])
    promise = f"promise ≤ {MOST_MEGABYTES} MB; without any: {found['nothing']:.0f} MB"
    return [
        (
            f"memory of a watcher, worst of {len(quick)} hostile answers, share of the promise",
            found[worst] / MOST_MEGABYTES,
            f"{found[worst]:.0f} MB at {worst!r}; {promise}",
        ),
        (
            f"memory of a watcher, {len(quick)} hostile services at once, share of the same",
            together / MOST_MEGABYTES,
            f"{together:.0f} MB, eight rounds at once; no promise, but bounded",
        ),
    ]


def _peak_of(process: subprocess.Popen[bytes], rounds: int) -> float:
    """The most megabytes that the process held until so many rounds were written down."""
    from surfaces.models import WatchRound

    own = Path(f"/proc/{process.pid}")
    (own / "clear_refs").write_text("5")  # begins the kernel's highest mark anew
    began = perf_counter()
    while WatchRound.objects.count() < rounds:
        assert perf_counter() - began < 300, "the round did not end"
        sleep(0.02)
    lines = (own / "status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) / 1024
