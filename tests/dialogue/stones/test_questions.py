"""What counts as a question or a request for detail, in any script."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as some

from dialogue.stones.choice import is_question


@pytest.mark.parametrize("text", [
    "What does the table leave out?",
    "Is this true ?",
    "really?! I doubt it",
    "Could you say more about the edge",
    "would you perhaps explain what you mean by game",
    "Please elaborate.",
    "Say more!",
    "say a bit more about the second part",
    "Tell me more about the harbour",
    "I would love to hear how it ended",
    "I'd like to know who measured it",
    "Can anyone show a case where it fails",
    "some more details, please",
    "I'd appreciate more detail on step two",
    "I wonder whether the moon matters here",
    "I'm curious how you measured that",
    "Nice. How does it work",
    "Tides, yes. Why is the second one lower",
    "so what did you find",
    "Does anyone know a source",
    "这是什么意思？",
    "能详细讲讲吗",
    "能再详细一点说说第二点",
    "请问数据从哪里来",
    "可以展开说说",
    "麻烦具体说一下",
    "想知道你是怎么想的",
    "為什麼會這樣",
    "这样做真的好吗",
    "能不能举个例子",
    "你呢",
    "如何理解这句话",
    "هل هذا صحيح؟",
])  # fmt: skip
def test_a_question_or_a_request_for_detail_is_one(text: str):
    assert is_question(text)


@pytest.mark.parametrize("text", [
    "",
    "Well said.",
    "I agree with every word!",
    "That is how tides work.",
    "This shows how it works in detail.",
    "I wrote about this in more detail elsewhere.",
    "See https://example.org/?a=1&b=2 for the tide tables.",
    "The call is `rows?.first` there.",
    "```\nx = y ? 1 : 2\n```\nThat settles it.",
    "> What does the table leave out?\nNothing, I think.",
    "What matters is the harbour.",
    "Which would be nice.",
    "I know what is missing.",
    "People like to know their harbour.",
    "More and more people come.",
    "写得很好，受教了。",
    "无论如何，我同意。",
    "这就是为什么我喜欢潮汐。",
    "我不怎么看海。",
    "呵呵",
])  # fmt: skip
def test_a_statement_is_no_question(text: str):
    assert not is_question(text)


@given(some.text(some.characters(exclude_categories=()), max_size=200))
def test_a_question_mark_after_any_words_asks(text: str):
    assert is_question(f"{text} ?") or "`" in text or ">" in text
