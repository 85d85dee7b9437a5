"""The ledger cannot be edited."""

from __future__ import annotations

import pytest
from django.db import IntegrityError, ProgrammingError, connection, transaction

from surfaces.models import AuditEvent
from tests import truncate
from tests.factories import make_surface

pytestmark = [pytest.mark.django_db, pytest.mark.engine]


@pytest.fixture
def line() -> AuditEvent:
    return AuditEvent.objects.record(
        "surface.switched", actor="operator:mira", subject=make_surface(), why="tired", is_on=False
    )


def test_a_line_says_who_did_what_to_which_row(line: AuditEvent):
    assert line.actor == "operator:mira"
    assert line.subject.startswith("surface:")
    assert line.facts == {"is_on": False}


@pytest.mark.parametrize("act", ["UPDATE {} SET actor = 'nobody'", "DELETE FROM {}", "TRUNCATE {}"])
def test_the_program_may_neither_change_nor_remove_an_event(line: AuditEvent, act: str):
    refused = pytest.raises(ProgrammingError, match="permission denied")
    with refused, transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(act.format("surfaces_auditevent"))


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("act", ["UPDATE {} SET actor = 'nobody'", "DELETE FROM {}", "TRUNCATE {}"])
def test_a_trigger_refuses_even_the_owner(line: AuditEvent, act: str):
    with truncate.owner().cursor() as cursor:
        # Tests switch this guard off to tidy up after themselves; here it is on.
        cursor.execute(
            "BEGIN; ALTER TABLE surfaces_auditevent ENABLE TRIGGER audit_is_never_truncated"
        )
        with pytest.raises(IntegrityError, match="cannot be edited"):
            cursor.execute(act.format("surfaces_auditevent"))
        cursor.execute("ROLLBACK")
