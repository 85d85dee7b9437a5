"""What can be tuned of an agent: by name, checked, and in the ledger's words and back."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from django.core.exceptions import ValidationError
from django.db import models

from dialogue.models import Agent, AgentSettings, HouseBudget, Kernel
from surfaces.changes import ChangedMeanwhile, check_seen, in_words, mark_of
from surfaces.errors import BadInput
from surfaces.knobs import field_of

__all__ = [
    "CHANGED",
    "KERNELS",
    "LONGEST_PERSONA",
    "MOST_KERNELS",
    "OF_AGENT",
    "OF_HOUSE",
    "OF_SETTINGS",
    "TUNABLE",
    "Changed",
    "ChangedMeanwhile",
    "Values",
    "check_seen",
    "cleaned",
    "column",
    "field_of",
    "from_words",
    "in_words",
    "is_list",
    "mark_of",
    "only",
    "values_of",
]

CHANGED = "agent.changed"
KERNELS = "kernels"  # a list, in rows of their own
OF_AGENT = ("name", "persona", "lives", "timezone", "active_from", "active_to")
OF_SETTINGS = tuple(
    field.name for field in AgentSettings._meta.concrete_fields if field.name not in {"id", "agent"}
)
OF_HOUSE = tuple(field.name for field in HouseBudget._meta.concrete_fields if field.name != "id")
TUNABLE = (*OF_AGENT, *OF_SETTINGS, KERNELS)
MOST_KERNELS = 200
LONGEST_PERSONA = 20_000

Values = Mapping[str, Any]
Changed = dict[str, list[str]]  # {field: [before, after]}, as the ledger has it


def values_of(agent: Agent) -> dict[str, Any]:
    """Everything that can be tuned, as it is."""
    kernels = Kernel.objects.filter(agent=agent, is_on=True).order_by("id")
    return {
        **{name: getattr(agent.settings, name) for name in OF_SETTINGS},
        **{name: getattr(agent, name) for name in OF_AGENT},
        KERNELS: list(kernels.values_list("words", flat=True)),
    }


def only(values: Values, known: Iterable[str]) -> Values:
    unknown = sorted(set(values).difference(known))
    if unknown:
        raise BadInput(f"There is no setting {', '.join(unknown)}.")
    return values


def column(name: str) -> models.Field[Any, Any]:
    """The column a value is kept in; of the kernels, the one for their words."""
    if name == KERNELS:
        return Kernel._meta.get_field("words")
    return field_of(Agent if name in OF_AGENT else AgentSettings, name)


def is_list(name: str) -> bool:
    return name == KERNELS or column(name).get_internal_type() == "ArrayField"


# ── checking ──────────────────────────────────────────────────────────────


def cleaned(name: str, value: Any) -> Any:
    """The value as it will be kept, or `BadInput` with what to enter instead."""
    field = column(name)
    if name == KERNELS:
        return _kernels(value)
    if isinstance(value, str):
        value = value.replace("\0", "").replace("\r\n", "\n").strip()
    if isinstance(value, list):
        value = [line.replace("\0", "") if isinstance(line, str) else line for line in value]
    try:
        kept = field.clean(value, None)
    except ValidationError as error:
        label = str(field.verbose_name).capitalize()
        raise BadInput(f"{label}: {' '.join(error.messages)}") from error
    if name == "persona" and len(kept) > LONGEST_PERSONA:
        raise BadInput(
            f"The persona has {len(kept):,} characters. Enter at most {LONGEST_PERSONA:,}."
        )
    return list(dict.fromkeys(kept)) if isinstance(kept, list) else kept


def _kernels(lines: Iterable[str]) -> list[str]:
    kept = dict.fromkeys(" ".join(line.replace("\0", "").split()) for line in lines)
    kernels = [line for line in kept if line]
    if len(kernels) > MOST_KERNELS:
        raise BadInput(f"{len(kernels)} kernels are too many. Keep at most {MOST_KERNELS}.")
    if longest := next((line for line in kernels if len(line) > 1000), ""):
        raise BadInput(f"The kernel “{longest[:40]}…” has more than 1,000 characters. Shorten it.")
    return kernels


# ── words ─────────────────────────────────────────────────────────────────


def from_words(name: str, words: str) -> Any:
    if is_list(name):
        return json.loads(words) if words else []
    if isinstance(column(name), models.BooleanField):
        return words == "yes"
    return None if words == "" and column(name).null else words
