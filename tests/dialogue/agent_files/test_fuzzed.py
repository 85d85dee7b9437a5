"""Whatever stands in the files of an agent, it is taken or refused, and comes back the same."""

from __future__ import annotations

import json
from datetime import time
from decimal import Decimal
from pathlib import Path
from random import Random
from typing import Any

import pytest
import yaml
from django.core.management import CommandError
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from dialogue.agent_files.config import read_config
from dialogue.agent_files.schema import LAYOUT
from dialogue.agent_files.strict_yaml import YamlDocument
from dialogue.models import Agent
from surfaces.settings.services import change
from tests.dialogue.agent_files.factories import dump, put, run
from tests.factories import NOON, make_agent

pytestmark = [pytest.mark.django_db, pytest.mark.engine]

ANY_FIXTURE = [HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
SCALARS = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=30), st.dates(),
    st.sampled_from(["iris", "openai", "22:00", "off", "none", "${A}", "A_KEY", "UTC", "*a", "&b"]),
)  # fmt: skip
ANYTHING = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4)
    ),
    max_leaves=8,
)


def of_layout(section: dict[str, Any]) -> st.SearchStrategy[dict[str, Any]]:
    """Known keys with values that may fit or not."""
    keys = {
        name: st.one_of(ANYTHING, of_layout(kind)) if isinstance(kind, dict) else ANYTHING
        for name, kind in section.items()
    }
    return st.fixed_dictionaries({}, optional=keys)


def reads(text: str) -> None:
    document = YamlDocument("config.yaml")
    document.load(text)
    desired = read_config(document, "iris")
    for problem in document.problems:
        assert "\n" not in problem
        assert problem.isprintable()
    if not document.problems:
        json.dumps(desired.carried, allow_nan=False)


@given(st.text())
@example("a: \x00")
@example("%YAML 1." + "9" * 5000 + "\n---\na: 1")
@settings(max_examples=300, deadline=None)
def test_no_text_brings_it_down(text: str):
    reads(text)


@given(st.text("{}[]:,-?&*!|>'\"%@`# \n\tab01.~", max_size=60))
@settings(max_examples=500, deadline=None)
def test_no_yaml_brings_it_down(text: str):
    reads(text)


@given(of_layout(LAYOUT))
@settings(max_examples=200, deadline=None, suppress_health_check=ANY_FIXTURE)
def test_no_values_bring_it_down(nested: dict[str, Any]):
    reads(yaml.safe_dump(nested, allow_unicode=True))


FILES = st.binary(max_size=300) | of_layout(LAYOUT).map(lambda n: yaml.safe_dump(n).encode())


@given(content=FILES, persona=st.binary(max_size=50))
@settings(max_examples=80, deadline=None, suppress_health_check=ANY_FIXTURE)
def test_the_command_takes_a_file_or_refuses_it_with_status_2(
    tmp_path: Path, content: bytes, persona: bytes
):
    put(tmp_path / "iris", content)
    (tmp_path / "iris/system-prompt.md").write_bytes(persona)
    before, ended = dump(), None
    try:
        run("import", tmp_path / "iris")
    except CommandError as error:
        ended = error
    assert ended is None or (ended.returncode, dump()) == (2, before)


@given(
    texts=st.lists(st.text(min_size=1, max_size=60), min_size=3, max_size=3),
    kernels=st.lists(st.text(max_size=80), max_size=5),
    numbers=st.tuples(
        st.integers(0, 500), st.floats(0, 2), st.decimals(0, 10, places=4), st.times()
    ),
)
@example(texts=["\x85", "\x85", "\x85"], kernels=["\u2028"], numbers=(0, 0.0, Decimal(0), time(0)))
@settings(max_examples=60, deadline=None, suppress_health_check=ANY_FIXTURE)
def test_whatever_a_person_sets_comes_back_the_same(
    tmp_path: Path, texts: list[str], kernels: list[str], numbers: tuple[Any, ...]
):
    agent = Agent.objects.filter(slug="iris").first() or make_agent(slug="iris")
    storable = [text.replace("\0", "") for text in [*texts, *kernels]]
    replies, temperature, money, at = numbers
    change(
        agent,
        {
            "name": f"n{storable[0]}", "persona": f"p{storable[1]}", "topics": [f"t{storable[2]}"],
            "kernels": [f"k{words}" for words in storable[3:]], "replies_per_day": replies,
            "temperature": temperature, "money_per_day": money, "active_from": at,
            "active_to": at, "mode": Random(replies).choice(["off", "auto"]),
        },
        by="operator:mira",
        now=NOON,
    )  # fmt: skip
    run("export", tmp_path)
    assert run("import", tmp_path)[1]["changed"] == {}
