"""What can be set of an account and of a surface."""

from datetime import datetime, timedelta
from typing import Any

from django.core.exceptions import ValidationError
from django.db.models import Value
from django.db.models.functions import Least
from django.utils.translation import gettext as _

from surfaces.accounts.models.account import PASSING, Account, AccountState
from surfaces.accounts.models.surface import Surface
from surfaces.accounts.rate_limits import RATE_SPENT
from surfaces.extension_points import end_waits
from surfaces.settings.changes import Values
from surfaces.settings.services import SettingsSpec

LIMIT = "limit_"  # and the bucket: [requests, seconds], or None as the service documents it


class AccountSpec(SettingsSpec[Account]):
    model = Account
    action = "account.changed"
    fields = ("mode", "every", "is_on")

    def write(self, row: Account, new: Values, *, by: str, now: datetime) -> None:
        facts: dict[str, Any] = dict(new)
        if new.get("is_on"):
            facts["next_watch_at"] = now
        elif "every" in new and row.state not in PASSING:  # there the service names the time
            soonest = now + timedelta(minutes=new["every"])
            facts["next_watch_at"] = Least("next_watch_at", Value(soonest))
        super().write(row, facts, by=by, now=now)


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
        if limits:
            _end_own_limits(row, now=now)


def _end_own_limits(row: Surface, *, now: datetime) -> None:
    """Accounts that wait for a limit of ours are checked against the new one."""
    own = Account.objects.filter(surface=row, state=AccountState.LIMITED)
    for account in own.filter(state_why__contains={"code": RATE_SPENT}):
        account.becomes(AccountState.OK, now=now, quiet_until=None, next_watch_at=now)
        end_waits(account, "state")
    end_waits(row, "limits")


def documented_rates(row: Surface) -> dict[str, list[int]]:
    """The limits that the service itself documents, by the name of their setting."""
    return {
        f"{LIMIT}{limit.bucket}": [limit.most, int(limit.per.total_seconds())]
        for limit in row.documented
    }
