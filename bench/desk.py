"""The desk and its neighbours over 1,000,000 messages and 20,000 waiting items, against 1/100."""

from __future__ import annotations

import re
import sys
from itertools import chain
from statistics import median
from time import perf_counter

from bench.world import fill, p95, scratch_database

SMALL, LARGE = (10_000, 200), (1_000_000, 20_000)  # messages, and what waits besides
DESK = {
    "everything": "",
    "risk first": "order=risk",
    "newest": "order=newest",
    "drafts": "kind=draft",
    "suspects": "kind=suspect",
    "given up": "kind=given_up",
    "high risk": "risk=high",
    "one agent": "agent=agent3",
    "one surface": "surface={surface}",
    "over a day": "age=1d",
    "words": "q=word77",
    "rare words": "q=narwhal",
}
PAGES, TIMES = 6, 3
WAIT = """
INSERT INTO surfaces_draft (account_id, what, target_id, title, text, community, agent, origin,
    terms, pointer, exit, state, made_by, made_at, decided_by, approved_digest, why, judged,
    was_edited, stale_why, sendings, claim_number, claimed_by, key, remote_id, looks, absences,
    needs_person, sender_died)
SELECT account_id, 'reply', id, '', 'Yes, and what would you leave out of it? ' || content, '',
    'agent' || id %% 7, 'model', '', '', '',
    CASE WHEN id %% 10 = 0 THEN 'failed' ELSE 'waiting' END,
    'agent:agent' || id %% 7, now() - (id %% 90000) * interval '1 second', '', '', 'Asks.', '',
    false, CASE WHEN id %% 9 = 0 THEN 'The comment was edited.' ELSE '' END, 0, 0, '',
    gen_random_uuid(), '', 0, 0, false, false
FROM messages m WHERE kind = 'comment' AND direction = 'incoming' AND reply_status IS NULL
    AND spam_status IS NULL AND NOT EXISTS (SELECT FROM surfaces_draft d WHERE d.target_id = m.id)
ORDER BY id DESC LIMIT %s
"""


def main() -> list[tuple[str, float, str]]:
    from django.test import Client

    from tests.factories import make_account, make_operator

    account = make_account()
    client = Client()
    client.force_login(make_operator(role="admin"))
    _fill(account.pk, *SMALL, tag="s")
    few = measure(client, account)
    _fill(account.pk, LARGE[0] - SMALL[0], LARGE[1] - SMALL[1], tag="l")
    many = measure(client, account)
    for name in few:
        middles = f"{median(few[name]):6.1f} ms  {median(many[name]):6.1f} ms"
        sys.stderr.write(f"  {name:22} {middles}   p95 {p95(many[name]):6.1f} ms\n")
    views = [f"desk: {name}" for name in DESK]
    others = [name for name in few if name not in views]
    return [
        _told("desk, any filter, any page", few, many, views),
        _told("other pages", few, many, others),
    ]


def _told(what: str, few: dict, many: dict, names: list[str]) -> tuple[str, float, str]:
    small, large = (p95([*chain.from_iterable(found[n] for n in names)]) for found in (few, many))
    worst = max(names, key=lambda name: p95(many[name]))
    return (
        f"{what}: 1,000,000 messages and 20,000 waiting against 1/100, p95",
        large / small,
        f"{large:.1f} ms against {small:.1f} ms; slowest: {worst}, p95 {p95(many[worst]):.1f} ms;"
        " promise ≤ 1.5 and < 60 ms",
    )


def _fill(account_id: int, messages: int, waiting: int, *, tag: str) -> None:
    from django.db import connection

    fill(account_id, messages, tag=tag)
    with connection.cursor() as cursor:
        cursor.execute(WAIT, [waiting])
        cursor.execute("VACUUM ANALYZE surfaces_draft")
        cursor.execute("VACUUM ANALYZE desk_items")


def measure(client, account) -> dict[str, list[float]]:
    """Times in ms of each view, walked down by its own links, and of the pages around it."""
    found = {}
    for name, query in DESK.items():
        url = "/desk/?" + query.format(surface=account.surface.slug)
        found[f"desk: {name}"] = _walked(client, url)
    for name, url in _others():
        client.get(url)
        found[name] = [_timed(client, url)[0] for _ in range(10)]
    return found


def _others() -> list[tuple[str, str]]:
    from surfaces.models import DeskItem, Message

    items = [(kind, DeskItem.objects.filter(kind=kind).first()) for kind in ("draft", "suspect")]
    thread = Message.objects.posts().order_by("-pk").first()
    assert thread is not None
    pages = [(f"item: {kind}", f"/desk/{kind}/{item.item_id}/") for kind, item in items if item]
    pages += [("home", "/"), ("threads", "/threads/"), ("thread", f"/threads/{thread.pk}/")]
    return [
        *pages, ("drafts", "/drafts/"), ("spam filter", "/spam-filter/"), ("agents", "/agents/")
    ]  # fmt: skip


def _walked(client, url: str) -> list[float]:
    samples = []
    client.get(url)
    for _ in range(PAGES):
        timed = [_timed(client, url) for _ in range(TIMES)]
        samples += [time for time, _ in timed]
        more = re.search(r'href="(/desk/\?[^"]*after=[^"]+)"', timed[0][1])
        if not more:
            break
        url = more[1].replace("&amp;", "&")
    return samples


def _timed(client, url: str) -> tuple[float, str]:
    started = perf_counter()
    page = client.get(url)
    took = (perf_counter() - started) * 1000
    assert page.status_code == 200, (url, page.status_code)
    return took, page.content.decode()


if __name__ == "__main__":
    with scratch_database():
        sys.stdout.write(f"{main()}\n")
