"""A new agent, and the account that an agent speaks from."""

from django import forms
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as _lazy

from dialogue.agents.models.agent import Agent
from surfaces import adapters
from surfaces.accounts.forms import MODE_HELP
from surfaces.accounts.models.account import ReplyMode
from surfaces.settings.form_fields import check_legible
from surfaces.web.forms import HANDLE_ATTRS, StyledForm

DIALECTS = sorted(
    {name for each in adapters.READERS.values() for name in each.traits.dialects} - {""}
)


class AgentForm(StyledForm, forms.Form):
    slug = forms.RegexField(
        r"^[a-z0-9][a-z0-9-]*\Z",
        strip=True,
        label=_lazy("Short name"),
        max_length=63,
        help_text=_lazy("For URLs and the audit log. Cannot be changed later."),
        widget=forms.TextInput(attrs=HANDLE_ATTRS),
        error_messages={
            "required": _lazy("Enter a short name."),
            "invalid": _lazy("Use lowercase letters, digits and dashes."),
        },
    )
    name = forms.CharField(
        label=_lazy("Name"),
        max_length=80,
        required=False,
        validators=[check_legible],
        help_text=_lazy("Shown on these pages only."),
    )

    def clean_slug(self) -> str:
        slug: str = self.cleaned_data["slug"]
        if Agent.objects.filter(slug=slug).exists():
            message = _("There is already an agent %(slug)s. Choose another short name.")
            raise forms.ValidationError(message % {"slug": slug})
        return slug


class ConnectForm(StyledForm, forms.Form):
    kind = forms.ChoiceField(label=_lazy("Service"), choices=adapters.kind_choices)
    base_url = forms.CharField(
        label=_lazy("Address"),
        required=False,
        max_length=300,
        help_text=_lazy(
            "Leave empty for the service's default address. Enter a URL to use another server."
        ),
        widget=forms.TextInput(attrs={"placeholder": "https://…", "inputmode": "url"}),
    )
    dialect = forms.ChoiceField(
        label=_lazy("API dialect"),
        required=False,
        choices=[("", _lazy("Ask the service")), *((name, name) for name in DIALECTS)],
        help_text=_lazy(
            "Which form of its API the server speaks. The live Moltbook is “live”, the "
            "open-source server is “open”."
        ),
    )
    agent = forms.CharField(
        label=_lazy("Agent"),
        max_length=64,
        help_text=_lazy(
            "Short name of the agent: letters, digits, hyphens. A new agent is created with "
            "automatic replies on."
        ),
        widget=forms.TextInput(attrs=HANDLE_ATTRS),
    )
    handle = forms.CharField(
        label=_lazy("Handle"),
        required=False,
        max_length=120,
        help_text=_lazy(
            "The account's name on the service. Leave empty to read it from the service."
        ),
        widget=forms.TextInput(attrs=HANDLE_ATTRS),
    )
    token = forms.CharField(
        label=_lazy("Credential"),
        required=False,
        max_length=4000,
        help_text=_lazy("Stored encrypted and never shown again. The built-in hub needs none."),
        widget=forms.PasswordInput(attrs={"autocomplete": "new-password"}),
    )
    every = forms.IntegerField(
        label=_lazy("Poll interval"),
        required=False,
        min_value=1,
        max_value=1440,
        help_text=_lazy("Minutes between two polls."),
        error_messages={
            "min_value": _lazy("Enter 1 to 1440 minutes."),
            "max_value": _lazy("Enter 1 to 1440 minutes."),
            "invalid": _lazy("Enter a whole number of minutes, 1 to 1440."),
        },
        widget=forms.NumberInput(attrs={"class": "input n"}),
    )
    mode = forms.ChoiceField(
        label=_lazy("Mode"),
        required=False,
        choices=[("", _lazy("Default")), *reversed(ReplyMode.choices)],
        initial="",
        help_text=MODE_HELP,
        widget=forms.RadioSelect,
    )
