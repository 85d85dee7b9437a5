"""`manage.py rotate_keys`: put every credential under the newest key."""

from __future__ import annotations

import json
import os
from typing import Any

from cryptography.fernet import Fernet, InvalidToken
from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.db import transaction

from surfaces.models import Account, AuditEvent
from surfaces.models.account import resealed


class Command(BaseCommand):
    help = "Encrypt all credentials again under the newest key; --new makes that key first."

    def add_arguments(self, parser: Any) -> None:
        parser.add_argument("--new", action="store_true", help="make a new key (data folder only)")
        parser.add_argument("--forget", action="store_true", help="then drop the older keys")

    def handle(self, **options: Any) -> None:
        path = settings.DATA_DIR / "credential_keys"
        if (options["new"] or options["forget"]) and settings.ENV.credential_keys:
            raise CommandError(
                "The keys are in CREDENTIAL_KEYS: put the new one first there, then run this"
                " without --new and --forget.",
                returncode=2,
            )
        if options["new"]:
            _write(path, [Fernet.generate_key().decode(), *settings.READ_CREDENTIAL_KEYS()])
        count = self._rotate()
        if options["forget"]:
            _write(path, settings.READ_CREDENTIAL_KEYS()[:1])
        keys = len(settings.READ_CREDENTIAL_KEYS())
        self.stdout.write(json.dumps({"rotated": count, "keys": keys}))

    @transaction.atomic
    def _rotate(self) -> int:
        sealed = Account.objects.exclude(sealed_credential=b"").select_for_update()
        for account in sealed:
            try:
                account.sealed_credential = resealed(bytes(account.sealed_credential))
            except InvalidToken as error:
                raise CommandError(
                    f"{account.name}: no key we have opens its credential; connect it again.",
                    returncode=1,
                ) from error
            account.save(update_fields=["sealed_credential"])
        AuditEvent.objects.record("keys.rotated", actor="command:rotate_keys", subject="keys")
        return len(sealed)


def _write(path: Any, keys: list[str]) -> None:
    fresh = path.with_suffix(".new")
    fresh.unlink(missing_ok=True)
    descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w") as file:
        file.write("\n".join(keys))
        file.flush()
        os.fsync(descriptor)  # a power cut must not leave credentials without their key
    fresh.replace(path)
