"""How every form of ours looks."""

from typing import Any

from django import forms

CHOSEN = (forms.RadioSelect, forms.CheckboxInput, forms.CheckboxSelectMultiple)
# Of an input for a name that programs read.
HANDLE_ATTRS = {"autocapitalize": "none", "autocomplete": "off", "spellcheck": "false"}


class StyledForm(forms.BaseForm):
    """Fields in our look; each names its help and its error to who cannot see them."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.restyle()

    def restyle(self) -> None:
        """For fields that were added later, too."""
        for name, field in self.fields.items():
            if not isinstance(field.widget, CHOSEN):
                field.widget.attrs.setdefault("class", "input")
            field.widget.attrs["aria-describedby"] = f"help-{name} error-{name}"

    def full_clean(self) -> None:
        super().full_clean()
        for name in self.errors:
            if name in self.fields:
                self.fields[name].widget.attrs["aria-invalid"] = "true"
