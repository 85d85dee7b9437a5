"""The settings of the installation: labels, help, and checks between two values."""

from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as _lazy

from surfaces.settings.base_form import SettingsForm
from surfaces.settings.fields import Section, SettingField

GENERAL = Section("house", _lazy("General"), (
    SettingField("name", _lazy("Name"), _lazy("Stands in the subject of every email.")),
    SettingField("language", _lazy("Language"),
        _lazy("For emails and for visitors who are not signed in."
              " Each operator chooses their own.")),
))  # fmt: skip
SENDING = Section("sending", _lazy("Sending"), (
    SettingField("undo_seconds", _lazy("Undo window"),
        _lazy("An approved draft is sent after this time; until then it can be undone."
              " 0: it is sent at once."), _lazy("seconds")),
    SettingField("drafts_wait_hours", _lazy("Draft expiry"),
        _lazy("A draft that nobody decides on in this time expires and is not sent. 0: never."),
        _lazy("hours")),
))  # fmt: skip
SPAM = Section("spam", _lazy("Spam filter"), (
    SettingField("suspect_from", _lazy("Suspect score"),
        _lazy("A comment with this score or more waits for a moderator."), _lazy("score")),
    SettingField("spam_from", _lazy("Spam score"),
        _lazy("A comment with this score or more is marked as spam."
              " Must be above the suspect score."), _lazy("score")),
))  # fmt: skip


class InstanceForm(SettingsForm):
    sections = (GENERAL, SENDING, SPAM)

    def clean(self) -> dict[str, Any]:
        given: dict[str, Any] = super().clean() or {}
        suspect, spam = given.get("suspect_from"), given.get("spam_from")
        if suspect == 0:
            self.add_error("suspect_from", _("0 would hold every comment. Enter more than 0."))
        elif suspect is not None and spam is not None and suspect >= spam:
            message = _("%(suspect)s is not below the spam score %(spam)s. Enter less.")
            self.add_error("suspect_from", message % {"suspect": suspect, "spam": spam})
        return given
