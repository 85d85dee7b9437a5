"""Sentences of reports."""

from typing import Any

from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext_lazy

TEXTS: dict[str, Any] = {
    "report.answered": ngettext_lazy("%(n)s draft written", "%(n)s drafts written", "n"),
    "report.failed": ngettext_lazy("%(n)s failed", "%(n)s failed", "n"),
    "report.held": ngettext_lazy("%(n)s passed or held", "%(n)s passed or held", "n"),
    "report.hour": _("%(name)s as %(account)s, in the hour from %(begin)s: %(counts)s"),
    "report.seen": ngettext_lazy("%(n)s new notification", "%(n)s new notifications", "n"),
    "report.waiting": ngettext_lazy("%(n)s waits for approval", "%(n)s wait for approval", "n"),
}
