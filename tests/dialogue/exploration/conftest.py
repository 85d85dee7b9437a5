from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from django.utils import timezone

from surfaces.accounts.connect import connect
from tests.dialogue.exploration.explorations import Exploration
from tests.fakes.moltbook import FakeMoltbook
from tests.fakes.openai_chat import FakeOpenAI
from tests.surfaces.watcher.factories import connected


@pytest.fixture
def openai() -> Iterator[FakeOpenAI]:
    with FakeOpenAI() as fake:
        yield fake


@pytest.fixture(params=["open", "live"])
def moltbook(request: Any) -> Iterator[FakeMoltbook]:
    with FakeMoltbook(dialect=request.param) as fake:
        fake.key = fake.add_agent("iris")
        fake.add_agent("odile")
        yield fake


@pytest.fixture
def moltworld(moltbook: FakeMoltbook, openai: FakeOpenAI) -> Exploration:
    return Exploration(connected(moltbook), openai)


@pytest.fixture
def hubworld(openai: FakeOpenAI) -> Exploration:
    account = connect("hub", agent="iris", by="operator:mira", now=timezone.now())
    return Exploration(account, openai)
