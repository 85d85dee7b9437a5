"""What importing a file would change: what it asks for, compared with what is stored.

A key is compared and never shown: a difference names the variable that holds it.
"""

import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from dialogue.agent_files.config import KEY_VARIABLES, DesiredAgent, kept_only
from dialogue.agent_files.schema import COLUMNS, ModelSpec
from dialogue.agents.settings.values import KERNELS, OF_AGENT, OF_SETTINGS, agent_values, is_list
from dialogue.errors import VoiceMisconfigured
from dialogue.models import Agent, AgentSettings, ModelEndpoint
from dialogue.voice.endpoints import goes_to, seal_key
from surfaces.errors import BadInput
from surfaces.settings.changes import to_text

LISTS = {name for name in COLUMNS.values() if is_list(name)}


class FieldDifference(NamedTuple):
    """One field that is to change: lines for people, never a secret."""

    name: str
    before: list[str]
    after: list[str]


@dataclass(frozen=True, kw_only=True, slots=True)
class ImportPlan:
    desired: DesiredAgent
    agent: Agent | None  # None: it is to be created
    models: list[ModelSpec]
    keys: dict[int, str] = field(repr=False)  # new ones, in the clear, by the rank of a model
    missing_keys: list[str]  # variables that should hold a key, and do not
    carried: dict[str, Any]
    differences: list[FieldDifference]

    @property
    def changed(self) -> list[str]:
        return [difference.name for difference in self.differences]


def make_plan(desired: DesiredAgent, environ: Mapping[str, str]) -> ImportPlan:
    """Compare with the stored agent, and lock it. Problems are reported to the document."""
    rows = Agent.objects.select_for_update(of=("self",)).select_related("settings")
    if agent := rows.filter(slug=desired.slug).first():
        values, brains, stored = agent_values(agent), list(agent.brains.all()), agent.carried
    else:
        made = ((AgentSettings(), OF_SETTINGS), (Agent(), OF_AGENT))
        values = {name: getattr(row, name) for row, names in made for name in names}
        values, brains, stored = values | {KERNELS: []}, [], {}
    held = specs_of(brains, stored)
    models = desired.models(held)
    owned = {goes_to(brain): brain for brain in brains}
    keys, missing = _find_keys(models, owned, environ)
    _check(desired, {**values, **desired.values}, models, keys)
    variables = {_model_id(it.name, it.api_base): it.api_key_env for it in models if it.api_key_env}
    carried = desired.carried | ({KEY_VARIABLES: variables} if variables else {})
    before = _lines({name: values[name] for name in desired.values}, held, stored)
    after = _lines(desired.values, models, carried)
    pairs = ((name, before.get(name, []), after.get(name, [])) for name in {**before, **after})
    # A list in another order is the same.
    differences = [
        FieldDifference(name, old, new)
        for name, old, new in pairs
        if (sorted(old) != sorted(new) if name in LISTS else old != new)
    ]
    for spec in map(models.__getitem__, keys):
        line = f"the value of {spec.api_key_env}"
        differences.append(FieldDifference(f"key of {spec.name}", [], [line]))
    return ImportPlan(
        desired=desired, agent=agent, models=models, keys=keys, missing_keys=missing,
        carried=carried, differences=differences,
    )  # fmt: skip


def _model_id(name: str, address: str | None) -> str:
    """What the variable of a key is stored under."""
    return f"{name} {address or ''}".strip()


def specs_of(brains: list[ModelEndpoint], carried: Mapping[str, Any]) -> list[ModelSpec]:
    """The models of an agent, as a file would name them."""
    variables = carried.get(KEY_VARIABLES, {})
    return [
        ModelSpec.model_construct(
            provider=brain.model.partition(":")[0],
            model=brain.model.partition(":")[2],
            api_base=brain.base_url or None,
            api_key_env=variables.get(_model_id(brain.model, brain.base_url)),
            output_style=brain.output_style,
            streams=brain.streams,
        )
        for brain in brains
    ]


def _find_keys(
    models: list[ModelSpec], stored: Mapping[Any, ModelEndpoint], environ: Mapping[str, str]
) -> tuple[dict[int, str], list[str]]:
    """New keys by the rank of their model, and variables that should hold one and do not."""
    keys, missing = {}, []
    for rank, spec in enumerate(models):
        if not spec.api_key_env:
            continue
        given, known = environ.get(spec.api_key_env, "").strip(), ""
        # None may be stored; one that cannot be decrypted is replaced by any other.
        with suppress(KeyError, VoiceMisconfigured):
            known = stored[spec.provider, spec.api_base or ""].key
        if given and given != known:
            keys[rank] = given
        elif not given and not known:
            missing.append(spec.api_key_env)
    return keys, missing


def _check(
    desired: DesiredAgent, values: Mapping[str, Any], models: list[ModelSpec], keys: dict[int, str]
) -> None:
    """Report what is valid in the file and does not fit what is stored."""
    for what in ("money", "tokens"):
        day, month = f"{what}_per_day", f"{what}_per_month"
        given = [name for name in (day, month) if name in desired.values]
        if given and values[day] > values[month]:
            why = f"makes the budget of a day, {to_text(values[day])}, more than that of a month"
            path = next(tuple(key.split(".")) for key, name in COLUMNS.items() if name == given[0])
            desired.document.report(path, f"{why}, {to_text(values[month])}")
    for rank, key in keys.items():
        try:
            seal_key(key)
        except BadInput:
            why = f"names {models[rank].api_key_env}, whose value cannot be a key: it is too long"
            desired.document.report(("brain",), f"{why} or contains control characters")


def _lines(
    values: Mapping[str, Any], models: list[ModelSpec], carried: dict[str, Any]
) -> dict[str, list[str]]:
    lines = {
        name: value if isinstance(value, list) else to_text(value).split("\n")
        for name, value in values.items()
        if value not in (None, "")
    }
    lines["models"] = [str(spec) for spec in models]
    for name, value in sorted(kept_only(carried).items()):
        # The database keeps no order of keys.
        lines[name] = [json.dumps(value, ensure_ascii=False, sort_keys=True)]
    return lines
