from __future__ import annotations

import pytest

from dialogue.models import Agent
from tests.factories import make_agent


@pytest.fixture
def agent() -> Agent:
    return make_agent(slug="gabriel", name="Gabriel")
