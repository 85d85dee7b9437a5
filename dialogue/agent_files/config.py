"""From the text of an agent's config.yaml to what it asks for, and back.

What a file leaves out stays as it is. Whether an agent answers by itself is never in a file.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import time
from decimal import Decimal
from difflib import get_close_matches
from typing import Any, TypeVar

import yaml
from pydantic import ValidationError

from dialogue.agent_files import schema
from dialogue.agent_files.schema import KEYS, NO_MODEL, ConfigSection, ModelSpec
from dialogue.agent_files.strict_yaml import KeyPath, YamlDocument
from dialogue.agents.models.settings import VoiceKind
from dialogue.agents.settings.values import cleaned, column
from surfaces.accounts.connect import SLUG
from surfaces.errors import BadInput

KEY_VARIABLES = "api_key_env"  # in what is carried: the variable of each model's key
SECRET_NAME = re.compile(r"KEY|TOKEN|SECRET|PASSW|CREDENTIAL", re.IGNORECASE)
REFERENCE = re.compile(r"\$\{[A-Za-z_][A-Za-z0-9_]{0,99}\}|")
MAX_HINTS = 20  # similar keys are searched for these many problems
MESSAGES = {
    "bool_type": "must be true or false, not {found}",
    "dict_type": "must be a section, not {found}",
    "extra_forbidden": "is not a known key",
    "float_type": "must be a number, not {found}",
    "greater_than_equal": "must be at least {ge:,.12g}, not {found}",
    "int_type": "must be a whole number, not {found}",
    "less_than_equal": "must be at most {le:,.12g}, not {found}",
    "list_type": "must be a list, not {found}",
    "missing": "is missing",
    "model_type": "must be a section, not {found}",
    "string_type": "must be text, not {found}; put text in quotes",
    "too_long": "must have at most {max_length} items, not {actual_length}",
    "value_error": "{error}",
}
Nested = dict[str, Any]
Section = TypeVar("Section", bound=ConfigSection)


@dataclass(slots=True)
class DesiredAgent:
    """What one folder says of one agent; only what it says."""

    slug: str
    document: YamlDocument
    values: dict[str, Any] = field(default_factory=dict)  # by column
    first: list[ModelSpec] | None = None  # one; none where it has no model
    fallbacks: list[ModelSpec] | None = None
    carried: Nested = field(default_factory=dict)

    def models(self, held: list[ModelSpec]) -> list[ModelSpec]:
        """The models it is to have; where the file names none, it keeps those it has."""
        if self.first == []:
            return []
        return (self.first or held[:1]) + (held[1:] if self.fallbacks is None else self.fallbacks)


def read_config(document: YamlDocument, folder: str) -> DesiredAgent:
    """Validate a config.yaml; if its document has problems then, the result is incomplete."""
    desired, data = DesiredAgent(folder, document), document.data
    if isinstance(data, dict) and data.get("active_hours", "") is None:
        data["active_hours"] = {"from": None, "to": None}  # active at any hour
    if document.nodes and (config := _validate(document, schema.AgentConfig, data)):
        given = dict(_flatten(config.model_dump(exclude_unset=True)))
        _take_values(desired, given)
        _take_models(desired, given)
    return desired


def _validate(
    document: YamlDocument, section: type[Section], data: Any, at: KeyPath = ()
) -> Section | None:
    try:
        return section.model_validate(data)
    except ValidationError as error:
        for each in error.errors(include_url=False):
            path: KeyPath = (*at, *each["loc"])
            facts = {"found": document.describe(path), "msg": each["msg"], **each.get("ctx", {})}
            why = MESSAGES.get(each["type"], "{msg}").format(**facts)
            if each["type"] == "extra_forbidden" and len(document.problems) < MAX_HINTS:
                key = ".".join(part for part in path if isinstance(part, str))
                near = get_close_matches(key, KEYS, 1, 0.75)
                why += f" (did you mean {near[0]}?)" if near else ""
            document.report(path, why)
    return None


def _take_values(desired: DesiredAgent, given: Nested) -> None:
    """Values with a column are cleaned as for that column; the others are only carried."""
    report = desired.document.report
    desired.slug = given.pop("name", desired.slug)
    if not SLUG.fullmatch(desired.slug):
        report((), "it has no name, and the name of its folder cannot be one")
    if (given.get("active_hours.from") is None) != (given.get("active_hours.to") is None):
        report(("active_hours",), "must have both from and to")
    for old, new in schema.OLD_KEYS.items():
        if old in given and new in given and given[old] != given[new]:
            report(tuple(old.split(".")), f"has another value than {new}")
    for number, server in enumerate(given.get("capabilities.mcp_servers", [])):
        for name, text in server.get("env", {}).items() if isinstance(server, dict) else ():
            if SECRET_NAME.search(name) and not REFERENCE.fullmatch(text):
                why = "must be a variable like ${NAME}; a file must not contain secrets"
                report(("capabilities", "mcp_servers", number, "env", name), why)
    for key, value in given.items():
        if name := KEYS[key]:
            if value is None and not column(name).null:
                continue
            if key in schema.SCALED and value is not None:
                value = schema.SCALED[key].read(value)
            try:
                exact = Decimal(repr(value)) if isinstance(value, float) else value
                desired.values[name] = cleaned(name, exact)
            except BadInput as error:
                report(tuple(key.split(".")), f"cannot be stored: {str(error).rstrip('.')}")
        elif value is not None and not key.startswith("brain."):
            _put(desired.carried, key, value)


def _take_models(desired: DesiredAgent, given: Nested) -> None:
    named = {name: given.get(f"brain.{name}") for name in ModelSpec.model_fields}
    spec = {name: value for name, value in named.items() if value is not None}
    fallbacks = given.get("brain.fallbacks")
    if fallbacks is not None:
        desired.fallbacks = [ModelSpec.model_validate(it) for it in fallbacks]
    if spec.get("provider") in NO_MODEL:
        desired.first = []
        if fallbacks or len(spec) > 1:
            why = f"names a model, but the provider {spec['provider']} has none"
            desired.document.report(("brain",), why)
    elif spec and (first := _validate(desired.document, ModelSpec, spec, ("brain",))):
        desired.first = [first]
    if spec:
        voice = VoiceKind.SCRIPTED if desired.first == [] else VoiceKind.MODEL
        desired.values.setdefault("voice", voice.value)


class _Dumper(yaml.SafeDumper):
    def text(self, data: str) -> yaml.ScalarNode:
        # Unquoted, some line breaks would come back as others.
        style = None if data.isprintable() else '"'
        return self.represent_scalar("tag:yaml.org,2002:str", data, style=style)


_Dumper.add_representer(str, _Dumper.text)


def write_config(
    slug: str, values: Mapping[str, Any], specs: list[ModelSpec], carried: Nested
) -> str:
    """The config.yaml of an agent; importing it changes nothing."""
    given = {"name": slug, **kept_only(carried)}
    given |= {key: _plain(values[name]) for key, name in schema.COLUMNS.items()}
    given |= {key: unit.written(values[unit.column]) for key, unit in schema.SCALED.items()}
    first = specs[0].model_dump() if specs else {"provider": NO_MODEL[0]}
    given |= {f"brain.{name}": value for name, value in first.items()}
    if specs:
        given["brain.fallbacks"] = [spec.model_dump() for spec in specs[1:]]
    for number, server in enumerate(given.get("capabilities.mcp_servers", [])):
        if isinstance(server, dict):  # the database keeps no order of keys
            ordered = {name: server[name] for name in schema.SERVER_KEYS if name in server}
            given["capabilities.mcp_servers"][number] = ordered
    nested: Nested = {}
    for key in KEYS:
        if key in given:
            _put(nested, key, given[key])
    if values["active_from"] is None:
        nested["active_hours"] = None
    return yaml.dump(nested, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=96)


def _plain(value: Any) -> Any:
    if isinstance(value, Decimal):
        return int(value) if value == int(value) else float(value)
    if isinstance(value, time):
        return value.isoformat("auto" if value.second or value.microsecond else "minutes")
    return value


def kept_only(carried: Nested) -> Nested:
    """What is stored and used by nothing yet, by dotted key."""
    return dict(_flatten({name: it for name, it in carried.items() if name != KEY_VARIABLES}))


def _flatten(nested: Nested, above: str = "") -> Iterator[tuple[str, Any]]:
    """Each value with its dotted key; a list is one value."""
    for name, value in nested.items():
        if isinstance(value, dict):
            yield from _flatten(value, f"{above}{name}.")
        else:
            yield above + name, value


def _put(nested: Nested, key: str, value: Any) -> None:
    *above, last = key.split(".")
    for name in above:
        nested = nested.setdefault(name, {})
    nested[last] = value
