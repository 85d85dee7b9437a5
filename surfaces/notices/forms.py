"""Form of a notification rule."""

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from surfaces.accounts.models.surface import Surface
from surfaces.desk.kinds import kinds
from surfaces.desk.models import Risk
from surfaces.extension_points import agent_scope
from surfaces.net import safe_urls
from surfaces.notices.models.rule import Channel, NoticeFrequency, NoticeRule
from surfaces.notices.rules import PLAIN
from surfaces.operators.forms import check_limits, limit_choice
from surfaces.operators.models.operator import Operator
from surfaces.web.forms import HANDLE_ATTRS, StyledForm

HOURS = [(1, _("hour")), (2, _("2 hours")), (3, _("3 hours")), (4, _("4 hours")),
         (6, _("6 hours")), (8, _("8 hours")), (12, _("12 hours"))]  # fmt: skip
RISKS = [(Risk.LOW, _("Any risk")), (Risk.SOME, _("Medium or high risk")),
         (Risk.HIGH, _("High risk"))]  # fmt: skip
BOUNDS = {
    0: _("Enter 0 to 1440 minutes."),
    1: _("Enter 1 to 1440 minutes."),
}


def _yes(label: Any, help_text: Any) -> forms.BooleanField:
    widget = forms.CheckboxInput(attrs={"class": "switch"})
    return forms.BooleanField(label=label, help_text=help_text, required=False, widget=widget)


def _minutes(label: Any, help_text: Any, least: int) -> forms.IntegerField:
    return forms.IntegerField(
        label=label,
        help_text=help_text,
        min_value=least,
        max_value=1440,
        error_messages=dict.fromkeys(("min_value", "max_value", "invalid"), BOUNDS[least]),
        widget=forms.NumberInput(attrs={"class": "input n"}),
    )


def _clock(label: Any, help_text: Any = "") -> forms.TimeField:
    return forms.TimeField(
        label=label,
        help_text=help_text,
        required=False,
        error_messages={"invalid": _("Enter a time such as 08:00.")},
        widget=forms.TimeInput(format="%H:%M", attrs={"type": "time", "class": "input n"}),
    )


def _several(label: Any, help_text: Any) -> forms.MultipleChoiceField:
    return forms.MultipleChoiceField(
        label=label,
        help_text=help_text,
        required=False,
        widget=forms.CheckboxSelectMultiple,
        error_messages={"invalid_choice": _("Select one of the listed options.")},
    )


class RuleForm(StyledForm, forms.Form):
    """Shape only; what fits together is asked where the rule is kept."""

    channel = forms.ChoiceField(
        label=_("Channel"),
        choices=Channel.choices,
        initial=Channel.PAGE,
        widget=forms.RadioSelect,
        error_messages={"required": _("Select the app, email or a webhook.")},
    )
    url = forms.CharField(
        label=_("Webhook URL"),
        required=False,
        max_length=safe_urls.LONGEST,
        help_text=_(
            "Notifications are sent here by POST, signed according to Standard Webhooks. Only"
            " for webhooks."
        ),
        widget=forms.TextInput(
            attrs=HANDLE_ATTRS | {"inputmode": "url", "placeholder": "https://…"}
        ),
    )
    hears_items = _yes(_("New desk items"), _("Notify when a new item needs a decision."))
    hears_expiring = _yes(_("About to expire"), _("Notify before a decision expires."))
    expires_minutes = _minutes(_("Time before expiry"), _("How long before expiry to notify."), 1)
    hears_down = _yes(
        _("Surfaces down"), _("Notify when a surface goes down and again when it is back.")
    )
    down_minutes = _minutes(
        _("Minimum downtime"), _("Rejected or suspended accounts are reported immediately."), 0
    )
    hears_house = _yes(
        _("Instance alerts"),
        _("Sending paused for 4 h, a process without heartbeat, or a budget used up."),
    )
    hears_sign_ins = _yes(
        _("Sign-ins"),
        _("Sign-ins to your account from a new browser or network, and failed ones."),
    )
    sends_reports = _yes(
        _("Agent reports"),
        _(
            "What agents saw, wrote and could not do, at most once an hour. Nothing is sent for an"
            " hour in which nothing happened."
        ),
    )
    kinds = _several(
        _("Only these kinds"), _("Applies to desk items. If none is selected: all kinds.")
    )
    min_risk = forms.TypedChoiceField(
        label=_("Risk"),
        choices=RISKS,
        coerce=int,
        help_text=_("Applies to desk items. High risk counts as urgent."),
    )
    only_surfaces = limit_choice(
        _("Surfaces"), _("All surfaces you have access to"), _("Only these surfaces")
    )
    surfaces = forms.ModelMultipleChoiceField(
        Surface.objects.none(),
        label=_("Only these surfaces"),
        required=False,
        widget=forms.CheckboxSelectMultiple,
    )
    only_agents = limit_choice(
        _("Agents"),
        _("All agents"),
        _("Only these agents"),
        _("Only these: desk notifications for drafts of these agents."),
    )
    agents = _several(_("Only these agents"), "")
    pace = forms.ChoiceField(
        label=_("Schedule"),
        choices=NoticeFrequency.choices,
        widget=forms.RadioSelect,
        help_text=_("Immediately: within a minute, at most one message per 5 minutes."),
    )
    every_hours = forms.TypedChoiceField(
        label=_("Digest interval"),
        choices=HOURS,
        coerce=int,
        help_text=_("Counted from midnight, in your time zone."),
        widget=forms.Select(attrs={"class": "input n"}),
    )
    daily_at = _clock(_("Daily digest at"), _("In your time zone."))
    quiet_from = _clock(
        _("Quiet hours from"),
        _("Notifications during quiet hours are sent as one message when they end."),
    )
    quiet_to = _clock(_("Quiet hours until"), _("Leave both empty for no quiet hours."))
    urgent_breaks = _yes(
        _("Send urgent notifications immediately"),
        _("High risk, expiry and outages ignore quiet hours and digests."),
    )
    is_on = _yes(_("Enabled"), _("If disabled, no notifications are sent or stored for later."))

    def __init__(self, operator: Operator, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        fields: dict[str, Any] = self.fields
        reach = operator.reach
        fields["surfaces"].queryset = Surface.objects.order_by("name")
        if reach.accounts is not None:
            here = fields["surfaces"].queryset.filter(accounts__in=reach.accounts)
            fields["surfaces"].queryset = here.distinct()
        fields["agents"].choices = agent_scope().choices(reach)
        fields["kinds"].choices = [(kind.name, kind.plural) for kind in kinds().values()]

    def clean(self) -> dict[str, Any]:
        super().clean()
        check_limits(self, ("surfaces", "agents"))
        return self.cleaned_data


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
