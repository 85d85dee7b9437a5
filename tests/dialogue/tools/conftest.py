from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.dialogue.approvals.factories import CallWorld, tools


@pytest.fixture
def tools_of_every_risk() -> Iterator[None]:
    with tools():
        yield


@pytest.fixture
def asking(db: None) -> CallWorld:
    return CallWorld()
