"""A scratch database for a bench, thrown away afterwards, and rows by the million."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from time import perf_counter

NOON = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)


@contextmanager
def scratch_database() -> Iterator[None]:
    """Make an empty database with all tables, and drop it at the end."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    os.environ["LOG_LEVEL"] = "ERROR"
    import django

    django.setup()
    from django.conf import settings
    from django.db import connection

    # Not Django's test environment: it keeps a copy of the context of every template rendered.
    settings.ALLOWED_HOSTS = ["*"]
    settings.EMAIL_BACKEND = "django.core.mail.backends.locmem.EmailBackend"
    old = connection.settings_dict["NAME"]
    connection.creation.create_test_db(verbosity=0, autoclobber=True)
    try:
        yield
    finally:
        connection.creation.destroy_test_db(old, verbosity=0)


def maintain(sql: str) -> None:
    """Run what only the owner of the tables may."""
    from config.postgres.base import as_owner

    with as_owner() as owner, owner.cursor() as cursor:
        cursor.execute(sql)


def seconds(work) -> float:
    started = perf_counter()
    work()
    return perf_counter() - started


def p95(samples: list[float]) -> float:
    ordered = sorted(samples)
    return ordered[min(len(ordered) - 1, int(len(ordered) * 0.95))]


FILL = """
WITH ids AS (
    SELECT n, nextval(pg_get_serial_sequence('messages', 'id')) AS id
    FROM generate_series(1, %(posts)s) n
), posts AS (
    INSERT INTO messages (id, account_id, remote_id, parent_id, post_id, created_at, kind, author,
        author_id, direction, title, content, url, submolt, raw_json, reply_attempts,
        spam_reasons, fingerprint, reply_why, seen_at, comment_count)
    SELECT id, %(account)s, 'p' || %(tag)s || n, NULL, id, now() - n * interval '97 seconds',
        'post', 'iris', '', 'outgoing', 'On tides and reefs, part ' || n, 'What is left out?', '',
        'community' || n %% 40, '{}', 0, '[]', '', '{}', now(), %(each)s
    FROM ids RETURNING id
), numbered AS (SELECT id, row_number() OVER () AS r FROM posts)
INSERT INTO messages (account_id, remote_id, parent_id, post_id, created_at, kind, author,
    author_id, direction, title, content, url, submolt, raw_json, reply_attempts, reply_status,
    spam_status, spam_score, spam_reasons, fingerprint, reply_why, seen_at)
SELECT %(account)s, 'c' || %(tag)s || r || '-' || c, NULL, id,
    now() - (r * 97 + c * 13) * interval '1 second', 'comment',
    'author' || (r * 7 + c * 13) %% 5000, '', CASE WHEN c %% 9 = 0 THEN 'outgoing' ELSE 'incoming'
    END, '', 'The tide table says word' || (r * 31 + c * 17) %% 20000 || ' and moon'
    || (r + c) %% 300 || CASE WHEN (r * %(each)s + c) %% 9973 = 0 THEN ' narwhal' ELSE '' END
    || ' but what of the reef?', '', 'community' || r %% 40, '{"score": 3}', 0,
    CASE WHEN c %% 9 = 0 THEN NULL WHEN c %% 5 < 4 THEN 'sent' WHEN (r + c) %% 400 = 0 THEN 'failed'
    END,
    CASE WHEN c %% 9 = 0 THEN NULL WHEN (r * 3 + c) %% 50 = 0 THEN 'spam'
    WHEN (r + c * 7) %% 500 = 0 THEN 'suspect' WHEN (r + c) %% 200 = 1 THEN 'clean' END,
    0.1, '[]', '', '{}', now()
FROM numbered CROSS JOIN generate_series(1, %(each)s) c
"""


def fill(account_id: int, messages: int, *, tag: str = "", each: int = 19) -> None:
    """Write `messages` rows: posts with `each` comments, in a believable mix of states."""
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute(
            FILL,
            {"account": account_id, "posts": messages // (each + 1), "each": each, "tag": tag},
        )
    maintain("VACUUM ANALYZE messages")


def ask_for_calls(account, waiting: int) -> None:
    """Let an agent wait for approval of so many tool calls, every ninth with words of others."""
    from dialogue.models import Activation, ActivationItem, Presence, ToolCall
    from tests.factories import make_presence

    presence = Presence.objects.filter(account=account).first() or make_presence(account=account)
    now, number = datetime.now(UTC), Activation.objects.filter(agent=presence.agent).count() + 1
    activation = Activation.objects.create(
        agent=presence.agent, presence=presence, purpose="task", why="bench", state="waiting",
        number=number, worker="bench", lease_until=now, started_at=now,
    )  # fmt: skip
    items = ActivationItem.objects.bulk_create(
        [ActivationItem(activation=activation, position=number, state="waiting")
         for number in range(waiting)],
        batch_size=1_000,
    )  # fmt: skip
    stranger = {"content": [{"kind": "message", "id": "1", "author": "mallory", "trust": 0}]}
    ToolCall.objects.bulk_create(
        [ToolCall(
            agent=presence.agent, presence=presence, activation=activation, item=item,
            call_id=f"call-{number}", tool="hub_post", risk="publish", state="waiting",
            arguments={"content": f"The tide table says word{number}", "reply_to": str(number)},
            sources=stranger if number % 9 == 0 else {}, digest=f"{number:064}",
            why="Its policy asks an operator to publish.",
            made_at=now - timedelta(seconds=number), expires_at=now + timedelta(hours=24),
        ) for number, item in enumerate(items)],
        batch_size=1_000,
    )  # fmt: skip
    maintain("VACUUM ANALYZE dialogue_toolcall, desk_items")
