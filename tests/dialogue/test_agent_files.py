"""Files of an agent: strict, all or none, the same after a round trip, and never a secret."""

from __future__ import annotations

import json
import os
from datetime import time
from decimal import Decimal
from io import StringIO
from pathlib import Path
from random import Random
from typing import Any

import pytest
import yaml
from django.core.management import CommandError, ManagementUtility, call_command
from django.db import DatabaseError, connection
from django.forms.models import model_to_dict
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from dialogue import tuning
from dialogue.agent_config import read
from dialogue.agent_schema import COLUMNS, LAYOUT
from dialogue.models import Agent, AgentSettings, Brain, Kernel, Presence
from dialogue.plain_yaml import LARGEST
from dialogue.value_kinds import Section
from surfaces.models import Account, AuditEvent
from tests.factories import NOON, make_agent, make_presence

pytestmark = [pytest.mark.django_db, pytest.mark.engine]

FULL = """\
version: "1.0.0"
name: iris
display_name: Iris of the tides
description: Reads tables.
type: claude-code
timezone: Europe/Lisbon
active_hours: {from: 8:00, to: 22:30}
brain:
  provider: anthropic
  model: claude-sonnet-4-5
  temperature: 0.25
  max_tokens: 2000
  api_base: https://models.example/v1
  api_key_env: IRIS_MODEL_KEY
  fallbacks:
    - {provider: openai, model: gpt-5, output_style: native, streams: true}
budget: {money_per_day: 0.5, money_per_month: 7.25, tokens_per_day: 1000}
capabilities:
  grants: ["hub:read"]
  skills: [tides]
  mcp_servers:
    - hub
    - name: git
      command: npx
      args: ["-y", ""]
      env: {GITHUB_TOKEN: "${GITHUB_TOKEN}", LEVEL: debug}
  shell: {enabled: false, allowed_commands: [ls], blocked_patterns: ["rm .*"], timeout_seconds: 120}
  spawning: {can_propose: false, allowed_templates: []}
interests: {topics: [tides], communities: [reefs], keywords: [moon], follow_agents: [gabriel]}
behavior:
  mode: shadow
  respond_to_mentions: true
  respond_to_replies: yes
  respond_to_dms: off
  max_iterations: 10
  can_create_posts: true
  discovery: {enabled: true, frequency: hourly, respond_to_questions: true, min_confidence: 0.7}
  limits: {max_daily_posts: 5, max_daily_comments: 40, max_responses_per_thread: 2,
           min_interval_seconds: 90, tries_per_comment: 4, longest_reply: 900}
kernels: ["What a table leaves out.", Slack water]
memory:
  enabled: true
  max_size_mb: 100
  remember: {conversations_with: [odile], decisions_made: true}
  retrieval: {strategy: recent, max_context_items: 10, relevance_threshold: 0.7}
network: {enabled: true, allowed_hosts: [api.example], blocked_hosts: []}
cache_ttl: 300
"""
PERSONA = "You are Iris.\n\nYou read what tables leave out.\n"


def put(folder: Path, config: str | bytes = FULL, persona: str | None = None) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    text = config.encode() if isinstance(config, str) else config
    (folder / "config.yaml").write_bytes(text)
    if persona is not None:
        (folder / "system-prompt.md").write_bytes(persona.encode())
    return folder


def run(*words: str | Path) -> tuple[str, dict[str, Any]]:
    """What the command printed before its last line, and that line."""
    out, err = StringIO(), StringIO()
    call_command("agents", *map(str, words), stdout=out, stderr=err)
    assert err.getvalue() == ""
    *text, line = out.getvalue().splitlines()
    return "\n".join(text), json.loads(line)


def refused(*words: str | Path) -> list[str]:
    """The sentences with which it ends, with exit status 2 and every row as it was."""
    before = dump()
    with pytest.raises(CommandError) as raised:
        call_command("agents", *map(str, words), stdout=StringIO(), stderr=StringIO())
    assert raised.value.returncode == 2
    assert dump() == before
    return str(raised.value).splitlines()


def dump() -> list[Any]:
    """Every row an import might touch."""
    tables = (Agent, AgentSettings, Brain, Kernel, Presence, Account, AuditEvent)
    return [list(table.objects.order_by("pk").values()) for table in tables]


def kept(slug: str = "iris") -> dict[str, Any]:
    """All that a file holds of an agent, without ids."""
    agent = Agent.objects.get(slug=slug)
    return {
        **tuning.values_of(agent),
        "brains": [
            model_to_dict(brain, ["rank", "model", "base_url", "output_style", "streams"])
            for brain in agent.brains.all()
        ],
        "carried": agent.carried,
    }


# ── what goes where ───────────────────────────────────────────────────────


def test_every_key_of_the_layout_finds_its_place(tmp_path: Path):
    _, line = run("import", put(tmp_path / "iris", persona=PERSONA))
    assert (line["imported"], line["new"]) == (["iris"], ["iris"])
    agent = Agent.objects.get()
    assert (agent.slug, agent.name, agent.timezone) == (
        "iris",
        "Iris of the tides",
        "Europe/Lisbon",
    )
    assert (f"{agent.active_from}", f"{agent.active_to}") == ("08:00:00", "22:30:00")
    assert agent.persona == PERSONA.strip()
    values = agent.settings
    assert (values.mode, values.voice, values.temperature) == ("shadow", "model", 0.25)
    assert (values.replies_per_day, values.replies_per_thread) == (40, 2)
    assert (values.spacing_seconds, values.tries, values.longest_reply) == (90, 4, 900)
    assert (values.output_tokens, values.lays_stones) == (2000, True)
    assert (values.money_per_day, values.money_per_month) == (Decimal("0.5"), Decimal("7.25"))
    assert (values.topics, values.follows) == (["tides"], ["gabriel"])
    assert [kernel.words for kernel in agent.kernels.all()] == [
        "What a table leaves out.", "Slack water",
    ]  # fmt: skip
    assert [(b.model, b.base_url, b.output_style, b.streams) for b in agent.brains.all()] == [
        ("anthropic:claude-sonnet-4-5", "https://models.example/v1", "tool", False),
        ("openai:gpt-5", "", "native", True),
    ]
    assert agent.carried["capabilities"]["shell"]["timeout_seconds"] == 120
    assert agent.carried["memory"]["remember"] == {
        "conversations_with": ["odile"], "decisions_made": True,
    }  # fmt: skip
    assert agent.carried["behavior"]["respond_to_dms"] is False
    assert "behavior.max_iterations" in line["kept_only"]["iris"]
    assert not set(line["kept_only"]["iris"]) & set(COLUMNS)


def test_an_import_never_lets_an_agent_answer_by_itself(tmp_path: Path):
    _, line = run("import", put(tmp_path / "iris"))
    assert line["is_autonomous"] == {"iris": False}
    assert "answer by itself" in line["says"]
    assert not AgentSettings.objects.get().is_autonomous
    AgentSettings.objects.update(is_autonomous=True)
    _, line = run("import", put(tmp_path / "iris", FULL.replace("40", "41")))
    assert line["is_autonomous"] == {"iris": True}
    assert AgentSettings.objects.get().is_autonomous


def test_the_switch_is_no_key(tmp_path: Path):
    put(tmp_path / "iris", "name: iris\nbehavior:\n  is_autonomous: true\n")
    [sentence] = refused("import", tmp_path / "iris")
    assert "line 3: behavior.is_autonomous is no key known here" in sentence


def test_what_is_not_given_stays_as_it_is(tmp_path: Path):
    run("import", put(tmp_path / "iris", persona=PERSONA))
    before = kept()
    put(tmp_path / "iris", "name: iris\ninterests: {topics: [moons]}\n")
    (tmp_path / "iris/system-prompt.md").unlink()
    _, line = run("import", tmp_path / "iris")
    after = kept()
    assert after.pop("topics") == ["moons"]
    assert before.pop("topics") == ["tides"]
    assert after.pop("carried") == {"api_key_env": before.pop("carried")["api_key_env"]}
    assert after == before
    assert line["changed"]["iris"][0] == "topics"


def test_a_second_import_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("IRIS_MODEL_KEY", "key-of-the-model")
    put(tmp_path / "iris", persona=PERSONA)
    run("import", tmp_path)
    before = dump()
    _, line = run("import", tmp_path)
    assert (line["imported"], line["new"], line["changed"]) == (["iris"], [], {})
    assert dump() == before


def test_only_lists_are_the_same_in_another_order(tmp_path: Path):
    config = "name: iris\nkernels: [one, two]\nbehavior: {limits: {max_daily_comments: 12}}\n"
    run("import", put(tmp_path / "iris", config, "one\ntwo"))
    turned = config.replace("one, two", "two, one").replace("12", "21")
    _, line = run("import", put(tmp_path / "iris", turned, "two\none"))
    assert line["changed"] == {"iris": ["replies_per_day", "persona"]}


def test_the_ledger_says_which_fields_an_import_changed(tmp_path: Path):
    run("import", put(tmp_path / "iris"))
    put(tmp_path / "iris", FULL.replace("max_daily_comments: 40", "max_daily_comments: 41"))
    run("import", tmp_path / "iris")
    line = AuditEvent.objects.called("agent.imported").first()
    assert line.facts["changed"] == ["replies_per_day"]
    assert line.actor == "command:agents"
    assert AuditEvent.objects.called("agent.changed").first().facts == {
        "replies_per_day": ["40", "41"]
    }


def test_a_mode_from_a_file_reaches_the_accounts(tmp_path: Path):
    presence = make_presence(agent=make_agent(slug="iris"))
    run("import", put(tmp_path / "iris", "name: iris\nbehavior: {mode: off}\n"))
    presence.account.refresh_from_db()
    assert presence.account.mode == "off"


def test_a_scripted_voice_has_no_model(tmp_path: Path):
    run("import", put(tmp_path / "iris"))
    for provider in ("scripted", "none"):
        run("import", put(tmp_path / "iris", f"name: iris\nbrain: {{provider: {provider}}}\n"))
        assert AgentSettings.objects.get().voice == "scripted"
        assert not Brain.objects.exists()


def test_the_older_name_of_a_limit_is_known(tmp_path: Path):
    put(tmp_path / "iris", "name: iris\nbehavior:\n  max_daily_comments: 33\n")
    run("import", tmp_path / "iris")
    assert AgentSettings.objects.get().replies_per_day == 33
    put(
        tmp_path / "iris",
        "name: iris\nbehavior:\n  max_daily_comments: 33\n  limits: {max_daily_comments: 34}\n",
    )
    [sentence] = refused("import", tmp_path / "iris")
    assert "line 3: behavior.max_daily_comments says another number than" in sentence


def test_all_agents_of_a_folder_come_together(tmp_path: Path):
    for slug in ("iris", "gabriel"):
        put(tmp_path / slug, f"name: {slug}\n")
    (tmp_path / "notes").mkdir()
    _, line = run("import", tmp_path)
    assert line["imported"] == ["gabriel", "iris"]
    assert set(Agent.objects.values_list("slug", flat=True)) == {"gabriel", "iris"}


def test_one_bad_file_keeps_all_others_out(tmp_path: Path):
    put(tmp_path / "gabriel", "name: gabriel\n")
    put(tmp_path / "iris", "name: iris\ncolour: petrol\n")
    put(tmp_path / "vera", "name: vera\ncache_ttl: long\n")
    sentences = refused("import", tmp_path)
    assert len(sentences) == 2, "all problems are told together"
    assert f"{tmp_path}/iris/config.yaml, line 2: colour" in sentences[0]
    assert f"{tmp_path}/vera/config.yaml, line 2: cache_ttl must be a whole number" in sentences[1]


NO_VERA = """
CREATE FUNCTION no_vera() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.slug = 'vera' THEN RAISE EXCEPTION 'not vera'; END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER no_vera BEFORE INSERT ON dialogue_agent FOR EACH ROW EXECUTE FUNCTION no_vera()
"""


@pytest.mark.django_db(transaction=True)
def test_an_import_that_breaks_half_way_leaves_nothing(tmp_path: Path):
    for slug in ("iris", "vera"):
        put(tmp_path / slug, f"name: {slug}\n")
    with connection.cursor() as cursor:
        cursor.execute(NO_VERA)
    try:
        with pytest.raises(DatabaseError, match="not vera"):
            run("import", tmp_path)
    finally:
        with connection.cursor() as cursor:
            cursor.execute("DROP TRIGGER no_vera ON dialogue_agent; DROP FUNCTION no_vera()")
    assert not Agent.objects.exists()
    assert not AuditEvent.objects.exists()


def test_without_a_name_the_folder_gives_it(tmp_path: Path):
    run("import", put(tmp_path / "iris", "type: native\n"))
    assert Agent.objects.get().slug == "iris"


# ── what is refused ───────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("config", "line", "says"),
    [
        ("nam: iris", 1, "nam is no key known here; do you mean name?"),
        ("brain:\n  api_key: sk-1", 2, "do you mean api_key_env?"),
        ("cache_ttl: soon", 1, "cache_ttl must be a whole number from 0 to 31,536,000, not text"),
        ("name: [iris]", 1, "name must be text, not a list"),
        ("name: 7", 1, "must be text, not 7 (put it in quotes)"),
        ("name: Iris Murdoch", 1, "a short name"),
        ("display_name: ''", 1, "is empty"),
        (f"display_name: {'x' * 81}", 1, "at most 80 characters, not 81"),
        ("timezone: Mars/Olympus", 1, "'Mars/Olympus' is no time zone"),
        ("type: parrot", 1, "must be one of native, claude-code"),
        ("lives: abroad", 1, "must be one of here, elsewhere"),
        ("active_hours: {from: 08:00}", 1, "active_hours lacks to"),
        ("active_hours: {from: 25:00, to: 09:00}", 1, "must be a time of day like 08:00"),
        ("brain: hot", 1, "brain must be a section, not text"),
        ("brain: {temperature: 2.5}", 1, "a number from 0 to 2, not 2.5"),
        ("brain: {temperature: .nan}", 1, "a number from 0 to 2, not .nan"),
        ("brain: {max_tokens: 63}", 1, "a whole number from 64 to 16,000, not 63"),
        ("brain: {max_tokens: 0x40}", 1, "a whole number from 64 to 16,000, not 0x40"),
        ("brain: {max_tokens: 100.0}", 1, "a whole number from 64 to 16,000, not 100.0"),
        ("brain: {model: gpt-5}", 1, "brain lacks provider"),
        ("brain: {provider: openai}", 1, "brain lacks model"),
        ("brain: {provider: none, model: gpt-5}", 1, "asks none"),
        ("brain:\n  fallbacks:\n    - {provider: openai}", 3, "fallbacks[0] lacks model"),
        ("brain:\n  api_base: ftp://x.example", 2, "must be an address like https://"),
        ("brain:\n  api_base: https://me:pw@x.example/", 2, "without a password"),
        ("brain:\n  api_key_env: sk-ant-api03", 2, "must be the name of a variable"),
        ("interests: {topics: tides}", 1, "interests.topics must be a list, not text"),
        ("interests: {topics: [no]}", 1, "interests.topics[0] must be text, not no"),
        ("behavior: {respond_to_dms: 1}", 1, "must be true or false, not 1"),
        ("behavior:\n  limits:\n    max_daily_comments: 501", 3, "from 0 to 500, not 501"),
        ("behavior:\n  limits:\n    max_daily_comments: -1", 3, "from 0 to 500, not -1"),
        ("behavior: {mode: loud}", 1, "must be one of auto, review, shadow, off"),
        ("budget: {money_per_day: 1_000_000}", 1, "a number from 0 to 10,000"),
        ("budget: {money_per_day: 0.00001}", 1, "cannot be kept"),
        ("budget:\n  money_per_day: 11", 2, "makes a day's 11 more than the month's 10"),
        (f"kernels: ['{'x' * 1001}']", 1, "at most 1,000 characters, not 1,001"),
        ("kernels: [" + "a, " * 201 + "]", 1, "at most 200 items, not 201"),
        ("memory: {retrieval: {relevance_threshold: 1.1}}", 1, "a number from 0 to 1, not 1.1"),
        ("capabilities: {mcp_servers: [{command: x}]}", 1, "mcp_servers[0] lacks name"),
        ("name: iris\nname: iris", 2, "name stands here a second time"),
        ("{[1]: 2}", 1, "has a key that is no word"),
        ("description: &a x", 1, "anchors (&) are not taken here"),
        ("name: iris\ndescription: *a", 2, "aliases (*) are not taken here"),
        ("description: !!python/object:os.system x", 1, "tags (!) are not taken here"),
        ("memory: " + "{a: " * 20 + "1" + "}" * 20, 1, "more than 12 levels"),
        ("name: iris\n---\nname: iris", 2, "single document"),
        ("name: iris\n\tx: 1", 2, "cannot start any token"),
        ('description: "a\\0b"', 1, "holds a NUL"),
        ('description: "\\ud800"', 1, "half a character"),
        ("name: iris\n\x07", 2, "the character 0x7 is not taken here"),
        ("- iris", 1, "must be a section, not a list"),
        ("version:\n  sk-abcdefghijklmnopqrstuvwxyz", 2, "shaped like a key"),
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
        ('name: "\\UFFFFFFFF"', "stands for nothing that exists"),
        (b"name: \xff\xfe", "line 1: it is not UTF-8"),
        ("#" * (LARGEST + 1), "larger than 256 kB"),
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
    assert "its folder's name cannot be one" in sentence


@pytest.mark.parametrize("make", [os.mkfifo, lambda path: path.symlink_to("nowhere"), Path.mkdir])
def test_a_persona_that_is_no_file_is_refused_and_not_waited_for(tmp_path: Path, make: Any):
    place = put(tmp_path / "iris", "name: iris\n")
    make(place / "system-prompt.md")
    [sentence] = refused("import", place)
    assert sentence == f"{place}/system-prompt.md: it is no file, or leads to none."


@pytest.mark.parametrize(
    ("persona", "says"),
    [
        ("x" * 20_001, "20,001 characters"),
        ("one\ntwo \0", "line 2: it holds a NUL"),
        ("key:\nsk-abcdefghijklmnopqrstuvwxyz", "line 2: it holds something shaped like a key"),
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


# ── keys ──────────────────────────────────────────────────────────────────

MODEL = "name: iris\nbrain:\n  provider: anthropic\n  model: claude\n  api_key_env: IRIS_KEY\n"


def the_key() -> str:
    return Brain.objects.get(rank=0).key


def test_a_key_comes_from_its_variable_and_is_never_told(tmp_path: Path, monkeypatch: Any):
    monkeypatch.setenv("IRIS_KEY", "key-of-the-model")
    put(tmp_path / "iris", MODEL)
    shown, told = run("import", tmp_path / "iris", "--dry-run")
    _, line = run("import", tmp_path / "iris")
    run("export", tmp_path / "out")
    assert the_key() == "key-of-the-model"
    assert "+ key of anthropic:claude: what IRIS_KEY holds" in shown
    config = (tmp_path / "out/iris/config.yaml").read_text()
    assert "api_key_env: IRIS_KEY" in config
    assert "key-of-the-model" not in f"{shown}{told}{line}{config}{dump()}"


def test_a_new_key_replaces_the_old_one(tmp_path: Path, monkeypatch: Any):
    put(tmp_path / "iris", MODEL)
    for key in ("first", "second"):
        monkeypatch.setenv("IRIS_KEY", key)
        _, line = run("import", tmp_path / "iris")
        assert "key of anthropic:claude" in line["changed"]["iris"]
        assert the_key() == key


def test_without_the_variable_the_key_stays_and_a_missing_one_is_told(
    tmp_path: Path, monkeypatch: Any
):
    put(tmp_path / "iris", MODEL)
    _, line = run("import", tmp_path / "iris")
    assert line["keys_not_set"] == {"iris": ["IRIS_KEY"]}
    monkeypatch.setenv("IRIS_KEY", "first")
    run("import", tmp_path / "iris")
    monkeypatch.delenv("IRIS_KEY")
    put(tmp_path / "iris", MODEL.replace("claude", "claude-next"))
    _, line = run("import", tmp_path / "iris")
    assert line["keys_not_set"] == {}
    assert the_key() == "first"


def test_a_key_never_follows_to_another_address(tmp_path: Path, monkeypatch: Any):
    monkeypatch.setenv("IRIS_KEY", "first")
    run("import", put(tmp_path / "iris", MODEL))
    monkeypatch.delenv("IRIS_KEY")
    run("import", put(tmp_path / "iris", f"{MODEL}  api_base: https://elsewhere.example/v1\n"))
    assert the_key() == ""


@pytest.mark.parametrize("variable", ["SECRET_KEY", "DATABASE_URL", "CREDENTIAL_KEYS"])
def test_our_own_variables_are_no_keys(tmp_path: Path, variable: str):
    [sentence] = refused("import", put(tmp_path / "iris", MODEL.replace("IRIS_KEY", variable)))
    assert "names a variable of Colloquy itself" in sentence


def test_a_key_does_not_travel_in_the_clear(tmp_path: Path, monkeypatch: Any):
    for host, is_taken in (("127.0.0.1:8080", True), ("models.example", False)):
        put(tmp_path / "iris", f"{MODEL}  api_base: http://{host}/v1\n")
        if is_taken:
            run("import", tmp_path / "iris")
        else:
            assert "in the clear" in refused("import", tmp_path / "iris")[0]


def test_what_is_no_key_is_refused_without_being_told(tmp_path: Path, monkeypatch: Any):
    monkeypatch.setenv("IRIS_KEY", "two\nlines")
    [sentence] = refused("import", put(tmp_path / "iris", MODEL))
    assert "IRIS_KEY" in sentence
    assert "two" not in sentence


def test_a_servers_secret_is_only_the_name_of_a_variable(tmp_path: Path):
    config = (
        "capabilities:\n  mcp_servers:\n    - name: git\n      env:\n        GIT_TOKEN: hidden\n"
    )
    [sentence] = refused("import", put(tmp_path / "iris", config))
    assert "line 5: capabilities.mcp_servers[0].env.GIT_TOKEN must be a variable" in sentence
    assert "hidden" not in sentence


# ── the dry run ───────────────────────────────────────────────────────────


def test_a_dry_run_shows_the_difference_and_changes_nothing(tmp_path: Path):
    run("import", put(tmp_path / "iris", persona=PERSONA))
    changed = (
        FULL.replace("max_daily_comments: 40", "max_daily_comments: 44")
        .replace("Slack water", "Neap tides")
        .replace("gpt-5", "gpt-6")
        .replace("cache_ttl: 300", "cache_ttl: 60")
    )
    put(tmp_path / "iris", changed, PERSONA.replace("tables", "maps"))
    before = dump()
    shown, line = run("import", tmp_path / "iris", "--dry-run")
    assert dump() == before
    assert shown.splitlines() == [
        "iris",
        "- replies_per_day: 40",
        "+ replies_per_day: 44",
        "- kernels: Slack water",
        "+ kernels: Neap tides",
        "--- persona",
        "+++ system-prompt.md",
        "@@ -1,3 +1,3 @@",
        " You are Iris.",
        " ",
        "-You read what tables leave out.",
        "+You read what maps leave out.",
        "- models: openai:gpt-5, native, streams",
        "+ models: openai:gpt-6, native, streams",
        "- cache_ttl: 300",
        "+ cache_ttl: 60",
    ]
    assert line["dry_run"] is True
    assert line["imported"] == []
    assert line["changed"]["iris"] == [
        "replies_per_day", "kernels", "persona", "models", "cache_ttl",
    ]  # fmt: skip


def test_a_dry_run_of_a_new_agent_makes_nothing(tmp_path: Path):
    before = dump()
    shown, line = run("import", put(tmp_path / "iris"), "--dry-run")
    assert "iris: would be new" in shown
    assert line["new"] == ["iris"]
    assert dump() == before


def test_a_dry_run_without_a_difference_says_so(tmp_path: Path):
    run("import", put(tmp_path / "iris"))
    shown, line = run("import", tmp_path / "iris", "--dry-run")
    assert shown == "iris: stays as it is"
    assert line["changed"] == {}


def test_what_would_steer_a_terminal_is_spelled_out(tmp_path: Path):
    config = 'name: iris\nkernels: ["red \\e[31m"]\n'
    shown, _ = run("import", put(tmp_path / "iris", config, "a \x1b[2J b"), "--dry-run")
    assert "\x1b" not in shown
    assert r"red \x1b[31m" in shown
    assert r"+a \x1b[2J b" in shown


# ── export ────────────────────────────────────────────────────────────────


def test_what_is_exported_comes_back_the_same(tmp_path: Path):
    run("import", put(tmp_path / "iris", persona=PERSONA))
    before = kept()
    _, line = run("export", tmp_path / "out")
    assert line == {"exported": ["iris"], "to": str(tmp_path / "out")}
    assert run("import", tmp_path / "out")[1]["changed"] == {}
    Agent.objects.all().delete()
    run("import", tmp_path / "out")
    assert kept() == before


def test_an_untouched_agent_comes_back_the_same(tmp_path: Path):
    make_agent(slug="iris")
    before = kept()
    run("export", tmp_path)
    assert run("import", tmp_path)[1]["changed"] == {}
    Agent.objects.all().delete()
    run("import", tmp_path)
    assert kept() == {**before, "is_autonomous": False}


def test_one_agent_is_exported_alone(tmp_path: Path):
    for slug in ("iris", "gabriel"):
        make_agent(slug=slug)
    run("export", tmp_path, "--agent", "gabriel")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["gabriel"]
    assert sorted(path.name for path in (tmp_path / "gabriel").iterdir()) == [
        "config.yaml",
        "system-prompt.md",
    ]


def test_an_export_of_nobody_is_refused(tmp_path: Path):
    assert refused("export", tmp_path) == ["There is no agent to export."]
    assert refused("export", tmp_path, "--agent", "vera") == ["There is no agent vera."]


def test_where_nothing_can_be_written_it_says_so(tmp_path: Path):
    make_agent(slug="iris")
    (tmp_path / "out").write_text("a file")
    assert "cannot be written" in refused("export", tmp_path / "out")[0]


# ── whatever comes ────────────────────────────────────────────────────────

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


def of_layout(section: Section) -> st.SearchStrategy[dict[str, Any]]:
    """Known keys with values that may fit or not."""
    keys = {
        name: st.one_of(ANYTHING, of_layout(kind)) if isinstance(kind, Section) else ANYTHING
        for name, kind in section.keys.items()
    }
    return st.fixed_dictionaries({}, optional=keys)


def reads(text: str) -> None:
    wanted, problems = read(text, "config.yaml", "iris")
    for problem in problems:
        assert "\n" not in str(problem)
        assert str(problem).isprintable()
    if not problems:
        json.dumps(wanted.carried, allow_nan=False)


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
    tuning.change_agent(
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
