"""What the tests of the draft pages share: look at one, act on one, count the queries."""

from __future__ import annotations

from django.db import connection
from django.test.utils import CaptureQueriesContext

from surfaces.models import Draft
from tests.factories import NOON, make_draft

MEGABYTES = "x" * 2_000_000


def text(response) -> str:
    return response.content.decode()


def page_of(draft: Draft) -> str:
    return f"/drafts/{draft.pk}/"


def do(desk, draft: Draft, verb: str, **given):
    return desk.post(f"/drafts/{draft.pk}/{verb}", given)


def state(draft: Draft) -> str:
    draft.refresh_from_db()
    return draft.state


def queries(desk, url: str) -> int:
    with CaptureQueriesContext(connection) as made:
        desk.get(url)
    return len(made)


def make_unknown(**given) -> Draft:
    """A sending in doubt, that a person has to settle."""
    return make_draft(**({"state": "unknown", "needs_person": True, "asked_at": NOON} | given))


def make_voiced(**given) -> Draft:
    """What a voice wrote for an agent."""
    return make_draft(**({"agent": "gabriel", "origin": "scripted"} | given))
