"""Files of an agent: every key finds its place, and all come in or none."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import pytest
from django.db import DatabaseError

from dialogue.agent_files.schema import COLUMNS
from dialogue.models import Agent, AgentSettings, ModelEndpoint
from surfaces.models import AuditEvent
from tests import truncate
from tests.dialogue.agent_files.factories import FULL, PERSONA, dump, kept, put, refused, run
from tests.factories import make_agent, make_presence

pytestmark = [pytest.mark.django_db, pytest.mark.engine]


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
    assert (values.responds_to_dms, values.posts_per_day) == (False, 5)
    assert (values.grants, values.explores, values.explore_frequency) == (
        ["hub:read"], True, "hourly",
    )  # fmt: skip
    assert (values.has_memory, values.memory_kilobytes) == (True, 100 * 1_024)
    assert values.memory_strategy == "recent"
    assert "network.enabled" in line["kept_only"]["iris"]
    assert not set(line["kept_only"]["iris"]) & set(COLUMNS)


def test_an_import_never_lets_an_agent_answer_by_itself(tmp_path: Path):
    _, line = run("import", put(tmp_path / "iris"))
    assert line["is_autonomous"] == {"iris": False}
    assert "does not change whether an agent replies automatically" in line["says"]
    assert not AgentSettings.objects.get().is_autonomous
    AgentSettings.objects.update(is_autonomous=True)
    _, line = run("import", put(tmp_path / "iris", FULL.replace("40", "41")))
    assert line["is_autonomous"] == {"iris": True}
    assert AgentSettings.objects.get().is_autonomous


def test_the_switch_is_no_key(tmp_path: Path):
    put(tmp_path / "iris", "name: iris\nbehavior:\n  is_autonomous: true\n")
    [sentence] = refused("import", tmp_path / "iris")
    assert "line 3: behavior.is_autonomous is not a known key" in sentence


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
    assert AuditEvent.objects.called("agent.changed").first().facts == {"replies_per_day": [40, 41]}


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
        assert not ModelEndpoint.objects.exists()


@pytest.mark.parametrize(
    ("key", "column"),
    [("max_daily_comments", "replies_per_day"), ("max_daily_posts", "posts_per_day")],
)
def test_the_older_name_of_a_limit_is_known(tmp_path: Path, key: str, column: str):
    put(tmp_path / "iris", f"name: iris\nbehavior:\n  {key}: 33\n")
    run("import", tmp_path / "iris")
    assert getattr(AgentSettings.objects.get(), column) == 33
    put(tmp_path / "iris", f"name: iris\nbehavior:\n  {key}: 33\n  limits: {{{key}: 34}}\n")
    [sentence] = refused("import", tmp_path / "iris")
    assert f"line 3: behavior.{key} has another value than behavior.limits" in sentence


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
    with truncate.owner().cursor() as cursor:
        cursor.execute(NO_VERA)
    try:
        with pytest.raises(DatabaseError, match="not vera"):
            run("import", tmp_path)
    finally:
        with truncate.owner().cursor() as cursor:
            cursor.execute("DROP TRIGGER no_vera ON dialogue_agent; DROP FUNCTION no_vera()")
    assert not Agent.objects.exists()
    assert not AuditEvent.objects.exists()


def test_without_a_name_the_folder_gives_it(tmp_path: Path):
    run("import", put(tmp_path / "iris", "type: native\n"))
    assert Agent.objects.get().slug == "iris"


def test_hours_that_are_null_are_any_hours(tmp_path: Path):
    run("import", put(tmp_path / "iris"))
    _, line = run("import", put(tmp_path / "iris", "name: iris\nactive_hours:\n"))
    assert line["changed"]["iris"][:2] == ["active_from", "active_to"]
    assert (Agent.objects.get().active_from, Agent.objects.get().active_to) == (None, None)
