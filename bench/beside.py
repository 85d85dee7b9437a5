"""Time pages beside the list of 50 messages of Django's own admin, request by request."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from itertools import chain
from statistics import median
from time import perf_counter
from typing import Any

from bench.world import fill, p95

LISTED = 50  # messages on the admin's list; our own lists show as many, or fewer with more each
PROMISE = "promise ≤ 1"
Statistic = Callable[[list[float]], float]


@dataclass
class Timed:
    """Times in ms of one page, and of the admin's list right before each."""

    ours: list[float] = field(default_factory=list)
    admins: list[float] = field(default_factory=list)

    def ratio(self, statistic: Statistic) -> float:
        return statistic(self.ours) / statistic(self.admins)


def admin_list(account: Any) -> str:
    """The address of an admin's list of exactly 50 messages, however many others there are."""
    from django.contrib import admin

    from surfaces.models import Message
    from tests.factories import make_account

    # The list offers no filter by account, which would cost it a query more.
    admin.site.get_model_admin(Message).lookup_allowed = lambda *given: True
    fifty = make_account(surface=account.surface, name="fifty")
    fill(fifty.pk, LISTED, tag="fifty", each=LISTED // 2 - 1)
    return f"/admin/surfaces/message/?account__id__exact={fifty.pk}"


def time_page(client: Any, url: str, admin: str, timed: Timed, times: int) -> str:
    """Add `times` samples of a page to `timed`; return what it shows."""
    page = ""
    for _ in range(times):
        timed.admins.append(_request(client, admin)[0])
        took, page = _request(client, url)
        timed.ours.append(took)
    return page


def _request(client: Any, url: str) -> tuple[float, str]:
    started = perf_counter()
    page = client.get(url)
    took = (perf_counter() - started) * 1000
    assert page.status_code == 200, (url, page.status_code)
    return took, page.content.decode()


def print_pages(few: dict[str, Timed], many: dict[str, Timed]) -> None:
    for name, timed in many.items():
        sys.stderr.write(
            f"  {name:32} {median(timed.ours):6.1f} ms   against the admin's list: median"
            f" {timed.ratio(median):.2f}, p95 {timed.ratio(p95):.2f};"
            f" small {few[name].ratio(median):.2f}, {few[name].ratio(p95):.2f}\n"
        )


def compare(
    what: str, few: dict[str, Timed], many: dict[str, Timed], names: Iterable[str]
) -> list[tuple[str, float, str]]:
    """The slowest page against the admin's list, and the large world against the small one."""
    names = list(names)
    found = []
    for label, statistic in (("median", median), ("p95", p95)):
        slowest = max(names, key=lambda name: many[name].ratio(statistic))
        ratio = max(many[slowest].ratio(statistic), *(few[n].ratio(statistic) for n in names))
        shown = f"slowest: {slowest}, {statistic(many[slowest].ours):.1f} ms; {PROMISE}"
        found.append((f"{what} against Django admin's list of 50, {label}", ratio, shown))
    small, large = (_together(timed, names).ratio(p95) for timed in (few, many))
    words = f"{large:.2f} of the admin's list against {small:.2f}; promise ≤ 1.5"
    return [*found, (f"{what}, large against small, p95", large / small, words)]


def _together(timed: dict[str, Timed], names: list[str]) -> Timed:
    return Timed(
        [*chain.from_iterable(timed[name].ours for name in names)],
        [*chain.from_iterable(timed[name].admins for name in names)],
    )
