"""The ledger cannot be edited."""

from __future__ import annotations

import pytest
from django.db import IntegrityError, connection, transaction

from surfaces.models import AuditEvent
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


def test_a_line_cannot_be_changed(line: AuditEvent):
    with pytest.raises(IntegrityError, match="cannot be edited"), transaction.atomic():
        AuditEvent.objects.filter(pk=line.pk).update(actor="nobody")


def test_a_line_cannot_be_deleted(line: AuditEvent):
    with pytest.raises(IntegrityError, match="cannot be edited"), transaction.atomic():
        AuditEvent.objects.filter(pk=line.pk).delete()


def test_the_ledger_cannot_be_emptied(line: AuditEvent):
    with connection.cursor() as cursor:
        # Tests switch this guard off to tidy up after themselves; here it is on.
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        cursor.execute("ALTER TABLE surfaces_auditevent ENABLE TRIGGER audit_is_never_truncated")
        with pytest.raises(IntegrityError, match="cannot be edited"), transaction.atomic():
            cursor.execute("TRUNCATE surfaces_auditevent")
