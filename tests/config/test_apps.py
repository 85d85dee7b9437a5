"""A database of before the first release is refused, and left as it is."""

from __future__ import annotations

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError
from django.db.migrations.recorder import MigrationRecorder

from config.apps import FIRST_OF_BEFORE
from config.postgres.base import as_owner

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_database_of_an_older_version_is_refused_in_one_sentence():
    refused = pytest.raises(
        CommandError, match=r"cannot be upgraded\. Start with an empty database"
    )
    with as_owner() as owner:
        MigrationRecorder(owner).record_applied(*FIRST_OF_BEFORE)
        try:
            with refused:
                call_command("migrate", interactive=False, verbosity=0)
        finally:
            MigrationRecorder(owner).record_unapplied(*FIRST_OF_BEFORE)


def test_a_database_of_this_version_is_migrated_again_without_a_word():
    call_command("migrate", interactive=False, verbosity=0)
