"""Limits of before stay, and one that was lost when its surface was deleted holds again."""

from __future__ import annotations

from importlib import import_module

import pytest
from django.db import connection

from surfaces.models import ApiKey, AuditEvent, Operator
from tests.factories import NOON, make_account, make_operator

pytestmark = pytest.mark.django_db
migration = import_module("surfaces.migrations.0009_limited")


def migrate() -> None:
    with connection.cursor() as cursor:
        for owner in migration.OWNERS:
            cursor.execute(migration.limit(owner))
        cursor.execute(migration.LOST)


def test_who_has_limits_before_the_migration_has_them_after_it():
    by_place, by_agent, free = make_operator(), make_operator(agents=["iris"]), make_operator()
    by_place.surfaces.add(make_account().surface)
    migrate()
    found = {row.pk: (row.only_surfaces, row.only_agents) for row in Operator.objects.all()}
    assert found == {
        by_place.pk: (True, False), by_agent.pk: (False, True), free.pk: (False, False),
    }  # fmt: skip


def test_a_limit_that_was_lost_before_the_migration_allows_nothing_after_it():
    made, changed, opened = make_operator(), make_operator(), make_operator()
    record = AuditEvent.objects.record
    record("operator.made", actor="operator:ada", subject=made, surfaces=["gone"])
    record("operator.made", actor="operator:ada", subject=opened, surfaces=["gone"])
    record("operator.changed", actor="operator:ada", subject=changed, surfaces=[[], ["gone"]])
    record("operator.changed", actor="operator:ada", subject=opened, surfaces=[["gone"], []])
    record("operator.changed", actor="operator:ada", subject=made, role=["viewer", "moderator"])
    key = ApiKey.objects.create(
        name="report", prefix="aaaaaaaa", digest="0", operator=made, made_by="x", made_at=NOON
    )  # fmt: skip
    record("api_key.issued", actor="operator:ada", subject=key, surfaces=["gone"], agents=[])
    migrate()
    limited = Operator.objects.filter(only_surfaces=True)
    assert set(limited) == {made, changed}
    assert Operator.objects.get(pk=made.pk).reach.accounts == frozenset()
    assert ApiKey.objects.get().only_surfaces
