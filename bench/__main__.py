"""Run every bench and print the promises as ratios, measured side by side in one run."""

from __future__ import annotations

import sys

from bench import (
    answering,
    choosing,
    claiming,
    desk,
    hostile,
    inbox,
    live,
    sending,
    serving,
    storing,
    watching,
    weight,
)  # fmt: skip
from bench.world import scratch_database

BENCHES = [
    watching, hostile, storing, sending, weight, choosing, claiming, answering, inbox, desk, live,
    serving,
]  # fmt: skip


def main() -> None:
    wanted = sys.argv[1:]
    for bench in BENCHES:
        if wanted and bench.__name__.split(".")[1] not in wanted:
            continue
        with scratch_database():
            found = bench.main()
        for name, ratio, words in found if isinstance(found, list) else [found]:
            sys.stdout.write(f"{name}: {ratio:.3f}   ({words})\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main()
