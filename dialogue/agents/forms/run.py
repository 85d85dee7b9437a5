"""What an agent runs for now, as an operator asks."""

from django import forms
from django.utils.translation import gettext_lazy as _lazy

from dialogue.activations.requests import LONGEST_TASK, REQUESTED
from surfaces.web.forms import StyledForm


class RunForm(StyledForm, forms.Form):
    purpose = forms.ChoiceField(
        choices=[(purpose, purpose) for purpose in sorted(REQUESTED)],
        error_messages={"required": _lazy("Choose what it should do.")},
    )
    task = forms.CharField(
        required=False,
        widget=forms.Textarea(
            attrs={
                "id": "run-task",
                "rows": 2,
                "maxlength": LONGEST_TASK,
                "dir": "auto",
                "placeholder": _lazy("Only for a task: what the agent should do"),
            }
        ),
    )

    def clean_task(self) -> str:
        """A browser counts a line break once and sends it as two characters."""
        task: str = self.cleaned_data["task"]
        return task.replace("\r\n", "\n")
