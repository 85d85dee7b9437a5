"""What an operator may enter about what to be told of, how and when."""

from __future__ import annotations

from typing import Any

from django import forms
from django.conf import settings
from django.utils.module_loading import import_string
from django.utils.translation import gettext_lazy as _

from surfaces import addresses
from surfaces.desk.kinds import kinds
from surfaces.forms import HANDLE, Dressed
from surfaces.models import NoticeRule, Operator, Surface
from surfaces.models.desk import Risk
from surfaces.models.notice_rule import Channel, Pace
from surfaces.notices.rules import PLAIN

SWITCH = {"class": "switch"}
HOURS = [(1, _("hour")), (2, _("2 hours")), (3, _("3 hours")), (4, _("4 hours")),
         (6, _("6 hours")), (8, _("8 hours")), (12, _("12 hours"))]  # fmt: skip
RISKS = [
    (Risk.LOW, _("Any risk")),
    (Risk.SOME, _("Some risk or more")),
    (Risk.HIGH, _("High risk")),
]
BOUNDS = {
    "min_value": _("Enter %(limit_value)s minutes or more."),
    "max_value": _("Enter at most %(limit_value)s minutes; that is a day."),
    "invalid": _("Enter a whole number of minutes."),
}


def _yes(label: Any, help_text: Any = "", *, css: str = "switch") -> forms.BooleanField:
    widget = forms.CheckboxInput(attrs={"class": css})
    return forms.BooleanField(label=label, help_text=help_text, required=False, widget=widget)


def _minutes(label: Any, help_text: Any, least: int) -> forms.IntegerField:
    return forms.IntegerField(
        label=label,
        help_text=help_text,
        min_value=least,
        max_value=1440,
        error_messages=BOUNDS,
        widget=forms.NumberInput(attrs={"class": "input n"}),
    )


def _clock(label: Any, help_text: Any = "") -> forms.TimeField:
    return forms.TimeField(
        label=label,
        help_text=help_text,
        required=False,
        error_messages={"invalid": _("Enter an hour like 08:00.")},
        widget=forms.TimeInput(format="%H:%M", attrs={"type": "time", "class": "input n"}),
    )


def _several(label: Any, help_text: Any) -> forms.MultipleChoiceField:
    return forms.MultipleChoiceField(
        label=label,
        help_text=help_text,
        required=False,
        widget=forms.CheckboxSelectMultiple,
        error_messages={"invalid_choice": _("Choose among what you see here.")},
    )


class RuleForm(Dressed, forms.Form):
    """Shape only; what fits together is asked where the rule is kept."""

    channel = forms.ChoiceField(
        label=_("Way"),
        choices=Channel.choices,
        initial=Channel.MAIL,
        widget=forms.RadioSelect,
        error_messages={"required": _("Choose the page, mail or a webhook.")},
    )
    url = forms.CharField(
        label=_("Address of the webhook"),
        required=False,
        max_length=addresses.LONGEST,
        help_text=_("Where we post to, signed as Standard Webhooks says. For a webhook only."),
        widget=forms.TextInput(attrs=HANDLE | {"inputmode": "url", "placeholder": "https://…"}),
    )
    hears_items = _yes(_("New on the desk"), _("Whatever begins to wait for a person."))
    hears_expiring = _yes(_("About to expire"), _("A decision that is soon too late."))
    expires_minutes = _minutes(_("That long before"), _("For what expires."), 1)
    hears_down = _yes(_("Surfaces down"), _("And once more when they are back."))
    down_minutes = _minutes(
        _("Down for at least"), _("An account that is refused is told at once."), 0
    )
    hears_house = _yes(
        _("The house"), _("Everything paused for 4 h, a silent worker, a spent budget.")
    )
    kinds = _several(_("Only these kinds"), _("Of what is on the desk. None chosen: every kind."))
    min_risk = forms.TypedChoiceField(
        label=_("Risk"),
        choices=RISKS,
        coerce=int,
        help_text=_("Of what is on the desk. High risk counts as urgent."),
        widget=forms.Select(attrs={"class": "input"}),
    )
    surfaces = forms.ModelMultipleChoiceField(
        Surface.objects.none(),
        label=_("Only these surfaces"),
        required=False,
        help_text=_("None chosen: every one you may see."),
        widget=forms.CheckboxSelectMultiple,
    )
    agents = _several(
        _("Only these agents"),
        _("Then you hear of their drafts only, not of comments nobody answered. None: every one."),
    )
    pace = forms.ChoiceField(
        label=_("When"),
        choices=Pace.choices,
        widget=forms.RadioSelect,
        help_text=_("At once: within a minute, and at most one message in 5 minutes."),
    )
    every_hours = forms.TypedChoiceField(
        label=_("A digest every"),
        choices=HOURS,
        coerce=int,
        help_text=_("Counted from midnight, in your time zone."),
        widget=forms.Select(attrs={"class": "input n"}),
    )
    daily_at = _clock(_("Daily digest at"), _("In your time zone."))
    quiet_from = _clock(_("Quiet from"), _("What comes meanwhile is one message when they end."))
    quiet_to = _clock(_("Quiet until"), _("Leave both empty for none."))
    urgent_breaks = _yes(
        _("Urgent things do not wait"),
        _("High risk, expiry and outages go through quiet hours and digests."),
    )
    is_on = _yes(_("Switched on"), _("Off: nothing is told, and nothing is told afterwards."))

    def __init__(self, operator: Operator, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        reach = operator.reach
        places = Surface.objects.order_by("name")
        if reach.accounts is not None:
            places = places.filter(accounts__in=reach.accounts).distinct()
        self.fields["surfaces"].queryset = places  # type: ignore[attr-defined]
        agents = import_string(settings.AGENT_CHOICES)(reach)
        self.fields["agents"].choices = agents  # type: ignore[attr-defined]
        known = [(kind.name, kind.plural) for kind in kinds().values()]
        self.fields["kinds"].choices = known  # type: ignore[attr-defined]


def form_for(operator: Operator, rule: NoticeRule, posted: Any = None) -> RuleForm:
    """Filled with what the rule says. Its way stays: another way is another rule."""
    kept = {name: getattr(rule, name) for name in ("channel", "url", *PLAIN)}
    if rule.pk:
        kept["surfaces"] = [surface.pk for surface in rule.surfaces.all()]
    form = RuleForm(operator, posted, initial=kept)
    if rule.pk:
        del form.fields["channel"]
        if rule.channel != Channel.WEBHOOK:
            del form.fields["url"]
    return form
