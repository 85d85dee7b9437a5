"""Pausing: a row per subject, said once, ended once."""

from __future__ import annotations

import io

import pytest
from django.core.management import call_command

from surfaces.errors import BadInput, NotAllowed
from surfaces.models import AuditEvent, Pause
from surfaces.pauses import services as pause_services
from tests.factories import NOON, make_account

pytestmark = pytest.mark.django_db


def test_pausing_twice_is_one_pause():
    first = pause_services.pause("all", why="storm", by="operator:mira", now=NOON)
    assert pause_services.pause("all", why="again", by="operator:jonas", now=NOON) == first
    assert (str(first.why), first.by) == ("storm", "operator:mira")
    assert AuditEvent.objects.filter(action="sending.paused").count() == 1


def test_what_is_not_paused_cannot_be_resumed():
    with pytest.raises(NotAllowed):
        pause_services.resume("all", by="operator:mira", now=NOON)


def test_a_subject_that_does_not_exist_is_named():
    with pytest.raises(BadInput, match="nowhere"):
        pause_services.pause("surface", "nowhere", why="", by="operator:mira", now=NOON)
    with pytest.raises(BadInput):
        pause_services.pause("everyone", why="", by="operator:mira", now=NOON)


def test_every_reason_is_given():
    account = make_account()
    pause_services.pause("all", why="", by="a", now=NOON)
    pause_services.pause("account", account.name, why="", by="a", now=NOON)
    pause_services.pause("agent", "iris", why="", by="a", now=NOON)
    assert len(pause_services.reasons(account, "iris")) == 3
    assert len(pause_services.reasons(account, "otto")) == 2
    pause_services.resume("all", by="b", now=NOON)
    assert Pause.objects.live().count() == 2


def test_a_pause_is_in_the_history_of_what_it_pauses():
    account = make_account()
    pause_services.pause("account", account.name, why="", by="a", now=NOON)
    pause_services.pause("surface", account.surface.slug, why="", by="a", now=NOON)
    for row, name in ((account, account.name), (account.surface, account.surface.slug)):
        event = AuditEvent.objects.about(row).get()
        assert (event.action, event.facts) == ("sending.paused", {"name": name})


def test_a_reason_given_on_the_command_line_is_shown_as_typed():
    call_command("pause", all=True, why="draft.waits", stdout=io.StringIO())
    assert str(Pause.objects.get().why) == "draft.waits"
