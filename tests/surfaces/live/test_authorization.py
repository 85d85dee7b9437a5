"""Streams belong to operators whose pages open."""

from __future__ import annotations

import pytest
from django.test import Client
from django.utils import timezone

from surfaces.live.authorization import authorized
from surfaces.models import InstanceSettings
from tests.factories import make_operator

pytestmark = pytest.mark.django_db


def test_who_lacks_a_second_factor_that_became_required_loses_the_stream(client: Client):
    mira = make_operator(role="moderator")
    client.force_login(mira)
    place = (mira.pk, str(client.session.session_key))
    assert authorized([place], timezone.now()) == {place: mira}
    InstanceSettings.objects.create(pk=1, two_factor_moderators=True)
    assert authorized([place], timezone.now()) == {}
