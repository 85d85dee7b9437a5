"""A new agent."""

from __future__ import annotations

from django import forms
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as _lazy

from dialogue.agents.models.agent import Agent
from surfaces.settings.form_fields import check_legible
from surfaces.web.forms import HANDLE_ATTRS, StyledForm


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
            raise forms.ValidationError(
                _("There is already an agent %(slug)s. Choose another short name.") % {"slug": slug}
            )
        return slug
