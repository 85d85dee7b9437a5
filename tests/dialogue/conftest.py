"""What the tests of dialogue are given: a clock, a worker, an agent that is asked, receivers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.test import Client

from surfaces.workers.locks import WorkerLock
from tests.dialogue.replies.factories import World
from tests.dialogue.wake_hooks.factories import SECRET, TOKEN
from tests.factories import NOON, make_operator
from tests.fakes.receiver import Receiver
from tests.surfaces.conftest import clock as clock


@pytest.fixture
def admin(client: Client) -> Client:
    client.force_login(make_operator(username="ada", role="admin"))
    return client


@pytest.fixture
def worker() -> str:
    sender = WorkerLock()
    sender.hold()
    return sender.name


@pytest.fixture
def world() -> World:
    return World()


@pytest.fixture
def private_addresses(settings: Any) -> None:
    settings.WAKE_PRIVATE_ADDRESSES = True


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with Receiver(secret=SECRET) as receiver:
        yield receiver


@pytest.fixture
def gateway() -> Iterator[Receiver]:
    with Receiver(token=TOKEN) as gateway:
        yield gateway


@pytest.fixture
def clock_at_noon() -> Callable[[], Any]:
    return lambda: NOON
