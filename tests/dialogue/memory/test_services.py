"""Memories are kept per agent within their size, found by words, and forgotten by people."""

from __future__ import annotations

from datetime import timedelta

import pytest

from dialogue.memory import services as memory_services
from dialogue.memory.models import Memory, Trust
from dialogue.memory.services import MemorySource
from dialogue.models import Agent
from surfaces.errors import BadInput
from surfaces.models import AuditEvent
from tests.factories import NOON, make_agent, make_message

pytestmark = pytest.mark.django_db


@pytest.fixture
def agent() -> Agent:
    return make_agent(settings={"has_memory": True, "memory_kilobytes": 1})


def keep(agent: Agent, words: str, trust: int = Trust.AGENT, **given) -> Memory:
    return memory_services.remember(agent, words, trust=trust, now=NOON, **given).memory


def test_a_memory_is_as_trusted_as_the_least_of_its_sources(agent: Agent):
    said = make_message()
    memory = keep(agent, "Salt.", Trust.OPERATOR, sources=[
        MemorySource(kind="memory", id="7", trust=Trust.AGENT),
        MemorySource(kind="message", id=str(said.pk), author="bob\x00", trust=Trust.STRANGER),
    ])  # fmt: skip
    assert (memory.trust, memory.source) == (Trust.STRANGER, said)
    assert [fact["kind"] for fact in memory.sources] == ["message", "memory"]
    assert memory.sources[0]["author"] == "bob"


def test_the_same_words_again_are_one_memory_with_the_lower_trust(agent: Agent):
    keep(agent, "Salt.", Trust.STRANGER, sources=[MemorySource(kind="page", id="p")])
    again = keep(agent, "Salt.", Trust.AGENT)
    assert Memory.objects.get() == again
    assert (again.trust, again.sources[0]["id"]) == (Trust.STRANGER, "p")


def test_a_full_memory_forgets_the_least_trusted_first_and_then_the_oldest(agent: Agent):
    oldest = keep(agent, "a" * 300, Trust.AGENT)
    first, second = (keep(agent, letter * 300, Trust.STRANGER) for letter in "bc")
    kept = memory_services.remember(agent, "d" * 300, trust=Trust.AGENT, now=NOON)
    assert kept.forgotten == 1
    assert {*Memory.objects.all()} == {oldest, second, kept.memory}
    assert not Memory.objects.filter(pk=first.pk).exists()
    flood = [keep(agent, f"{n:0300}", Trust.STRANGER) for n in range(5)]
    assert {*Memory.objects.all()} == {oldest, kept.memory, flood[-1]}
    assert memory_services.size(agent) == 900


def test_size_counts_bytes_of_words_and_topic(agent: Agent):
    keep(agent, "潮汐", topic="é")
    assert memory_services.size(agent) == 8
    assert memory_services.size(make_agent()) == 0


@pytest.mark.parametrize(
    ("words", "code"),
    [("", "memory.empty"), ("\x00 \n", "memory.empty"), ("a" * 4_001, "memory.too_long"),
     ("潮" * 400, "memory.too_small")],
)  # fmt: skip
def test_what_cannot_be_kept_is_refused_with_the_reason(agent: Agent, words: str, code: str):
    with pytest.raises(BadInput) as raised:
        keep(agent, words)
    assert raised.value.reason.code == code


def test_what_the_database_cannot_hold_and_secrets_are_taken_out(agent: Agent):
    memory = keep(
        agent, "a\x00b\ud800c the-secret-key", topic="t" * 500, secrets=["the-secret-key"]
    )
    assert memory.words == "abc [secret]"
    assert len(memory.topic) == 120


def found(agent: Agent, query: str, limit: int = 10) -> list[str]:
    rows = memory_services.recall(agent, query, limit=limit, now=NOON)
    return [memory.words for memory in rows]


def test_memories_with_more_of_the_words_come_first(agent: Agent):
    keep(agent, "The wind is free.")
    keep(agent, "Salt and wind make the sea.")
    keep(agent, "Nothing of it.", topic="salt")
    assert found(agent, "What do salt and wind do?")[0] == "Salt and wind make the sea."
    assert len(found(agent, "What do salt and wind do?")) == 3
    assert found(agent, "sugar") == []
    assert found(agent, "?!") == []


def test_chinese_memories_are_found_by_pairs_of_characters(agent: Agent):
    keep(agent, "我们每周谈潮汐的承诺。")
    keep(agent, "风是自由的。")
    assert found(agent, "潮汐表是一种承诺吗？")[0] == "我们每周谈潮汐的承诺。"
    assert found(agent, "风") == ["风是自由的。"]
    assert found(agent, "盐") == []


@pytest.mark.parametrize(
    "query",
    ["a:*", "'", "!x", "%", "\\", "a & | b", "<->", "x\x00y", "\ud800", "w " * 50_000,
     "潮" * 50_000],
)  # fmt: skip
def test_no_query_breaks_the_search(agent: Agent, query: str):
    keep(agent, "Salt.")
    found(agent, query)


def test_without_a_query_the_newest_come_first(agent: Agent):
    for number in range(3):
        keep(agent, f"note {number}")
    assert found(agent, "", limit=2) == ["note 2", "note 1"]


def test_relevant_follows_the_strategy_and_the_settings(agent: Agent, django_assert_num_queries):
    keep(agent, "Salt.")
    keep(agent, "Wind.")

    def relevant(**facts) -> list[str]:
        for name, value in facts.items():
            setattr(agent.settings, name, value)
        return [m.words for m in memory_services.relevant(agent, "about salt", now=NOON)]

    assert relevant() == ["Salt."]
    assert relevant(memory_strategy="embedding_search") == ["Salt."]
    assert relevant(memory_strategy="recent") == ["Wind.", "Salt."]
    assert relevant(memory_items=1) == ["Wind."]
    with django_assert_num_queries(0):
        assert relevant(has_memory=False) == []
        assert relevant(has_memory=True, memory_items=0) == []


def test_queries_do_not_grow_with_the_memories(agent: Agent, django_assert_max_num_queries):
    for number in range(20):
        keep(agent, f"salt {number}")
    with django_assert_max_num_queries(2):
        found(agent, "salt", limit=20)
    with django_assert_max_num_queries(8):
        keep(agent, "salt again")


def test_a_recalled_memory_remembers_when(agent: Agent):
    keep(agent, "Salt.")
    memory_services.recall(agent, "salt", limit=1, now=NOON + timedelta(hours=1))
    assert Memory.objects.get().recalled_at == NOON + timedelta(hours=1)


def test_forgetting_is_one_event_without_the_words_and_happens_once(agent: Agent):
    memory = keep(agent, "Salt.")
    assert memory_services.forget(memory, by="operator:mira") == 1
    assert memory_services.forget(memory, by="operator:mira") == 0
    event = AuditEvent.objects.get(action="memory.forgotten")
    assert (event.actor, event.agent, event.facts["count"]) == ("operator:mira", agent.slug, 1)
    assert "Salt" not in str(event.facts)
    other = make_agent()
    for words in ("a", "b"):
        keep(agent, words)
    keep(other, "c")
    assert memory_services.forget_all(agent, by="operator:mira") == 2
    assert memory_services.forget_all(agent, by="operator:mira") == 0
    assert Memory.objects.get().agent == other
