from __future__ import annotations

from collections.abc import Iterator

import pytest
from django.test import Client

from tests.dialogue.approvals.desk_calls import know_tools
from tests.dialogue.approvals.factories import CallWorld, tools
from tests.factories import make_operator


@pytest.fixture(autouse=True)
def _tools_of_every_risk() -> Iterator[None]:
    with tools():
        yield


@pytest.fixture
def known_tools() -> None:
    know_tools()


@pytest.fixture
def asking(db: None) -> CallWorld:
    return CallWorld()


@pytest.fixture
def desk(client: Client) -> Client:
    client.force_login(make_operator(username="mira", first_name="Mira", last_name="Kovač"))
    return client
