"""The desk and every other page over 1,000,000 messages and 20,000 items, and over 1/100.

As many tool calls wait besides.
"""

from __future__ import annotations

import re
import sys
from typing import Any

from bench import beside
from bench.beside import Timed
from bench.world import ask_for_calls, fill, maintain, scratch_database

SMALL, LARGE = (10_000, 200), (1_000_000, 20_000)  # messages, and what waits besides
DESK = {
    "everything": "",
    "risk first": "order=risk",
    "newest": "order=newest",
    "drafts": "kind=draft",
    "suspects": "kind=suspect",
    "given up": "kind=given_up",
    "tool calls": "kind=tool_call",
    "high risk": "risk=high",
    "one agent": "agent=agent3",
    "one surface": "surface={surface}",
    "over a day": "age=1d",
    "words": "q=word77",
    "rare words": "q=narwhal",
}
PLAIN = [
    *("drafts", "agents", "activations", "stones", "spam-filter", "surfaces", "ledger", "notices"),
    *("settings", "settings/house", "settings/operators", "settings/keys", "settings/notices"),
]
ITEMS = ("draft", "suspect", "tool_call")
PAGES, TIMES, FEWEST = 6, 3, 20
WAIT = """
INSERT INTO surfaces_draft (account_id, what, target_id, title, text, community, agent, origin,
    terms, pointer, exit, state, made_by, made_at, decided_by, approved_digest, why, judged,
    was_edited, stale_why, sendings, claim_number, claimed_by, key, remote_id, looks, absences,
    needs_person, sender_died, settled_absent, waits_for, written_for)
SELECT account_id, 'reply', id, '', 'Yes, and what would you leave out of it? ' || content, '',
    'agent' || id %% 7, 'model', '', '', '',
    CASE WHEN id %% 10 = 0 THEN 'failed' ELSE 'waiting' END,
    'agent:agent' || id %% 7, now() - (id %% 90000) * interval '1 second', '', '',
    '{"code": "note", "text": "Asks."}'::jsonb, '',
    false, CASE WHEN id %% 9 = 0 THEN '{"code": "note", "text": "The comment was edited."}'::jsonb
        ELSE '{}'::jsonb END, 0, 0, '',
    gen_random_uuid(), '', 0, 0, false, false, false, '', ''
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
    admin = beside.admin_list(account)
    _fill(account, *SMALL, tag="s")
    few = measure(client, account, admin)
    _fill(account, LARGE[0] - SMALL[0], LARGE[1] - SMALL[1], tag="l")
    many = measure(client, account, admin)
    beside.print_pages(few, many)
    views = [f"desk: {name}" for name in DESK]
    others = [name for name in few if name not in views]
    return [
        *beside.compare("desk, any filter, any page", few, many, views),
        *beside.compare("other pages", few, many, others),
    ]


def _fill(account: Any, messages: int, waiting: int, *, tag: str) -> None:
    from django.db import connection

    fill(account.pk, messages, tag=tag)
    ask_for_calls(account, waiting)
    with connection.cursor() as cursor:
        cursor.execute(WAIT, [waiting])
    maintain("VACUUM ANALYZE surfaces_draft, desk_items")


def measure(client: Any, account: Any, admin: str) -> dict[str, Timed]:
    """Each view, walked down by its own links, and the pages around it."""
    found = {}
    for name, query in DESK.items():
        url = "/desk/?" + query.format(surface=account.surface.slug)
        found[f"desk: {name}"] = _walked(client, url, admin)
    for name, url in _others(account):
        client.get(url)
        timed = found[name] = Timed()
        beside.time_page(client, url, admin, timed, FEWEST)
    return found


def _others(account: Any) -> list[tuple[str, str]]:
    from surfaces.models import DeskItem, Message

    items = [(kind, DeskItem.objects.filter(kind=kind).first()) for kind in ITEMS]
    thread = Message.objects.posts().order_by("-pk").first()
    assert thread is not None
    return [
        *((f"item: {kind}", f"/desk/{kind}/{item.item_id}/") for kind, item in items if item),
        ("home", "/"),
        ("threads", "/threads/"),
        ("thread", f"/threads/{thread.pk}/"),
        ("account", f"/accounts/{account.pk}/"),
        *((path.replace("-", " "), f"/{path}/") for path in PLAIN),
        ("profile", "/me"),
    ]


def _walked(client: Any, url: str, admin: str) -> Timed:
    timed = Timed()
    client.get(url)
    for _ in range(PAGES):
        page = beside.time_page(client, url, admin, timed, TIMES)
        more = re.search(r'href="(/desk/\?[^"]*after=[^"]+)"', page)
        if not more:
            break
        url = more[1].replace("&amp;", "&")
    beside.time_page(client, url, admin, timed, max(0, FEWEST - len(timed.ours)))
    return timed


if __name__ == "__main__":
    with scratch_database():
        sys.stdout.write(f"{main()}\n")
