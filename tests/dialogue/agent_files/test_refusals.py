"""What is wrong with the files of an agent is named with file, line and key."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from django.core.management import ManagementUtility

from dialogue.agent_files.strict_yaml import MAX_BYTES
from tests.dialogue.agent_files.factories import put, refused

pytestmark = [pytest.mark.django_db, pytest.mark.engine]


@pytest.mark.parametrize(
    ("config", "line", "says"),
    [
        ("nam: iris", 1, "nam is not a known key (did you mean name?)"),
        ("brain:\n  api_key: sk-1", 2, "(did you mean brain.api_key_env?)"),
        ("cache_ttl: soon", 1, "cache_ttl must be a whole number, not text"),
        ("name: [iris]", 1, "name must be text, not a list"),
        ("max_tokens: 500", 1, "max_tokens is not a known key (did you mean brain.max_tokens?)"),
        ("description: 2026-07-01", 1, "must be text, not a date"),
        ("brain:\n  output_style: loud", 2, "must be one of tool, native, prompted"),
        ("brain: {fallbacks: [{provider: none, model: x}]}", 1, "provider none has no models"),
        ("capabilities: {mcp_servers: [7]}", 1, "mcp_servers[0] must be text, not 7"),
        ("name: 7", 1, "must be text, not 7; put text in quotes"),
        ("name: Iris Murdoch", 1, "a short name"),
        ("display_name: ''", 1, "must not be blank"),
        (f"display_name: {'x' * 81}", 1, "at most 80 characters, not 81"),
        ("timezone: Mars/Olympus", 1, "'Mars/Olympus' is no time zone"),
        ("type: parrot", 1, "must be one of native, claude-code"),
        ("lives: abroad", 1, "must be one of here, elsewhere"),
        ("active_hours: {from: 08:00}", 1, "active_hours must have both from and to"),
        ("active_hours: {from: 25:00, to: 09:00}", 1, "must be a time of day like 08:00"),
        ("brain: hot", 1, "brain must be a section, not text"),
        ("brain: {temperature: 2.5}", 1, "must be at most 2, not 2.5"),
        ("brain: {temperature: .nan}", 1, "must be a number, not .nan"),
        ("brain: {max_tokens: 63}", 1, "must be at least 64, not 63"),
        ("brain: {max_tokens: 0x40}", 1, "must be a whole number, not 0x40"),
        ("brain: {max_tokens: 100.0}", 1, "must be a whole number, not 100.0"),
        ("brain: {model: gpt-5}", 1, "brain.provider is missing"),
        ("brain: {provider: openai}", 1, "brain.model is missing"),
        ("brain: {provider: none, model: gpt-5}", 1, "the provider none has none"),
        ("brain:\n  fallbacks:\n    - {provider: openai}", 3, "fallbacks[0].model is missing"),
        ("brain:\n  api_base: ftp://x.example", 2, "must be an address like https://"),
        ("brain:\n  api_base: https://me:pw@x.example/", 2, "without a password"),
        ("brain:\n  api_base: http://[1:2]/v1", 2, "must be an address like https://"),
        ("brain:\n  api_base: https://h.example:99999/v1", 2, "must be an address like https://"),
        ("brain:\n  api_base: https://h.example:٣/v1", 2, "must be an address like https://"),
        ("brain:\n  api_key_env: sk-ant-api03", 2, "must be the name of a variable"),
        ("interests: {topics: tides}", 1, "interests.topics must be a list, not text"),
        ("interests: {topics: [no]}", 1, "interests.topics[0] must be text, not no"),
        ("behavior: {respond_to_dms: 1}", 1, "must be true or false, not 1"),
        ("behavior:\n  limits:\n    max_daily_comments: 501", 3, "must be at most 500, not 501"),
        ("behavior:\n  limits:\n    max_daily_comments: -1", 3, "must be at least 0, not -1"),
        ("behavior: {mode: loud}", 1, "must be one of auto, review, shadow, off"),
        ("budget: {money_per_day: 1_000_000}", 1, "must be at most 10,000, not 1_000_000"),
        ("budget: {money_per_day: 0.00001}", 1, "cannot be stored"),
        (
            "budget:\n  money_per_day: 11",
            2,
            "makes the budget of a day, 11, more than that of a month, 10",
        ),
        (f"kernels: ['{'x' * 1001}']", 1, "at most 1,000 characters, not 1,001"),
        ("kernels: [" + "a, " * 201 + "]", 1, "at most 200 items, not 201"),
        ("memory: {retrieval: {relevance_threshold: 1.1}}", 1, "must be at most 1, not 1.1"),
        ("capabilities: {mcp_servers: [{command: x}]}", 1, "mcp_servers[0].name is missing"),
        ("behavior: {max_iterations: 101}", 1, "must be at most 100, not 101"),
        ("behavior: {max_daily_posts: 101}", 1, "must be at most 100, not 101"),
        ("behavior:\n  discovery: {frequency: weekly}", 2, "must be one of staleness, hourly"),
        ("behavior: {discovery: {stale_minutes: 4}}", 1, "must be at least 5, not 4"),
        ("memory: {max_size_mb: 101}", 1, "must be at most 100, not 101"),
        ("memory: {max_size_mb: 0}", 1, "must be at least 0.0009765625, not 0"),
        ("memory: {max_size_mb: 0.1}", 1, "must be a multiple of 1/1,024, such as 0.25 or 2"),
        ("memory: {retrieval: {max_context_items: 51}}", 1, "must be at most 50, not 51"),
        ("memory: {retrieval: {strategy: dreams}}", 1, "must be one of keyword, recent"),
        ("capabilities:\n  grants: [hub]", 2, "“hub” is not a grant. Enter service:scope"),
        ("capabilities: {approvals: {read: maybe}}", 1, "must be one of allow, ask, deny"),
        ("name: iris\nname: iris", 2, "name is given twice"),
        ("{[1]: 2}", 1, "has a key that is not a word"),
        ("description: &a x", 1, "anchors (&) are not supported"),
        ("name: iris\ndescription: *a", 2, "aliases (*) are not supported"),
        ("description: !!python/object:os.system x", 1, "tags (!) are not supported"),
        ("memory: " + "{a: " * 20 + "1" + "}" * 20, 1, "more than 12 levels"),
        ("name: iris\n---\nname: iris", 2, "single document"),
        ("name: iris\n\tx: 1", 2, "cannot start any token"),
        ('description: "a\\0b"', 1, "contains a NUL"),
        ('description: "\\ud800"', 1, "an incomplete character"),
        ("name: iris\n\x07", 2, "the character 0x7 is not allowed"),
        ("- iris", 1, "must be a section, not a list"),
        ("version:\n  sk-abcdefghijklmnopqrstuvwxyz", 2, "looks like a key"),
    ],
)
def test_what_is_wrong_is_named_with_file_line_and_key(
    tmp_path: Path, config: str, line: int, says: str
):
    [sentence] = refused("import", put(tmp_path / "iris", config))
    assert sentence.startswith(f"{tmp_path}/iris/config.yaml, line {line}: ")
    assert says in sentence


@pytest.mark.parametrize(
    ("config", "says"),
    [
        ("", "it is empty"),
        ("# nothing", "it is empty"),
        ('name: "\\UFFFFFFFF"', "an escape sequence or a version that does not exist"),
        (b"name: \xff\xfe", "line 1: it is not UTF-8"),
        ("#" * (MAX_BYTES + 1), "larger than 256 kB"),
    ],
)
def test_a_file_that_cannot_be_read_at_all_says_why(tmp_path: Path, config: str | bytes, says: str):
    [sentence] = refused("import", put(tmp_path / "iris", config))
    assert says in sentence


def test_a_folder_without_agents_is_no_import(tmp_path: Path):
    assert "cannot be read" in refused("import", tmp_path / "nowhere")[0]
    assert "There is no config.yaml" in refused("import", tmp_path)[0]
    put(tmp_path)
    put(tmp_path / "iris")
    assert "Choose one of them" in refused("import", tmp_path)[0]


def test_a_name_is_its_folders(tmp_path: Path):
    put(tmp_path / "gabriel", "# them\nname: iris\n")
    put(tmp_path / "iris", "name: iris\n")
    [sentence] = refused("import", tmp_path)
    assert "gabriel/config.yaml, line 2: name must be the name of its folder" in sentence


@pytest.mark.parametrize("name", ["-iris", "_iris", "i" * 64])
def test_a_rehearsal_refuses_the_names_that_an_import_refuses(tmp_path: Path, name: str):
    place = put(tmp_path / "iris", f"type: native\nname: {name}\n")
    [sentence] = refused("import", place, "--dry-run")
    assert sentence.startswith(f"{place}/config.yaml, line 2: name must ")
    assert refused("import", place) == [sentence]


def test_a_folder_that_cannot_be_a_name_is_refused_in_a_rehearsal_too(tmp_path: Path):
    [sentence] = refused("import", put(tmp_path / "-iris", "type: native\n"), "--dry-run")
    assert "the name of its folder cannot be one" in sentence


@pytest.mark.parametrize("make", [os.mkfifo, lambda path: path.symlink_to("nowhere"), Path.mkdir])
def test_a_persona_that_is_no_file_is_refused_and_not_waited_for(tmp_path: Path, make: Any):
    place = put(tmp_path / "iris", "name: iris\n")
    make(place / "system-prompt.md")
    [sentence] = refused("import", place)
    assert sentence == f"{place}/system-prompt.md: it is not a file."


@pytest.mark.parametrize(
    ("persona", "says"),
    [
        ("x" * 20_001, "20,001 characters"),
        ("one\ntwo \0", "line 2: it contains a NUL"),
        ("key:\nsk-abcdefghijklmnopqrstuvwxyz", "line 2: it contains what looks like a key"),
    ],
)
def test_a_persona_is_checked_too(tmp_path: Path, persona: str, says: str):
    [sentence] = refused("import", put(tmp_path / "iris", "name: iris\n", persona))
    assert "iris/system-prompt.md" in sentence
    assert says in sentence


def test_used_wrongly_it_ends_with_status_2(capsys: Any):
    with pytest.raises(SystemExit) as ended:
        ManagementUtility(["manage.py", "agents"]).execute()
    assert ended.value.code == 2
    assert "import|export" in capsys.readouterr().err
