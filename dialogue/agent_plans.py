"""What importing a file would change: compare what it wants with what is held.

A key is compared and never shown: a difference says from which variable it comes.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from django.db.models import Model

from dialogue import tuning
from dialogue.agent_config import KEY_VARIABLES, Mind, Wanted, kept_only
from dialogue.errors import VoiceMisset
from dialogue.models import Agent, AgentSettings, Brain
from dialogue.plain_yaml import Problem
from dialogue.tuning.brains import sealed
from dialogue.tuning.values import KERNELS, OF_AGENT, OF_SETTINGS, in_words
from surfaces.errors import BadInput

PAIRS = (("money_per_day", "money_per_month"), ("tokens_per_day", "tokens_per_month"))


@dataclass(frozen=True, slots=True)
class Difference:
    """One field that is to become another: lines for people, never a secret."""

    name: str
    before: tuple[str, ...]
    after: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Plan:
    """One agent as it is, and as a file wants it."""

    wanted: Wanted
    agent: Agent | None  # none: it is to be made
    held: Mapping[str, Any]
    held_minds: list[Mind]
    minds: list[Mind]
    keys: dict[int, str] = field(repr=False)  # new ones, in the clear, by rank
    unset: list[str]  # variables that should hold a key, and do not

    @classmethod
    def of(cls, wanted: Wanted, environ: Mapping[str, str]) -> Plan:
        rows = Agent.objects.select_for_update(of=("self",)).select_related("settings")
        agent = rows.filter(slug=wanted.slug).first()
        brains = list(agent.brains.all()) if agent else []
        held_minds = minds_of(brains, agent.carried if agent else {})
        minds = wanted.minds(held_minds)
        keys, unset = _keys(minds, held_minds, brains, environ)
        return cls(
            wanted=wanted,
            agent=agent,
            held=tuning.values_of(agent) if agent else _cautious(),
            held_minds=held_minds,
            minds=minds,
            keys=keys,
            unset=unset,
        )

    @property
    def held_carried(self) -> dict[str, Any]:
        return self.agent.carried if self.agent else {}

    @property
    def carried(self) -> dict[str, Any]:
        """What is to be kept for floors that are not built yet."""
        variables = {mind.asked: mind.key_variable for mind in self.minds if mind.key_variable}
        return self.wanted.carried | ({KEY_VARIABLES: variables} if variables else {})

    @property
    def asks_others(self) -> bool:
        """Whether the rows of its models are to be others."""
        return _words(self.minds) != _words(self.held_minds) or bool(self.keys)

    @property
    def differences(self) -> list[Difference]:
        return [*self._of_values(), *self._of_minds(), *self._of_carried()]

    def _of_values(self) -> Iterator[Difference]:
        for name, value in self.wanted.values.items():
            held = self.held[name]
            if isinstance(value, list) and sorted(held) == sorted(value):
                continue  # in another order they are the same
            if held != value:
                yield Difference(name, _lines(held), _lines(value))

    def _of_minds(self) -> Iterator[Difference]:
        before, after = _words(self.held_minds), _words(self.minds)
        if before != after:
            yield Difference("models", before, after)
        for rank in self.keys:
            mind = self.minds[rank]
            yield Difference(f"key of {mind.model}", (), (f"what {mind.key_variable} holds",))

    def _of_carried(self) -> Iterator[Difference]:
        before, after = kept_only(self.held_carried), kept_only(self.carried)
        for name in sorted({*before, *after}):
            lines = [(_json(kept[name]),) if name in kept else () for kept in (before, after)]
            if lines[0] != lines[1]:
                yield Difference(name, lines[0], lines[1])

    def problems(self) -> Iterator[Problem]:
        """What fits the file, and not what is held beside it."""
        after = {**self.held, **self.wanted.values}
        for day, month in PAIRS:
            given = [name for name in (day, month) if name in self.wanted.values]
            if given and after[day] > after[month]:
                why = f"makes a day's {in_words(after[day])} more than the month's"
                yield self.wanted.problem(given[0], f"{why} {in_words(after[month])}")
        for rank, key in self.keys.items():
            try:
                sealed(key)
            except BadInput:
                line = self.wanted.lines.get("brain", 0)
                why = f"names {self.minds[rank].key_variable}, which holds no key: it is too long,"
                why += " or has characters that no key has"
                yield Problem(self.wanted.file, line, "brain", why)


def minds_of(brains: list[Brain], carried: Mapping[str, Any]) -> list[Mind]:
    return [Mind.of(brain, carried.get(KEY_VARIABLES, {})) for brain in brains]


def _cautious() -> dict[str, Any]:
    """What an agent has that nobody tuned."""
    made: tuple[tuple[Model, tuple[str, ...]], ...] = (
        (AgentSettings(), OF_SETTINGS),
        (Agent(), OF_AGENT),
    )
    return {name: getattr(row, name) for row, names in made for name in names} | {KERNELS: []}


def _keys(
    minds: list[Mind], held: list[Mind], brains: list[Brain], environ: Mapping[str, str]
) -> tuple[dict[int, str], list[str]]:
    """Which keys are new, and which variables hold none though a key is needed."""
    known = {mind.goes_to: _opened(brain) for mind, brain in zip(held, brains, strict=True)}
    keys, unset = {}, []
    for rank, mind in enumerate(minds):
        given = environ.get(mind.key_variable, "").strip() if mind.key_variable else ""
        if given and given != known.get(mind.goes_to):
            keys[rank] = given
        elif mind.key_variable and not given and not known.get(mind.goes_to):
            unset.append(mind.key_variable)
    return keys, unset


def _opened(brain: Brain) -> str:
    try:
        return brain.key
    except VoiceMisset:
        return ""  # sealed with a key we lost: whatever comes is another one


def _words(minds: list[Mind]) -> tuple[str, ...]:
    return tuple(mind.words for mind in minds)


def _lines(value: Any) -> tuple[str, ...]:
    if isinstance(value, list):
        return tuple(value)
    words = in_words(value)
    return tuple(words.split("\n")) if words else ()


def _json(value: Any) -> str:
    # The database keeps no order of keys.
    return json.dumps(value, ensure_ascii=False, sort_keys=True)
