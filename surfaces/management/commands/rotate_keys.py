"""`manage.py rotate_keys`: encrypt every stored secret with the newest key."""

import json
import os
from collections.abc import Iterator
from typing import Any

from cryptography.fernet import Fernet
from django.apps import apps
from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.db import transaction
from django.db.models import BinaryField, Model

from surfaces import crypto
from surfaces.audit.models import AuditEvent


class Command(BaseCommand):
    help = "Encrypt all secrets again with the newest key; --new creates that key first."

    def add_arguments(self, parser: Any) -> None:
        words = {"new": "create a new key first (data folder only)",
                 "forget": "delete the older keys afterwards"}  # fmt: skip
        for name, text in words.items():
            parser.add_argument(f"--{name}", action="store_true", help=text)

    def handle(self, **options: Any) -> None:
        path = settings.DATA_DIR / "credential_keys"
        if (options["new"] or options["forget"]) and settings.ENV.credential_keys:
            raise CommandError(
                "The keys are in CREDENTIAL_KEYS. Put the new key first there, then run the command"
                " without --new and --forget.",
                returncode=2,
            )
        if options["new"]:
            _write(path, [Fernet.generate_key().decode(), *settings.READ_CREDENTIAL_KEYS()])
        with transaction.atomic():
            count = sum(_rotate_column(model, name) for model, name in sealed_columns())
            AuditEvent.objects.record("keys.rotated", actor="command:rotate_keys", subject="keys")
        if options["forget"]:
            _write(path, settings.READ_CREDENTIAL_KEYS()[:1])
        keys = len(settings.READ_CREDENTIAL_KEYS())
        self.stdout.write(json.dumps({"rotated": count, "keys": keys}))


def sealed_columns() -> Iterator[tuple[type[Model], str]]:
    """Every model column with a secret; their names begin with `sealed_`."""
    for model in apps.get_models():
        for column in model._meta.concrete_fields:
            if isinstance(column, BinaryField) and column.name.startswith("sealed_"):
                yield model, column.name


def _rotate_column(model: type[Model], name: str) -> int:
    rows = model._default_manager.exclude(**{name: b""}).select_for_update()
    for row in rows:
        try:
            fresh = crypto.reencrypt(bytes(getattr(row, name)))
        except crypto.InvalidToken as error:
            raise CommandError(
                f"{row}: the secret cannot be decrypted with any known key. Enter it again.",
                returncode=1,
            ) from error
        model._default_manager.filter(pk=row.pk).update(**{name: fresh})
    return len(rows)


def _write(path: Any, keys: list[str]) -> None:
    fresh = path.with_suffix(".new")
    fresh.unlink(missing_ok=True)
    descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w") as file:
        file.write("\n".join(keys))
        file.flush()
        os.fsync(descriptor)  # a power cut must not leave credentials without their key
    fresh.replace(path)
