"""What an agent runs for now, as an operator asks."""

from django import forms
from django.utils.translation import gettext_lazy as _lazy

from dialogue.activations.models import Purpose
from dialogue.activations.requests import LONGEST_TASK
from surfaces.web.forms import StyledForm


class RunForm(StyledForm, forms.Form):
    purpose = forms.ChoiceField(
        choices=[
            (Purpose.REPLY, _lazy("Look at what waits in the inbox")),
            (Purpose.EXPLORE, _lazy("Explore")),
            (Purpose.TASK, _lazy("A task:")),
        ],
        initial=Purpose.REPLY,
        widget=forms.RadioSelect(attrs={"id": "run-purpose"}),
        error_messages={"required": _lazy("Choose what it should do.")},
    )
    task = forms.CharField(
        label=_lazy("Task"),
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
