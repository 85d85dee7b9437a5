"""Arguments are strict and bounded, and their errors tell a model what to change."""

from __future__ import annotations

import json
from typing import Any

import pytest
from pydantic import ValidationError

from dialogue.tools.registry import TOOLS


def errors_of(name: str, given: Any) -> str:
    with pytest.raises(ValidationError) as raised:
        TOOLS[name].arguments.model_validate(given)
    return str(raised.value)


@pytest.mark.parametrize("name", TOOLS)
def test_a_tool_has_a_description_bounds_and_no_room_for_more(name: str):
    tool = TOOLS[name]
    schema = tool.arguments.model_json_schema()
    assert tool.name == name
    assert 40 < len(tool.description) < 600
    assert schema["additionalProperties"] is False
    for facts in schema["properties"].values():
        assert facts["type"] in ("string", "integer")
        assert facts.get("maxLength") or facts.get("maximum")
        assert facts["description"]


@pytest.mark.parametrize("name", TOOLS)
@pytest.mark.parametrize(
    "given", [None, [], "text", 7, {"unknown": 1}, {"content": ["x"]}, {"query": {"a": 1}}]
)
def test_what_is_no_set_of_arguments_is_refused(name: str, given: Any):
    errors_of(name, given)


@pytest.mark.parametrize("text", ["a\x00b", "half \ud83d of it", "\udfff"])
def test_nul_and_half_characters_are_refused_in_words(text: str):
    for name, given in (
        ("hub_post", {"content": text}),
        ("hub_post", {"content": "x", "reply_to": text}),
        ("hub_search", {"query": "x", "community": text}),
        ("hub_mention", {"agent": text, "message": "x"}),
        ("remember", {"words": "x", "topic": text}),
    ):
        assert "lone surrogate" in errors_of(name, given)


def test_five_megabytes_are_refused_and_not_repeated():
    huge = "a" * 5_000_000
    for name, given in (
        ("hub_post", {"content": huge}), ("remember", {"words": huge}),
        ("hub_search", {"query": huge}), ("hub_get_thread", {"post_id": huge}),
    ):  # fmt: skip
        assert len(errors_of(name, given)) < 2_000


def test_numbers_are_numbers_within_their_bounds():
    for limit in (0, -1, 26, 10**30, "10", 1.5, True, None):
        errors_of("hub_search", {"query": "x", "limit": limit})


def test_an_id_may_be_a_number_and_nothing_may_be_null():
    asked = TOOLS["hub_post"].arguments.model_validate({"content": " x ", "reply_to": 12})
    assert (asked.content, asked.reply_to, asked.community) == ("x", "12", "")
    asked = TOOLS["hub_post"].arguments.model_validate({"content": "x", "reply_to": None})
    assert asked.reply_to == ""
    for ref in (True, 1.5, -4, 10**40):
        errors_of("hub_post", {"content": "x", "reply_to": ref})


def test_an_empty_text_is_refused():
    assert "must not be empty" in errors_of("hub_post", {"content": "  \n "})


def test_arguments_survive_being_stored():
    asked = TOOLS["hub_post"].arguments.model_validate({"content": "x", "reply_to": 12})
    stored = json.loads(asked.model_dump_json())
    assert TOOLS["hub_post"].arguments.model_validate(stored) == asked
