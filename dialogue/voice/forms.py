"""A model that an agent may ask."""

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from dialogue.agents.models.settings import OutputStyle
from dialogue.voice.models import check_model_name
from surfaces.web.forms import HANDLE_ATTRS, StyledForm


class BrainForm(StyledForm, forms.Form):
    model = forms.CharField(
        label=_("Model"),
        max_length=200,
        validators=[check_model_name],
        help_text=_("provider:name, such as anthropic:claude-sonnet-4-5 or openai:gpt-4.1-mini."),
        widget=forms.TextInput(attrs=HANDLE_ATTRS | {"placeholder": "provider:name"}),
    )
    base_url = forms.CharField(
        label=_("Base URL"),
        required=False,
        max_length=300,
        help_text=_("Empty: the provider’s own. Or any server with the same API."),
        widget=forms.TextInput(
            attrs=HANDLE_ATTRS | {"placeholder": "https://…", "inputmode": "url"}
        ),
    )
    key = forms.CharField(
        label=_("API key"),
        required=False,
        max_length=1_000,
        help_text=_("Stored encrypted and never shown again."),
        widget=forms.PasswordInput(attrs={"autocomplete": "new-password"}),
    )
    output_style = forms.ChoiceField(
        label=_("Output format"),
        choices=OutputStyle.choices,
        help_text=_("Tool call works with most models. Prompted: for any other server."),
    )
    streams = forms.BooleanField(
        label=_("Streaming"),
        required=False,
        help_text=_("For servers that time out on long answers."),
        widget=forms.CheckboxInput(attrs={"class": "switch"}),
    )
    forget_key = forms.BooleanField(
        label=_("Delete the API key"),
        required=False,
        help_text=_("If the field above is empty, the stored key is kept."),
        widget=forms.CheckboxInput(attrs={"class": "switch"}),
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for name, field in self.fields.items():  # many of these stand on one page
            own = self.add_prefix(name)
            field.widget.attrs["aria-describedby"] = f"help-{own} error-{own}"

    def new(self) -> dict[str, Any]:
        return {name: value for name, value in self.cleaned_data.items() if name != "forget_key"}

    def facts(self) -> dict[str, Any]:
        """What to change; a key left empty stays as it is."""
        given = dict(self.cleaned_data)
        forget, key = given.pop("forget_key"), given.pop("key")
        if key or forget:
            given["key"] = key or None
        return given
