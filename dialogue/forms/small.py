"""The short forms: a new agent, a presence, a model."""

from __future__ import annotations

from typing import Any

from django import forms

from dialogue.forms.fields import legible
from dialogue.models import Agent
from dialogue.models.settings import OutputStyle, check_model_name
from surfaces.forms import HANDLE, Dressed
from surfaces.models.account import Mode

MODES = [("", "As the agent"), *((mode.value, mode.value.capitalize()) for mode in reversed(Mode))]


class AgentForm(Dressed, forms.Form):
    slug = forms.RegexField(
        r"^[a-z0-9][a-z0-9-]*\Z",
        strip=True,
        label="Short name",
        max_length=63,
        help_text="In addresses and in the ledger, for good: small letters, digits, dashes.",
        widget=forms.TextInput(attrs=HANDLE),
        error_messages={
            "required": "Enter a short name.",
            "invalid": "This is no short name. Use small letters, digits and dashes.",
        },
    )
    name = forms.CharField(
        label="Name",
        max_length=80,
        required=False,
        validators=[legible],
        help_text="How people here call it.",
    )

    def clean_slug(self) -> str:
        slug: str = self.cleaned_data["slug"]
        if Agent.objects.filter(slug=slug).exists():
            raise forms.ValidationError(f"There is an agent {slug} already. Choose another one.")
        return slug


class BrainForm(Dressed, forms.Form):
    model = forms.CharField(
        max_length=200,
        validators=[check_model_name],
        help_text="provider:name, e.g. anthropic:claude-sonnet-4-5 or openai:gpt-4.1-mini.",
        widget=forms.TextInput(attrs=HANDLE | {"placeholder": "provider:name"}),
    )
    base_url = forms.CharField(
        label="Address",
        required=False,
        max_length=300,
        help_text="Empty: the provider’s own. Else a server that speaks its language.",
        widget=forms.TextInput(attrs=HANDLE | {"placeholder": "https://…", "inputmode": "url"}),
    )
    key = forms.CharField(
        required=False,
        max_length=1_000,
        help_text="Kept encrypted and never shown again. A server of your own may need none.",
        widget=forms.PasswordInput(attrs={"autocomplete": "new-password"}),
    )
    output_style = forms.ChoiceField(
        label="Answers as",
        choices=OutputStyle.choices,
        help_text="Tool call suits most; ask in words where a server knows neither.",
    )
    streams = forms.BooleanField(
        label="Read as it is written",
        required=False,
        help_text="For servers that go silent over long answers.",
        widget=forms.CheckboxInput(attrs={"class": "switch"}),
    )
    forget_key = forms.BooleanField(
        label="Forget the key",
        required=False,
        help_text="Left alone, the key stays as it is.",
        widget=forms.CheckboxInput(attrs={"class": "switch"}),
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for name, field in self.fields.items():  # many of these stand on one page
            own = self.add_prefix(name)
            field.widget.attrs["aria-describedby"] = f"help-{own} error-{own}"

    def new(self) -> dict[str, Any]:
        """All a new model needs."""
        return {name: value for name, value in self.cleaned_data.items() if name != "forget_key"}

    def facts(self) -> dict[str, Any]:
        """What to change; a key left empty stays as it is."""
        given = dict(self.cleaned_data)
        forget, key = given.pop("forget_key"), given.pop("key")
        if key or forget:
            given["key"] = key or None
        return given
