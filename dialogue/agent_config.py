"""From the text of an agent's config.yaml to what is wanted of it, and back.

What is not given stays as it is. Whether it answers by itself is never in a file.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import time
from decimal import Decimal
from typing import Any
from urllib.parse import urlsplit

import yaml
from django.conf import settings

from dialogue.agent_schema import COLUMNS, LAYOUT, LEGACY, MIND, NO_MODEL
from dialogue.models import Brain
from dialogue.models.settings import VoiceKind
from dialogue.plain_yaml import WRONG, Problem, Reading, compose
from dialogue.tuning.values import cleaned
from dialogue.value_kinds import NOTHING, Either, Kind, Many, Maybe, Section
from surfaces.checks import SECRETS
from surfaces.connecting import SLUG, is_loopback
from surfaces.errors import BadInput

KEY_VARIABLES = "api_key_env"  # in what is carried: the variable of each model's key
BRAIN_COLUMNS = ("output_style", "streams")
Nested = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Mind:
    """A model that a file names."""

    model: str  # provider:name
    base_url: str = ""
    output_style: str = "tool"
    streams: bool = False
    key_variable: str = ""

    @classmethod
    def of(cls, brain: Brain, variables: Mapping[str, str]) -> Mind:
        mind = cls(brain.model, brain.base_url, brain.output_style, brain.streams)
        return replace(mind, key_variable=variables.get(mind.asked, ""))

    @property
    def asked(self) -> str:
        """Which model, at which address."""
        return f"{self.model} {self.base_url}".strip()

    @property
    def goes_to(self) -> tuple[str, str]:
        """Provider and address: whoever hears the key."""
        return self.model.partition(":")[0], self.base_url

    @property
    def words(self) -> str:
        at = f" at {self.base_url}" if self.base_url else ""
        streams = ", streams" if self.streams else ""
        return f"{self.model}{at}, {self.output_style}{streams}"


@dataclass(slots=True)
class Wanted:
    """What one folder says of one agent; only what it says."""

    slug: str
    file: str
    values: dict[str, Any] = field(default_factory=dict)  # by the names that `tuning` knows
    first: Mind | None = None
    others: list[Mind] | None = None
    has_no_model: bool = False
    carried: Nested = field(default_factory=dict)
    lines: dict[str, int] = field(default_factory=dict)

    def minds(self, held: list[Mind]) -> list[Mind]:
        """The models it shall have, where it has `held` ones."""
        if self.has_no_model:
            return []
        first = held[:1] if self.first is None else [self.first]
        return [*first, *(held[1:] if self.others is None else self.others)]

    def problem(self, name: str, why: str) -> Problem:
        """Say what is wrong with a value that was read well, on its line."""
        key = next(key for key, column in COLUMNS.items() if column == name and key in self.lines)
        return Problem(self.file, self.lines[key], key, why)


# ── reading ───────────────────────────────────────────────────────────────


def read(text: str, file: str, folder: str) -> tuple[Wanted, list[Problem]]:
    """Read a config.yaml; where it has problems, what is wanted is not all there."""
    reading = Reading(file)
    wanted = Wanted(slug=folder, file=file, lines=reading.lines)
    node = compose(text, reading)
    nested = WRONG if node is None else LAYOUT.take(node, "", reading)
    if isinstance(nested, dict):
        _no_secrets(nested, reading)
    if reading.problems or not isinstance(nested, dict):
        return wanted, reading.problems
    wanted.slug = nested.pop("name", folder)
    if not SLUG.fullmatch(wanted.slug):
        reading.wrong(0, "", "it lacks a name, and its folder's name cannot be one")
    _one_name_each(nested, reading)
    _take_columns(nested, wanted, reading)
    _take_minds(nested.get("brain", {}), wanted, reading)
    wanted.carried = _without_empty(nested)
    return wanted, reading.problems


def _no_secrets(nested: Nested, reading: Reading) -> None:
    for path, value in leaves(nested):
        if isinstance(value, str) and SECRETS.search(value):
            line = reading.lines.get(path.partition("[")[0], 0)
            reading.wrong(line, path, "holds something shaped like a key; take it out")


def leaves(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from leaves(inner, f"{path}.{name}" if path else name)
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            yield from leaves(inner, f"{path}[{number}]")
    else:
        yield path, value


def _one_name_each(nested: Nested, reading: Reading) -> None:
    for old, new in LEGACY.items():
        value = _taken(nested, old)
        if value is NOTHING:
            continue
        reading.lines.setdefault(new, reading.lines[old])
        if _put(nested, new, value, keep=True) != value:
            reading.wrong(reading.lines[old], old, f"says another number than {new}")


def _take_columns(nested: Nested, wanted: Wanted, reading: Reading) -> None:
    if nested.get("active_hours", NOTHING) is None:
        nested["active_hours"] = {"from": None, "to": None}
    for key, name in COLUMNS.items():
        value = _taken(nested, key)
        if value is NOTHING:
            continue
        try:
            wanted.values[name] = cleaned(name, value)
        except BadInput as error:
            line = reading.lines.get(key) or reading.lines[key.partition(".")[0]]
            reading.wrong(line, key, f"cannot be kept: {str(error).rstrip('.')}")


def _take_minds(brain: Nested, wanted: Wanted, reading: Reading) -> None:
    given = {name: brain.pop(name) for name in MIND if name in brain}
    others = brain.pop("fallbacks", None)
    line = reading.lines.get("brain", 0)
    if given.get("provider") in NO_MODEL:
        if others or set(given) - {"provider"}:
            reading.wrong(line, "brain", "names a model for a provider that asks none")
        wanted.has_no_model = True
        wanted.values.setdefault("voice", VoiceKind.SCRIPTED.value)
        return
    if given:
        wanted.first = _mind(given, "brain", reading)
        wanted.values.setdefault("voice", VoiceKind.MODEL.value)
    if others is not None:
        minds = (_mind(one, f"brain.fallbacks[{n}]", reading) for n, one in enumerate(others))
        wanted.others = [mind for mind in minds if mind]


def _mind(given: Nested, key: str, reading: Reading) -> Mind | None:
    line = reading.lines.get(f"{key}.provider") or reading.lines.get(key.partition("[")[0], 0)
    missing = [name for name in ("provider", "model") if name not in given]
    if missing or given["provider"] in NO_MODEL:
        reading.wrong(line, key, f"lacks {missing[0]}" if missing else "names no model")
        return None
    mind = Mind(
        f"{given['provider']}:{given['model']}",
        given.get("api_base", ""),
        **{name: given[name] for name in BRAIN_COLUMNS if name in given},
        key_variable=given.get("api_key_env", ""),
    )
    if mind.key_variable.lower() in settings.ENV.__dataclass_fields__:
        reading.wrong(line, f"{key}.api_key_env", "names a variable of Colloquy itself")
    at = urlsplit(mind.base_url)
    if mind.key_variable and at.scheme == "http" and not is_loopback(at.hostname or ""):
        reading.wrong(line, f"{key}.api_base", "is http: a key would travel there in the clear")
    return mind


def _taken(nested: Nested, path: str) -> Any:
    """Take the value at `path` out."""
    *above, last = path.split(".")
    for name in above:
        nested = nested.get(name, {})
    return nested.pop(last, NOTHING)


def _put(nested: Nested, path: str, value: Any, *, keep: bool = False) -> Any:
    """Put a value at `path`, or `keep` the one that is there; return what is there then."""
    *above, last = path.split(".")
    for name in above:
        nested = nested.setdefault(name, {})
    if not keep or last not in nested:
        nested[last] = value
    return nested[last]


def _without_empty(nested: Nested) -> Nested:
    kept = {
        name: _without_empty(value) if isinstance(value, dict) else value
        for name, value in nested.items()
    }
    return {name: value for name, value in kept.items() if value != {}}


# ── writing ───────────────────────────────────────────────────────────────


class _Dumper(yaml.SafeDumper):
    def ignore_aliases(self, data: Any) -> bool:
        return True

    def text(self, data: str) -> yaml.ScalarNode:
        # Unquoted, some line breaks would come back as others.
        style = None if data.isprintable() else '"'
        return self.represent_scalar("tag:yaml.org,2002:str", data, style=style)


_Dumper.add_representer(str, _Dumper.text)


def written(slug: str, values: Mapping[str, Any], minds: list[Mind], carried: Nested) -> str:
    """The config.yaml that says all this; read again, it changes nothing."""
    nested: Nested = {"name": slug}
    for path, value in kept_only(carried).items():
        _put(nested, path, value)
    for path, name in COLUMNS.items():
        _put(nested, path, _plain(values[name]))
    if values["active_from"] is None:
        nested["active_hours"] = None
    first = _named(minds[0]) if minds else {"provider": NO_MODEL[0]}
    nested["brain"] |= first | (
        {"fallbacks": [_named(mind) for mind in minds[1:]]} if minds else {}
    )
    return yaml.dump(
        _in_order(nested, LAYOUT),
        Dumper=_Dumper,
        sort_keys=False,
        allow_unicode=True,
        width=96,
    )


def kept_only(carried: Nested) -> dict[str, Any]:
    """What nothing here acts on yet, by its key; a list is one value."""
    rest = {name: value for name, value in carried.items() if name != KEY_VARIABLES}
    return dict(_branches(rest))


def _branches(nested: Nested, path: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in nested.items():
        inner = f"{path}.{name}" if path else name
        if isinstance(value, dict):
            yield from _branches(value, inner)
        else:
            yield inner, value


def _plain(value: Any) -> Any:
    if isinstance(value, Decimal):
        return int(value) if value == int(value) else float(value)
    if isinstance(value, time):
        return value.isoformat("auto" if value.second or value.microsecond else "minutes")
    return value


def _named(mind: Mind) -> Nested:
    provider, _, model = mind.model.partition(":")
    named = {"provider": provider, "model": model, "api_base": mind.base_url or None,
             "api_key_env": mind.key_variable or None}  # fmt: skip
    return named | {name: getattr(mind, name) for name in BRAIN_COLUMNS}


def _in_order(nested: Nested, section: Section) -> Nested:
    """The keys in the order of the layout."""
    ordered: Nested = {}
    for name, kind in section.keys.items():
        if name in nested:
            ordered[name] = _as_laid_out(nested[name], kind)
    return ordered


def _as_laid_out(value: Any, kind: Kind) -> Any:
    if isinstance(kind, Maybe | Many):
        if isinstance(value, list):
            return [_as_laid_out(item, kind.kind) for item in value]
        return _as_laid_out(value, kind.kind)
    section = kind.section if isinstance(kind, Either) else kind
    if isinstance(value, dict) and isinstance(section, Section):
        return _in_order(value, section)
    return value
