"""Rules, things on the desk, and rounds: what tests of notices are made of."""

from __future__ import annotations

from datetime import timedelta
from itertools import count
from typing import Any

import pytest

from surfaces.models import Account, DeskItem, Notice, NoticeRule, Operator
from surfaces.notices import rounds
from surfaces.notices.delivery import DeliveryResult
from tests.factories import NOON, make_account, make_operator
from tests.fakes.smtp import SmtpServer
from tests.surfaces.delivery.scripted_service import Clock

_number = count(1)


def make_hearer(**given: Any) -> Operator:
    name = f"ana{next(_number)}"
    return make_operator(**({"username": name, "email": f"{name}@example.org"} | given))


def make_rule(operator: Operator | None = None, **given: Any) -> NoticeRule:
    """By mail, at once, of everything on the desk."""
    ordinary = {"channel": "mail", "hears_items": True, "since": NOON}
    return NoticeRule.objects.create(operator=operator or make_hearer(), **(ordinary | given))


def make_item(account: Account | None = None, **given: Any) -> DeskItem:
    """A thing on the desk; what it is does not matter here."""
    ordinary = {
        "kind": "draft",
        "item_id": next(_number) + 1_000_000,
        "account": account or make_account(),
        "since": NOON,
        "author": "a stranger",
        "words": "What does the tide table leave out?",
    }
    return DeskItem.objects.create(**(ordinary | given))


def make_items(number: int, account: Account | None = None, **given: Any) -> list[DeskItem]:
    account = account or make_account()
    items = [
        DeskItem(
            kind="draft", item_id=next(_number) + 2_000_000, account=account, since=NOON, **given
        )
        for _ in range(number)
    ]
    return DeskItem.objects.bulk_create(items)


def go_round(clock: Clock, **given: Any) -> DeliveryResult:
    return rounds.run_round(clock=clock, **given)


def told(operator: Operator, **given: Any) -> list[Notice]:
    return list(Notice.objects.filter(operator=operator, **given).order_by("id"))


def soon(clock: Clock, **time: float) -> Any:
    return clock() + timedelta(**time)


@pytest.fixture
def smtp(settings: Any) -> Any:
    """A real server on this machine, and our real way to it."""
    with SmtpServer() as server:
        settings.EMAIL_BACKEND = "surfaces.notices.smtp.EmailBackend"
        settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", server.port
        settings.EMAIL_USE_TLS = settings.EMAIL_USE_SSL = False
        settings.EMAIL_HOST_USER = settings.EMAIL_HOST_PASSWORD = ""
        settings.EMAIL_TIMEOUT = 1
        settings.DEFAULT_FROM_EMAIL = "colloquy@example.org"
        settings.MAIL_IS_SET_UP = True
        yield server
