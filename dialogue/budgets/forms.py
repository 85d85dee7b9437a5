"""The shared budget as a form."""

from typing import Any

from django.utils.translation import gettext_lazy as _

from dialogue.agents.forms.setting_fields import DOLLARS
from dialogue.agents.forms.settings import check_day_within_month
from surfaces.settings.base_form import SettingsForm
from surfaces.settings.fields import Section, SettingField

BUDGET = Section("budget", _("Shared budget"), (
    SettingField("money_per_day", _("Money a day"), _("Of all agents together."), DOLLARS),
    SettingField("money_per_month", _("Money a month"), _("At least the daily amount."), DOLLARS),
    SettingField("tokens_per_day", _("Tokens a day"), _("Input and output together."),
        _("tokens")),
    SettingField("tokens_per_month", _("Tokens a month"), _("At least the daily number."),
        _("tokens")),
))  # fmt: skip


class SharedBudgetForm(SettingsForm):
    sections = (BUDGET,)

    def clean(self) -> dict[str, Any]:
        given: dict[str, Any] = super().clean() or {}
        check_day_within_month(self, given)
        return given
