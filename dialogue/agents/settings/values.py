"""What can be set of an agent, by name: its columns, those of its settings, and its kernels."""

from collections.abc import Iterable, Sequence
from typing import Any

from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _

from dialogue.models import Agent, AgentSettings, Kernel
from dialogue.tools.grants import check_grants
from surfaces.errors import BadInput
from surfaces.settings.fields import Column, field_of

KERNELS = "kernels"  # a list, in rows of their own
OF_AGENT = ("name", "persona", "lives", "timezone", "active_from", "active_to")
OF_SETTINGS = tuple(
    field.name for field in AgentSettings._meta.concrete_fields if field.name not in {"id", "agent"}
)
FIELDS = (*OF_AGENT, *OF_SETTINGS, KERNELS)
MAX_KERNELS = 200
MAX_KERNEL = 1_000  # characters
MAX_PERSONA = 20_000


def agent_values(agent: Agent) -> dict[str, Any]:
    kernels = Kernel.objects.filter(agent=agent, is_on=True).order_by("id")
    return {
        **{name: getattr(agent.settings, name) for name in OF_SETTINGS},
        **{name: getattr(agent, name) for name in OF_AGENT},
        KERNELS: list(kernels.values_list("words", flat=True)),
    }


def column(name: str) -> Column:
    """The column a value is kept in; of the kernels, the one for their text."""
    if name == KERNELS:
        return field_of(Kernel, "words")
    return field_of(Agent if name in OF_AGENT else AgentSettings, name)


def is_list(name: str) -> bool:
    return name == KERNELS or column(name).get_internal_type() == "ArrayField"


def cleaned(name: str, value: Any) -> Any:
    """The value as it will be kept, or `BadInput` with what to enter instead."""
    try:
        return clean(name, value)
    except ValidationError as error:
        label = name.replace("_", " ").capitalize()
        raise BadInput("%(why)s", why=f"{label}: {' '.join(error.messages)}") from error


def clean(name: str, value: Any) -> Any:
    if name == KERNELS:
        return _kernels(value)
    if isinstance(value, str):
        value = value.replace("\0", "").replace("\r\n", "\n")
        value = value if name == "persona" else value.strip()  # a prompt stays as it was written
    if isinstance(value, list) and all(isinstance(line, str) for line in value):
        value = _lines(value)
        if name == "grants":
            _check_grants(value)
    kept = column(name).clean(value, None)
    if name == "persona" and len(kept) > MAX_PERSONA:
        message = _("The persona has %(count)s characters. Enter at most %(most)s.")
        raise ValidationError(message % {"count": f"{len(kept):,}", "most": f"{MAX_PERSONA:,}"})
    return kept


def _lines(given: Iterable[str]) -> list[str]:
    """Each once, on one line: pages show and take a list one item a line."""
    lines = dict.fromkeys(" ".join(line.replace("\0", "").split()) for line in given)
    return [line for line in lines if line]


def _check_grants(lines: Sequence[str]) -> None:
    try:
        check_grants(lines)
    except BadInput as error:
        raise ValidationError(str(error)) from error


def _kernels(lines: Iterable[str]) -> list[str]:
    kernels = _lines(lines)
    if len(kernels) > MAX_KERNELS:
        message = _("%(count)s topic seeds are too many. Enter at most %(most)s.")
        raise ValidationError(message % {"count": len(kernels), "most": MAX_KERNELS})
    if longest := next((line for line in kernels if len(line) > MAX_KERNEL), ""):
        message = _("The topic seed “%(start)s…” has more than %(most)s characters. Shorten it.")
        raise ValidationError(message % {"start": longest[:40], "most": f"{MAX_KERNEL:,}"})
    return kernels
