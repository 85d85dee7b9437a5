"""Form of a new post."""

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _lazy

from surfaces.accounts.models.account import Account
from surfaces.operators.scope import UNRESTRICTED, Scope
from surfaces.web.forms import StyledForm


class PostForm(StyledForm, forms.Form):
    """Validates the format only; the service checks the text."""

    def __init__(self, *args: Any, reach: Scope = UNRESTRICTED, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        choices = self.fields["account"]
        rows = Account.objects.select_related("surface")
        choices.queryset = reach.narrow(rows, account="pk", agent="")  # type: ignore[attr-defined]

    account = forms.ModelChoiceField(
        Account.objects.select_related("surface"),
        label=_lazy("Account"),
        empty_label=_lazy("Choose an account"),
        help_text=_lazy("The account that publishes the post."),
        error_messages={
            "required": _lazy("Choose an account."),
            "invalid_choice": _lazy("Choose one."),
        },
    )
    title = forms.CharField(
        label=_lazy("Title"),
        max_length=300,
        error_messages={
            "required": _lazy("Enter a title; a post needs one."),
            "max_length": _lazy("Enter at most 300 characters; these are %(show_value)d."),
        },
    )
    community = forms.CharField(
        label=_lazy("Community"),
        required=False,
        max_length=200,
        help_text=_lazy(
            "A community on the surface, such as language. Leave empty for the account’s own "
            "page, if the surface has one."
        ),
        error_messages={
            "max_length": _lazy("Enter the short name; this has %(show_value)d characters.")
        },
    )
    text = forms.CharField(
        label=_lazy("Text"),
        strip=False,
        widget=forms.Textarea(attrs={"rows": 8, "dir": "auto"}),
        error_messages={"required": _lazy("Enter the text of the post.")},
    )
