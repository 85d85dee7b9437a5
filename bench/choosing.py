"""Choosing among 10,000 agents with notifications and 10,000 stale ones, against reading all."""

from __future__ import annotations

import re
import sys
from collections import Counter
from datetime import timedelta
from statistics import median
from typing import Any

from bench.world import NOON, maintain, p95, scratch_database, seconds

AGENTS = 10_000
LIMIT = 25  # agents chosen at once
TIMES = 60
INDEXES = {"notification": "agent_priority", "exploration": "agent_stalest"}


def main() -> list[tuple[str, float, str]]:
    from dialogue.activations import choosing

    populate()
    found = []
    for world, words in (("mixed", "every 5th is out"), ("worst", "the first half is out")):
        if world == "worst":
            send_out_the_first_half()
        maintain("VACUUM ANALYZE")
        for kind, choose, read_all in (
            ("notification", choosing.notification_work, all_pending),
            ("exploration", choosing.exploration_work, all_stale),
        ):
            plan = explain(choose)
            assert world == "worst" or INDEXES[kind] in plan, plan
            ours, theirs = [], []
            for n in range(TIMES):  # in turns, so that other work meets both
                ours.append(seconds(lambda f=choose: f(now=NOON, limit=LIMIT)))
                if n % 10 == 0:
                    theirs.append(seconds(read_all))
            took, slow, reading = median(ours) * 1000, p95(ours) * 1000, median(theirs) * 1000
            found.append((
                f"choosing for {kind} among {AGENTS:,} and {AGENTS:,} agents, {words}, against"
                " reading all",
                took / reading,
                f"{took:.1f} ms, p95 {slow:.1f}, planned and run by the server in"
                f" {server_ms(plan):.1f} ms; reading all {reading:.1f} ms",
            ))  # fmt: skip
    return found


def populate() -> None:
    """Half have something due, half explore; some are out, all spend money."""
    from dialogue.models import Agent, AgentSettings, Spending
    from surfaces.models import Account, Pause
    from tests.crowds import ask_all, make_crowd

    pending = make_crowd(AGENTS, tag="asked", voice="model")
    ask_all(pending, at=NOON - timedelta(minutes=1))
    ask_all(pending[::3], at=NOON - timedelta(minutes=2))
    stale = make_crowd(AGENTS, tag="idle", voice="model", explores=True)
    for crowd in (pending, stale):
        slugs = [place.agent.slug for place in crowd]
        ids = [place.agent_id for place in crowd]
        Agent.objects.filter(pk__in=ids[::20]).update(backs_off_until=NOON + timedelta(hours=1))
        AgentSettings.objects.filter(agent__in=ids[1::20]).update(is_autonomous=False)
        Account.objects.filter(presences__agent__in=ids[2::20]).update(mode="off")
        Agent.objects.filter(pk__in=ids[4::20]).update(active_from="13:00", active_to="18:00")
        Agent.objects.filter(pk__in=ids[5::20]).update(active_from="22:00", active_to="13:00")
        days = [("day", NOON.date()), ("month", NOON.date().replace(day=1))]
        Spending.objects.bulk_create(
            Spending(owner=f"agent:{slug}", period=period, starts=starts, tokens=5,
                     money=n % 20 // 19)
            for n, slug in enumerate(slugs) for period, starts in days
        )  # fmt: skip
        Pause.objects.bulk_create(
            Pause(scope="agent", subject=slug, by="operator:mira", since=NOON)
            for slug in slugs[:20]
        )
    were = [place.agent_id for place in stale[::2]]
    for n in range(100):
        at = NOON - timedelta(minutes=5 * n)
        Agent.objects.filter(pk__in=were[n::100]).update(last_activated_at=at)


def send_out_the_first_half() -> None:
    from dialogue.activations import choosing
    from dialogue.models import Agent

    for choose in (choosing.notification_work, choosing.exploration_work):
        first = choose(now=NOON, limit=AGENTS // 2)
        Agent.objects.filter(pk__in=first).update(backs_off_until=NOON + timedelta(hours=1))


def explain(choose: Any) -> str:
    from django.db import connection
    from django.test.utils import CaptureQueriesContext

    with CaptureQueriesContext(connection) as queries:
        choose(now=NOON, limit=LIMIT)
    [query] = queries.captured_queries
    with connection.cursor() as cursor:
        cursor.execute("EXPLAIN ANALYZE " + query["sql"].replace("%", "%%"))
        plan = "\n".join(line for (line,) in cursor.fetchall())
    sys.stderr.write(f"{plan}\n" if "-v" in sys.argv else "")
    return plan


def server_ms(plan: str) -> float:
    return sum(float(ms) for ms in re.findall(r"(?:Planning|Execution) Time: ([\d.]+) ms", plan))


def all_pending() -> list[int]:
    """What comes to mind first: read what is unread, and count."""
    from dialogue.models import Notification

    unread, oldest = Counter(), {}
    for agent, made_at in Notification.objects.due(NOON).values_list("agent", "made_at"):
        unread[agent] += 1
        oldest[agent] = min(oldest.get(agent, made_at), made_at)
    waited = timedelta(minutes=5)
    return sorted(unread, key=lambda pk: oldest[pk] - unread[pk] * waited)[:LIMIT]


def all_stale() -> list[int]:
    from dialogue.models import Agent

    rows = Agent.objects.filter(settings__explores=True).values_list("pk", "last_activated_at")
    never = NOON - timedelta(days=9_999)
    return [pk for pk, at in sorted(rows, key=lambda row: row[1] or never)][:LIMIT]


if __name__ == "__main__":
    with scratch_database():
        sys.stdout.write(f"{main()}\n")
