"""What can be set of an account and of a surface."""

from datetime import datetime
from typing import Any

from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _

from surfaces.accounts.models.account import Account
from surfaces.accounts.models.surface import Surface
from surfaces.settings.changes import Values
from surfaces.settings.services import SettingsSpec

LIMIT = "limit_"  # and the bucket: [requests, seconds], or None as the service documents it


class AccountSpec(SettingsSpec[Account]):
    model = Account
    action = "account.changed"
    fields = ("mode", "every", "is_on")

    def write(self, row: Account, new: Values, *, by: str, now: datetime) -> None:
        soon = {"next_watch_at": now} if new.get("is_on") else {}
        super().write(row, {**new, **soon}, by=by, now=now)


class SurfaceSpec(SettingsSpec[Surface]):
    """Besides its columns, one setting for each rate limit."""

    model = Surface
    action = "surface.changed"
    fields = ("name", "is_on", "dialect", "longest_delay_seconds")

    def knows(self, name: str) -> bool:
        return name in self.fields or name.startswith(LIMIT)

    def read(self, row: Surface) -> dict[str, Any]:
        buckets = dict.fromkeys([*(limit.bucket for limit in row.known_limits), *row.limits])
        limits = {f"{LIMIT}{bucket}": row.limits.get(bucket) for bucket in buckets}
        return super().read(row) | limits

    def clean(self, row: Surface, name: str, value: Any) -> Any:
        if name.startswith(LIMIT):
            return self.column("limits").clean({name: value}, None)[name] if value else None
        if name == "dialect" and value not in {"", *row.traits.dialects, row.dialect}:
            known = ", ".join(filter(None, row.traits.dialects)) or _("none")
            message = _("%(kind)s has no such dialect. Its dialects: %(known)s.")
            raise ValidationError(message % {"kind": row.traits.label, "known": known})
        return super().clean(row, name, value)

    def write(self, row: Surface, new: Values, *, by: str, now: datetime) -> None:
        columns = {name: value for name, value in new.items() if name in self.fields}
        limits = {name.removeprefix(LIMIT): new[name] for name in new if name not in columns}
        kept = {bucket: rate for bucket, rate in (row.limits | limits).items() if rate}
        super().write(row, {**columns, "limits": kept}, by=by, now=now)


def documented_rates(row: Surface) -> dict[str, list[int]]:
    """The limits that the service itself documents, by the name of their setting."""
    return {
        f"{LIMIT}{limit.bucket}": [limit.most, int(limit.per.total_seconds())]
        for limit in row.documented
    }
