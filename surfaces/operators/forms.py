"""Forms of operators, profile, two-factor authentication and API keys."""

from collections.abc import Callable, Iterable
from functools import cache
from typing import Any
from zoneinfo import available_timezones

from django import forms
from django.contrib.auth.forms import PasswordChangeForm
from django.forms.utils import flatatt
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _

from surfaces.accounts.models.surface import Surface
from surfaces.errors import RuleBroken
from surfaces.operators.models.api_key import KeyScope
from surfaces.operators.models.operator import Operator, Role
from surfaces.operators.services import agent_choices
from surfaces.web.forms import HANDLE_ATTRS, StyledForm


class CodeForm(StyledForm, forms.Form):
    """Six digits, or a recovery code; whether it is right is asked where it is taken."""

    code = forms.CharField(
        label=_("Code"),
        max_length=40,
        help_text=_("Six digits. They change every 30 s."),
        widget=forms.TextInput(
            HANDLE_ATTRS
            | {"autocomplete": "one-time-code", "inputmode": "numeric", "class": "input n"}
        ),
    )


class PasskeyForm(StyledForm, forms.Form):
    name = forms.CharField(
        label=_("Name"), max_length=60, help_text=_("Where it is kept, such as “Laptop”.")
    )
    credential = forms.CharField(required=False, widget=forms.HiddenInput)


class PasswordForm(StyledForm, PasswordChangeForm):
    """The old one once, the new one twice. `check` raises `RuleBroken` for a wrong old one."""

    def __init__(self, *args: Any, check: Callable[[str], None], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.check = check

    def clean_old_password(self) -> str:
        given = str(self.cleaned_data["old_password"])
        try:
            self.check(given)
        except RuleBroken as error:
            raise forms.ValidationError(str(error)) from error
        return given


@cache
def zones() -> list[tuple[str, str]]:
    return [(zone, zone.replace("_", " ")) for zone in sorted(available_timezones())]


class ZoneSelect(forms.Select):
    """Six hundred choices in one piece: a template for each would cost as much as three pages."""

    def render(self, name: str, value: Any, attrs: Any = None, renderer: Any = None) -> SafeString:
        options = "".join(
            f'<option value="{zone}"{" selected" if zone == value else ""}>{words}</option>'
            for zone, words in zones()
        )
        given = flatatt(self.build_attrs(self.attrs, attrs))
        return format_html('<select name="{}"{}>{}</select>', name, given, SafeString(options))


class ProfileForm(StyledForm, forms.ModelForm):  # type: ignore[type-arg]
    time_zone = forms.ChoiceField(
        label=_("Time zone"),
        choices=zones,
        help_text=_("Every time on every page is shown in it."),
        widget=ZoneSelect,
    )

    class Meta:
        model = Operator
        fields = ["first_name", "last_name", "email", "language", "time_zone"]
        labels = {"language": _("Language")}
        help_texts = {"language": _("Language of all pages, for you only.")}


def limit_choice(label: Any, every: Any, some: Any, help_text: Any = "") -> Any:
    """All, or only those that are selected: which may be none, when they were deleted."""
    return forms.TypedChoiceField(
        label=label,
        help_text=help_text,
        choices=[(False, every), (True, some)],
        coerce=lambda value: value == "True",
        empty_value="",
        required=False,
        initial=False,
        widget=forms.RadioSelect,
    )


def check_limits(form: forms.Form, kinds: Iterable[str]) -> None:
    """Selected ones limit. Selected ones beside “all” are an error, never no limit."""
    given = form.cleaned_data
    for kind in kinds:
        only = f"only_{kind}"
        if given.get(kind) and not given.get(only) and form.data.get(form.add_prefix(only)):
            form.add_error(only, _("Choose “only these”, or deselect all of them."))
        given[only] = bool(given.get(only) or given.get(kind))


class LimitsForm(StyledForm, forms.Form):
    """Some surfaces, some agents, or all of them."""

    only_surfaces = limit_choice(_("Surfaces"), _("All surfaces"), _("Only these surfaces"))
    surfaces = forms.MultipleChoiceField(
        label=_("Only these surfaces"), required=False, widget=forms.CheckboxSelectMultiple
    )
    only_agents = limit_choice(
        _("Agents"),
        _("All agents"),
        _("Only these agents"),
        _("Only these: their drafts, and the accounts assigned to them."),
    )
    agents = forms.MultipleChoiceField(
        label=_("Only these agents"), required=False, widget=forms.CheckboxSelectMultiple
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        fields: dict[str, Any] = self.fields
        places = Surface.objects.order_by("name").values_list("slug", "name")
        fields["surfaces"].choices = list(places)
        fields["agents"].choices = agent_choices()

    def clean(self) -> dict[str, Any]:
        super().clean()
        check_limits(self, ("surfaces", "agents"))
        return self.cleaned_data


LIMIT_FIELDS = ("only_surfaces", "surfaces", "only_agents", "agents")


class RoleForm(LimitsForm):
    role = forms.ChoiceField(label=_("Role"), choices=Role.choices, widget=forms.RadioSelect)
    seen = forms.CharField(required=False, widget=forms.HiddenInput)

    field_order = ["role", *LIMIT_FIELDS]


class OperatorForm(RoleForm):
    username = forms.CharField(
        label=_("Username"),
        max_length=150,
        help_text=_("Letters, digits and @ . + - _"),
        widget=forms.TextInput(attrs=HANDLE_ATTRS),
    )
    name = forms.CharField(label=_("Name"), required=False, max_length=150)
    email = forms.EmailField(
        label=_("Email"), required=False, help_text=_("Used for notifications.")
    )

    field_order = ["username", "name", "email", "role", *LIMIT_FIELDS]


DAYS = [(30, _("30 days")), (90, _("90 days")), (365, _("1 year")), (0, _("never"))]


class ApiKeyForm(LimitsForm):
    name = forms.CharField(
        label=_("Name"), max_length=80, help_text=_("The client that uses this key.")
    )
    owner = forms.ChoiceField(
        label=_("Owner"), help_text=_("The key never has more access than its owner.")
    )
    scope = forms.ChoiceField(
        label=_("Scope"), choices=KeyScope.choices, initial=KeyScope.READ, widget=forms.RadioSelect
    )
    days = forms.TypedChoiceField(label=_("Expires"), choices=DAYS, coerce=int, initial=90)

    field_order = ["name", "owner", "scope", "days", *LIMIT_FIELDS]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        people = Operator.objects.filter(is_active=True).order_by("username")
        owners = [
            (_("Operators"), [(f"operator:{one.pk}", one.name) for one in people]),
            (_("Agents"), [(f"agent:{slug}", name) for slug, name in agent_choices()]),
        ]
        self.fields["owner"].choices = owners  # type: ignore[attr-defined]

    def owned(self) -> tuple[Operator | None, str]:
        kind, _kind, key = str(self.cleaned_data["owner"]).partition(":")
        if kind == "agent":
            return None, key
        return Operator.objects.filter(pk=int(key)).first(), ""
