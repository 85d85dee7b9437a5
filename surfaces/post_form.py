"""What people may enter for a new post."""

from __future__ import annotations

from typing import Any

from django import forms

from surfaces.forms import Dressed
from surfaces.models import Account
from surfaces.reach import WHOLE, Reach


class PostForm(Dressed, forms.Form):
    """Shape only; whether the words may be said is asked where they are written down."""

    def __init__(self, *args: Any, reach: Reach = WHOLE, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        choices = self.fields["account"]
        rows = Account.objects.select_related("surface")
        choices.queryset = reach.narrow(rows, account="pk", agent="")  # type: ignore[attr-defined]

    account = forms.ModelChoiceField(
        Account.objects.select_related("surface"),
        empty_label="Choose an account",
        help_text="Who says it, and where.",
        error_messages={"required": "Choose who should say it.", "invalid_choice": "Choose one."},
    )
    title = forms.CharField(
        max_length=300,
        error_messages={
            "required": "Enter a title; a post needs one.",
            "max_length": "Enter at most 300 characters; these are %(show_value)d.",
        },
    )
    community = forms.CharField(
        required=False,
        max_length=200,
        help_text="Where on the surface, like language. Empty: our own page, where there is one.",
        error_messages={"max_length": "Enter the short name; this has %(show_value)d characters."},
    )
    text = forms.CharField(
        strip=False,
        widget=forms.Textarea(attrs={"rows": 8, "dir": "auto"}),
        error_messages={"required": "Write what should be said."},
    )
