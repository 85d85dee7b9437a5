"""Form of a webhook."""

from django import forms
from django.utils.translation import gettext_lazy as _lazy

from dialogue.wake_hooks.models import HookKind
from surfaces.net import safe_urls
from surfaces.web.forms import HANDLE_ATTRS, StyledForm


class HookForm(StyledForm, forms.Form):
    """Validates the format only; the service checks whether the URL is allowed."""

    kind = forms.ChoiceField(
        label=_lazy("Format"),
        choices=HookKind.choices,
        initial=HookKind.WEBHOOK,
        widget=forms.RadioSelect,
    )
    url = forms.CharField(
        label=_lazy("URL"),
        max_length=safe_urls.LONGEST,
        help_text=_lazy("Events are posted here. For an OpenClaw gateway, enter its base URL."),
        widget=forms.TextInput(
            attrs=HANDLE_ATTRS | {"inputmode": "url", "placeholder": "https://…"}
        ),
        error_messages={"required": _lazy("Enter the URL that receives the events.")},
    )
    secret = forms.CharField(
        label=_lazy("Secret"),
        required=False,
        max_length=4000,
        help_text=_lazy(
            "Webhook: whsec_ and base64; if empty, a secret is generated and shown once. OpenClaw:"
            " the token of its hooks. Stored encrypted; leave empty to keep the stored one."
        ),
        widget=forms.PasswordInput(attrs={"autocomplete": "new-password"}),
    )
    is_on = forms.BooleanField(
        label=_lazy("Enabled"),
        required=False,
        initial=True,
        help_text=_lazy("Off: nothing is sent; new comments are announced when it is on again."),
        widget=forms.CheckboxInput(attrs={"class": "switch"}),
    )
