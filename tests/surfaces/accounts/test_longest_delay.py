"""The longest known delay of a service: a setting of the surface, with bounds."""

from __future__ import annotations

from datetime import timedelta
from importlib import import_module
from typing import Any

import pytest
from django.core.exceptions import ValidationError
from django.db import connection

from surfaces.accounts.forms import SurfaceForm
from surfaces.models import Draft, Surface
from tests.factories import NOON, make_draft, make_surface

pytestmark = [pytest.mark.django_db, pytest.mark.engine]
SETTING = "longest_delay_seconds"


def test_a_surface_without_idempotency_keys_has_the_setting_and_the_hub_has_none():
    assert SETTING in SurfaceForm(make_surface()).fields
    assert SETTING not in SurfaceForm(make_surface(kind="hub", base_url="")).fields
    assert make_surface().longest_delay_seconds == 600


@pytest.mark.parametrize(("seconds", "fits"), [(0, 0), (1, 1), (86_400, 1), (86_401, 0)])
def test_it_is_between_a_second_and_a_day(seconds: int, fits: int):
    surface = make_surface()
    surface.longest_delay_seconds = seconds
    if fits:
        surface.clean_fields()
        return
    with pytest.raises(ValidationError):
        surface.clean_fields()


@pytest.mark.parametrize(
    ("given", "is_in_doubt"),
    [
        ({"state": "unknown"}, True),
        ({"state": "unknown", "challenge": {"code": "x"}}, False),
        ({"state": "approved", "why": {"code": "look.absent_twice"}}, True),
        ({"state": "approved"}, False),
        ({"state": "failed", "why": {"code": "service.redirect"}}, True),
        ({"state": "failed"}, False),
        ({"state": "sent", "sent_at": NOON}, False),
    ],
)
def test_an_upgrade_counts_what_is_in_doubt_as_asked_at_that_moment(
    given: dict[str, Any], is_in_doubt: bool
):
    ready = {"approved_digest": "x", "not_before": NOON} if given["state"] == "approved" else {}
    asked = NOON - timedelta(hours=1)
    draft = make_draft(asked_at=asked, **given, **ready)
    with connection.cursor() as cursor:
        cursor.execute(import_module("surfaces.migrations.0005_late_requests").FILL)
    draft.refresh_from_db()
    assert draft.unconfirmed_since == (asked if is_in_doubt else None)
    assert (draft.unconfirmed_until is not None) is is_in_doubt
    assert Draft.objects.filter(settled_absent=True).count() == 0
    assert not Surface.objects.exclude(longest_delay_seconds=600).exists()
