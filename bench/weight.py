"""What a first load of the home page weighs, and that none of it comes from elsewhere."""

from __future__ import annotations

import gzip
import re
import sys

from bench.world import scratch_database

PROMISED = 120_000  # bytes


def main() -> tuple[str, float, str]:
    from django.contrib.staticfiles import finders
    from django.test import Client

    from tests.factories import make_operator

    client = Client()
    client.force_login(make_operator())
    page = client.get("/").content
    names = set(re.findall(rb'(?:src|href)="/static/([^"#?]+)', page))
    sizes = {"the page": len(gzip.compress(page))}
    for name in names:
        path = finders.find(name.decode())
        with open(path, "rb") as file:
            sizes[name.decode()] = len(gzip.compress(file.read()))
    elsewhere = re.findall(rb'(?:src|href)="(https?:)?//[^"]+', page)
    assert not elsewhere, elsewhere
    total = sum(sizes.values())
    return (
        "page weight of home, gzipped, against 120 kB",
        total / PROMISED,
        f"{total / 1000:.0f} kB in {len(sizes)} parts, none from elsewhere; promise ≤ 1",
    )


if __name__ == "__main__":
    with scratch_database():
        sys.stdout.write(f"{main()}\n")
