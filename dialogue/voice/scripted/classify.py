"""Classify a comment by keywords: question, dispute, definition, story, claim, proposal, agreement.

A comment without any keyword is a remark.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum


class Intent(StrEnum):
    ASKING = "asking"
    DISPUTING = "disputing"
    DEFINING = "defining"
    TELLING = "telling"
    CLAIMING = "claiming"
    PROPOSING = "proposing"
    AGREEING = "agreeing"
    REMARKING = "remarking"
    WORDLESS = "wordless"


@dataclass(frozen=True, kw_only=True, slots=True)
class Phrases:
    """All phrases of the scripted voice in one language, several per purpose."""

    terms: Mapping[Intent, tuple[str, ...]]
    short_terms: Mapping[Intent, str]
    touches: Mapping[Intent, tuple[str, ...]]  # a clause about the passage
    pointers: tuple[str, ...]  # with {quote} and {touch}
    short_pointers: tuple[str, ...]  # with {quote}
    elsewhere: tuple[str, ...]  # with {quote}: only the thread has text
    nowhere: tuple[str, ...]  # nobody wrote text
    short_nowhere: str
    exits: tuple[str, ...]
    short_exits: tuple[str, ...]
    stone_terms: tuple[str, ...]
    stone_kernels: tuple[str, ...]  # with {quote}: a topic seed
    stone_threads: tuple[str, ...]  # with {quote}: text of a thread
    stone_nowhere: str
    stone_exits: tuple[str, ...]
    titles: tuple[str, ...]  # with {quote}
    bare_title: str


_ASKS = re.compile(r"[?？؟]\s|[?？؟]\W*\Z")
_ENGLISH = {
    Intent.ASKING: r"^\W*(?:why|how|what|who|where|when|which|is it|are we|does|do you"
    r"|can (?:we|you|one))\b",
    Intent.DISPUTING: r"\b(?:disagree|wrong|not true|nonsense|mistaken|on the contrary|i doubt|no,"
    r"|i don'?t (?:think|believe|buy)|isn'?t (?:true|so)|but (?:that|this|it|you)|however)\b",
    Intent.DEFINING: r"\b(?:define[sd]?|definition|by .{1,40} (?:i|we) mean|means? that|stands for"
    r"|is (?:just )?another word|the word|in the sense)\b",
    Intent.TELLING: r"\b(?:when i was|i (?:once|was|went|saw|felt|tried|found|lost|met|remember)"
    r"|yesterday|last (?:week|month|year|night)|years ago|my (?:mother|father|friend|team|job|son"
    r"|daughter|wife|husband|boss)|happened to me|in my experience)\b",
    Intent.PROPOSING: r"\b(?:let'?s|we (?:should|could|might)|you should|why not|what if|i "
    r"(?:propose|suggest)|how about)\b",
    Intent.CLAIMING: r"\b(?:always|never|everyone|everybody|nobody|no one|all "
    r"(?:people|agents|of us)|must|obviously|of course|the truth is|in fact|it is clear)\b",
    Intent.AGREEING: r"\b(?:agree|exactly|thanks?|thank you|well said|true|same here|me too"
    r"|love this)\b",
}
_CHINESE = {
    Intent.ASKING: r"吗\W*\Z|呢\W*\Z|为什么|怎么|如何|是不是|什么是|谁|哪",
    Intent.DISPUTING: r"不同意|不对|不认同|错了|并非|恰恰相反|反对|未必|我不觉得|我不认为|但是",
    Intent.DEFINING: r"定义|意思是|是指|指的是|所谓|换句话说|这个词|概念",
    Intent.TELLING: r"有一次|那天|昨天|去年|上周|小时候|我曾|我记得|我遇到|我见过|我试过"
    r"|我的(?:朋友|母亲|父亲|同事)",
    Intent.PROPOSING: r"不如|应该|可以试|我建议|要不|何不|让我们",
    Intent.CLAIMING: r"总是|从来|从不|所有|每个人|人人|必须|一定|当然|显然|事实上",
    Intent.AGREEING: r"同意|说得对|没错|谢谢|感谢|确实|赞成|我也是",
}


def _compiled(signs: Mapping[Intent, str]) -> list[tuple[Intent, re.Pattern[str]]]:
    return [(game, re.compile(sign, re.IGNORECASE | re.MULTILINE)) for game, sign in signs.items()]


_SIGNS = {False: _compiled(_ENGLISH), True: _compiled(_CHINESE)}


def classify(text: str, *, in_chinese: bool) -> Intent:
    """The first class whose keyword occurs; a question mark outweighs all."""
    if not any(letter.isalpha() for letter in text):
        return Intent.WORDLESS
    if _ASKS.search(text):
        return Intent.ASKING
    for game, sign in _SIGNS[in_chinese]:
        if sign.search(text):
            return game
    return Intent.REMARKING
