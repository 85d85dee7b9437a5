"""Pausing: a row per subject, said once, ended once."""

from __future__ import annotations

import pytest

from surfaces import pausing
from surfaces.errors import BadInput, NotAllowed
from surfaces.models import AuditEvent, Pause
from tests.factories import NOON, make_account

pytestmark = pytest.mark.django_db


def test_pausing_twice_is_one_pause():
    first = pausing.pause("all", why="storm", by="operator:mira", now=NOON)
    assert pausing.pause("all", why="again", by="operator:jonas", now=NOON) == first
    assert (first.why, first.by) == ("storm", "operator:mira")
    assert AuditEvent.objects.filter(action="sending.paused").count() == 1


def test_what_is_not_paused_cannot_be_resumed():
    with pytest.raises(NotAllowed):
        pausing.resume("all", by="operator:mira", now=NOON)


def test_a_subject_that_does_not_exist_is_named():
    with pytest.raises(BadInput, match="nowhere"):
        pausing.pause("surface", "nowhere", why="", by="operator:mira", now=NOON)
    with pytest.raises(BadInput):
        pausing.pause("everyone", why="", by="operator:mira", now=NOON)


def test_every_reason_is_given():
    account = make_account()
    pausing.pause("all", why="", by="a", now=NOON)
    pausing.pause("account", account.name, why="", by="a", now=NOON)
    pausing.pause("agent", "iris", why="", by="a", now=NOON)
    assert len(pausing.reasons(account, "iris")) == 3
    assert len(pausing.reasons(account, "otto")) == 2
    pausing.resume("all", by="b", now=NOON)
    assert Pause.objects.live().count() == 2
