"""A clock that stands still, and a service that says what a test tells it to."""

from __future__ import annotations

import pytest

from tests.surfaces.delivery.scripted_service import Clock, ScriptedMoltbook


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def service() -> ScriptedMoltbook:
    return ScriptedMoltbook()
