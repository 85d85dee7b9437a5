"""The settings of an agent, of its voice and of a presence, as forms."""

from collections.abc import Mapping
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils.functional import cached_property
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as _lazy

from dialogue.agents.forms.setting_fields import PRESENCE, SETTINGS, VOICE
from dialogue.agents.models.agent import Agent
from dialogue.agents.settings.values import KERNELS, MAX_PERSONA, clean, is_list
from surfaces.accounts.models.account import ReplyMode
from surfaces.operators.forms import zones
from surfaces.settings.base_form import SettingsForm
from surfaces.settings.fields import SettingField, by_name
from surfaces.settings.form_fields import LinesField, PercentField

MODES = [
    ("", _lazy("As the agent")),
    (ReplyMode.OFF.value, _lazy("Off")),
    (ReplyMode.SHADOW.value, _lazy("Shadow")),
    (ReplyMode.REVIEW.value, _lazy("Review")),
    (ReplyMode.AUTO.value, _lazy("Auto")),
]

LONG_CHOICES = {
    "approval_mode",
    "memory_strategy",
    "explore_frequency",
}  # no room for a row of them


class OfAgentForm(SettingsForm):
    """Checked as the service checks, so that each refusal stands at its field."""

    row: Agent
    tall = frozenset({KERNELS, "persona"})

    @cached_property
    def known_fields(self) -> dict[str, SettingField]:
        return by_name((*SETTINGS, *VOICE))

    def form_field(self, setting: SettingField) -> forms.Field:
        if is_list(setting.name):
            return LinesField()
        if setting.name in LONG_CHOICES:
            return forms.ChoiceField(choices=self.spec.column(setting.name).choices or ())
        if setting.name == "timezone":
            return forms.ChoiceField(choices=zones)
        if setting.name == "persona":
            text = forms.Textarea(attrs={"rows": 12, "dir": "auto"})
            return forms.CharField(required=False, max_length=MAX_PERSONA, widget=text, strip=False)
        return super().form_field(setting)

    def clean(self) -> dict[str, Any]:
        given: dict[str, Any] = super().clean() or {}
        for name, value in list(given.items()):
            try:
                given[name] = clean(name, value)
            except ValidationError as error:
                self.add_error(name, error)
        return given


class AgentSettingsForm(OfAgentForm):
    sections = SETTINGS

    def clean(self) -> dict[str, Any]:
        given = super().clean()
        check_day_within_month(self, given)
        empty = [name for name in ("active_from", "active_to") if given.get(name) is None]
        if len(empty) == 1 and empty[0] not in self.errors:
            self.add_error(empty[0], _("Enter both ends of the active hours, or neither."))
        return given


class VoiceForm(OfAgentForm):
    sections = VOICE


class PresenceForm(SettingsForm):
    sections = PRESENCE

    def form_field(self, setting: SettingField) -> forms.Field:
        if setting.name == "mode":
            return forms.ChoiceField(required=False, choices=MODES, widget=forms.RadioSelect)
        if setting.name == "explore_share":
            return PercentField()
        return super().form_field(setting)


def check_day_within_month(form: SettingsForm, given: Mapping[str, Any]) -> None:
    for what in ("money", "tokens"):
        day, month = given.get(f"{what}_per_day"), given.get(f"{what}_per_month")
        if day is not None and month is not None and day > month:
            message = _("%(day)s is more than the monthly %(month)s. Enter less.")
            values = {"day": f"{day:,}", "month": f"{month:,}"}
            form.add_error(f"{what}_per_day", message % values)
