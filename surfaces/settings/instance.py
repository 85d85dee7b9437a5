"""The settings of this installation: one row, with the defaults until somebody changes it."""

from datetime import datetime

from surfaces.settings.changes import Values
from surfaces.settings.models import InstanceSettings
from surfaces.settings.services import SettingsSpec


class InstanceSpec(SettingsSpec[InstanceSettings]):
    model = InstanceSettings
    action = "house.changed"
    fields = (
        "name", "language", "undo_seconds", "drafts_wait_hours", "suspect_from", "spam_from",
        "two_factor_viewers", "two_factor_moderators", "two_factor_admins",
    )  # fmt: skip
    is_singleton = True

    def write(self, row: InstanceSettings, new: Values, *, by: str, now: datetime) -> None:
        super().write(row, {**new, "updated_at": now, "updated_by": by}, by=by, now=now)


def current() -> InstanceSettings:
    """The settings as they are; the defaults, unsaved, where nobody changed anything yet."""
    return InstanceSettings.objects.filter(pk=1).first() or InstanceSettings(pk=1)
