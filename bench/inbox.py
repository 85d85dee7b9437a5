"""The messages page over 1,000,000 rows and over 10,000, any filter, any page."""

from __future__ import annotations

import re
import sys
from typing import Any

from bench import beside
from bench.beside import Timed
from bench.world import fill, scratch_database

SMALL, LARGE = 10_000, 1_000_000
FILTERS = {
    "no filter": "",
    "one account": "account={account}",
    "incoming": "direction=incoming",
    "our own": "direction=outgoing",
    "posts": "kind=post",
    "suspect": "spam_status=suspect",
    "spam": "spam_status=spam",
    "clean": "spam_status=clean",
    "failed": "reply_status=failed",
    "sent": "reply_status=sent",
    "waiting": "waiting=1",
    "one author": "author=author77",
    "one community": "community=community7",
    "common word": "q=reef",
    "rare word": "q=narwhal",
    "two words": "q=word77+moon7",
    "spam in a community": "spam_status=spam&community=community7",
}
PAGES = 8  # pages walked down each filter
TIMES = 3
FEWEST = 20  # samples of a filter with few pages


def main() -> list[tuple[str, float, str]]:
    from django.test import Client

    from tests.factories import make_account, make_operator

    account = make_account()
    client = Client()
    client.force_login(make_operator(role="admin"))
    admin = beside.admin_list(account)
    fill(account.pk, SMALL, tag="s")
    few = measure(client, account.pk, admin)
    fill(account.pk, LARGE - SMALL, tag="l")
    many = measure(client, account.pk, admin)
    beside.print_pages(few, many)
    return beside.compare("messages, any filter, any page", few, many, FILTERS)


def measure(client: Any, account_id: int, admin: str) -> dict[str, Timed]:
    """The pages under each filter, walked down by the page's own links."""
    found = {}
    for name, query in FILTERS.items():
        timed = found[name] = Timed()
        url = "/messages/?" + query.format(account=account_id)
        client.get(url)
        for _ in range(PAGES):
            page = beside.time_page(client, url, admin, timed, TIMES)
            older = re.search(r'rel="next"[^>]*href="([^"]+)"|href="([^"]+)"[^>]*rel="next"', page)
            if not older:
                break
            path = (older[1] or older[2]).replace("&amp;", "&")
            url = path if path.startswith("/") else f"/messages/{path}"
        beside.time_page(client, url, admin, timed, max(0, FEWEST - len(timed.ours)))
    return found


if __name__ == "__main__":
    with scratch_database():
        sys.stdout.write(f"{main()}\n")
