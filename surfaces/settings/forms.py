"""The settings of the installation: labels, help, and checks between two values."""

from typing import Any

from django import forms
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as _lazy
from django.utils.translation import pgettext_lazy

from surfaces.settings.base_form import SettingsForm
from surfaces.settings.fields import Section, SettingField
from surfaces.settings.form_fields import form_field

GENERAL = Section("house", _lazy("General"), (
    SettingField("name", _lazy("Name"), _lazy("Stands in the subject of every email.")),
    SettingField("language", _lazy("Language"),
        _lazy("For emails and for visitors who are not signed in."
              " Each operator chooses their own.")),
))  # fmt: skip
SENDING = Section("sending", pgettext_lazy("heading", "Sending"), (
    SettingField("undo_seconds", _lazy("Undo window"),
        _lazy("An approved draft is sent after this time; until then it can be undone."
              " 0: it is sent at once."), _lazy("seconds")),
    SettingField("drafts_wait_hours", _lazy("Draft expiry"),
        _lazy("A draft that nobody decides on in this time expires and is not sent. 0: never."),
        _lazy("hours")),
))  # fmt: skip
SPAM = Section("spam", _lazy("Spam filter"), (
    SettingField("suspect_from", _lazy("Suspect score"),
        _lazy("A comment with this score or more is held for review.")),
    SettingField("spam_from", _lazy("Spam score"),
        _lazy("A comment with this score or more is marked as spam."
              " Must be above the suspect score.")),
))  # fmt: skip
SIGN_IN = Section("sign-in", _lazy("Sign-in"), (
    SettingField("two_factor_viewers", _lazy("Two-factor for viewers"),
        _lazy("Required: who has none sets it up at the next page and can do nothing else.")),
    SettingField("two_factor_moderators", _lazy("Two-factor for moderators"),
        _lazy("An authenticator app or a passkey.")),
    SettingField("two_factor_admins", _lazy("Two-factor for administrators"),
        _lazy("Applies to you, too, if you are one.")),
))  # fmt: skip


SCORES = {"suspect_from": (0.1, 0.99), "spam_from": (0.11, 1)}  # as on the filter's page


class InstanceForm(SettingsForm):
    sections = (GENERAL, SIGN_IN, SENDING, SPAM)

    def form_field(self, setting: SettingField) -> forms.Field:
        if setting.name in SCORES:
            return form_field(self.spec.column(setting.name), bounds=SCORES[setting.name])
        return super().form_field(setting)

    def clean(self) -> dict[str, Any]:
        given: dict[str, Any] = super().clean() or {}
        suspect, spam = given.get("suspect_from"), given.get("spam_from")
        if suspect is not None and spam is not None and suspect >= spam:
            message = _("%(suspect)s is not below the spam score %(spam)s. Enter less.")
            self.add_error("suspect_from", message % {"suspect": suspect, "spam": spam})
        return given
