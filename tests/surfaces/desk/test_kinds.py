"""A kind is registered from outside; the ground floor shows what it does not know."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from django.db import connection
from django.utils import timezone

from surfaces.desk import kinds
from surfaces.desk.kinds import Action, ActionInput, DeskKind, RowSummary
from surfaces.extension_points import Extension
from tests.factories import make_account

pytestmark = pytest.mark.django_db
DONE: list[tuple[int, str]] = []


@dataclass(frozen=True)
class PortCall:
    pk: int
    account_id: int
    agent: str = "tideline"


def launch(row: PortCall, given: ActionInput) -> str:
    DONE.append((row.pk, given.by))
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM desk_items WHERE kind = 'port_call' AND item_id = %s", [row.pk])
    return "Allowed, once."


KINDS = [
    DeskKind(
        name="port_call",
        subject="port_call",
        label="Port call",
        short="Port call",
        plural="Port calls",
        icon="tool",
        load=lambda ids: {pk: pk for pk in ids},
        line=lambda row, item: RowSummary(
            who="tideline", place="hub", author="", said=item.words, whys=("First use today.",)
        ),
        get=lambda pk: PortCall(pk, 1),
        template="surfaces/desk/_no_results.html",
        context=lambda row, now: {},
        title=lambda row: "tideline asks for hub.search",
        decided=lambda row, me, now: "Allowed.",
        steps=lambda row: [],
        acts=(Action(name="allow", label="Allow", key="a", verb=launch),),
    )
]

EXTENSION = Extension(desk_kinds=KINDS)


@pytest.fixture
def port_call(settings):
    settings.EXTENSIONS = [*settings.EXTENSIONS, f"{__name__}.EXTENSION"]
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT desk_put('port_call', 7, %s, 'tideline', %s, NULL, 0, '', 'hub.search')",
            [make_account().pk, timezone.now()],
        )


def test_a_floor_above_adds_its_kind_and_the_desk_shows_counts_and_decides_it(
    port_call, desk, operator
):
    page = desk.get("/desk/").content.decode()
    assert "hub.search" in page
    assert "First use today." in page
    assert "tideline asks for hub.search" in desk.get("/desk/port_call/7/").content.decode()
    assert "Port call" in desk.get("/").content.decode()
    desk.post("/desk/port_call/7/allow")
    assert [(7, operator.actor)] == DONE
    assert "hub.search" not in desk.get("/desk/").content.decode()


def test_every_registered_kind_has_a_name_of_its_own_and_one_primary_act():
    found = kinds.kinds()
    assert found
    for name, kind in found.items():
        assert name == kind.name
        assert kind.acts
        assert len({act.name for act in kind.acts}) == len(kind.acts)
