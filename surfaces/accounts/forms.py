"""The settings of an account and of a surface: labels and help."""

from typing import Any

from django import forms
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as _lazy

from surfaces.accounts.models.account import Account
from surfaces.accounts.models.surface import Surface
from surfaces.accounts.settings import LIMIT, documented_rates
from surfaces.adapters.base import Traits
from surfaces.settings.base_form import SettingsForm
from surfaces.settings.fields import Section, SettingField
from surfaces.settings.form_fields import RateField
from surfaces.settings.services import values_of

MODE_HELP = _lazy(
    "Off: no reply is written. Shadow: replies are written but not sent. Review: an operator"
    " approves each reply. Auto: replies are sent without review."
)
ACCOUNT = Section("account", _lazy("Settings"), (
    SettingField("mode", _lazy("Mode"), MODE_HELP),
    SettingField("every", _lazy("Poll interval"),
        _lazy("How often the watcher reads this account."), _lazy("minutes")),
    SettingField("is_on", _lazy("Enabled"), _lazy("Off: neither read nor written.")),
))  # fmt: skip
SURFACE = (
    SettingField("name", _lazy("Name"), _lazy("Shown on these pages only.")),
    SettingField("is_on", _lazy("Enabled"),
        _lazy("Off: none of its accounts is read or written. Stored messages are kept.")),
)  # fmt: skip
LONGEST_DELAY = SettingField("longest_delay_seconds", _lazy("Longest known delay"),
    _lazy("How long after a request the service may still store it. A reply or post whose delivery"
        " is unconfirmed is not sent again before this time is over."), _lazy("seconds"),
)  # fmt: skip
DIALECT = SettingField("dialect", _lazy("API dialect"), _lazy("Which form of its API is used."))
BUCKETS = {
    "read": _lazy("Read requests"),
    "write": _lazy("Write requests"),
    "comment": _lazy("Comments"),
    "comment_day": _lazy("Comments a day"),
    "comment_hour": _lazy("Comments an hour"),
    "post": _lazy("Posts"),
    "verify": _lazy("Challenge answers"),
    "general": _lazy("All requests from our address"),
}


def dialect_choices(traits: Traits) -> list[tuple[str, str]]:
    asking = _("Ask the service at the next poll")
    return [("", asking), *((name, name.capitalize()) for name in traits.dialects)]


class AccountForm(SettingsForm):
    row: Account
    sections = (ACCOUNT,)


class SurfaceForm(SettingsForm):
    """Which limits there are depends on the service."""

    row: Surface

    def __init__(self, row: Surface, data: Any = None) -> None:
        self.documented = documented_rates(row)
        surface: tuple[SettingField, ...] = SURFACE
        if len(row.traits.dialects) > 1:
            surface += (DIALECT,)
        if not row.traits.honours_key:
            surface += (LONGEST_DELAY,)
        self.sections = (Section("surface", _lazy("Surface"), surface),)
        if limits := tuple(self._limit(name) for name in values_of(row) if name.startswith(LIMIT)):
            note = _lazy("maximum, counted for each account")
            self.sections += (Section("limits", _lazy("Rate limits"), limits, note),)
        super().__init__(row, data)

    def _limit(self, name: str) -> SettingField:
        bucket = name.removeprefix(LIMIT)
        label = BUCKETS.get(bucket, bucket.replace("_", " ").capitalize())
        usual, none = _lazy("Empty: the documented limit."), _lazy("Empty: no limit of ours.")
        text = usual if name in self.documented else none
        return SettingField(name, label, text, _lazy("requests/seconds"))

    def form_field(self, setting: SettingField) -> forms.Field:
        if setting.name.startswith(LIMIT):
            return RateField(documented=self.documented.get(setting.name))
        if setting.name == "dialect":
            choices = dialect_choices(self.row.traits)
            return forms.ChoiceField(required=False, choices=choices, widget=forms.RadioSelect)
        return super().form_field(setting)

    def default(self, name: str) -> Any:
        return None if name.startswith(LIMIT) else super().default(name)

    def default_text(self, name: str) -> str:
        if name.startswith(LIMIT):
            rate = self.documented.get(name)
            return self.display(name, rate) if rate else ""
        if name == "dialect":
            return ""  # the name of its first choice says it
        return super().default_text(name)
