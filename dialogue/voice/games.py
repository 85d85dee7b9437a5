"""Which game a comment plays: does it ask, dispute, define, tell, claim, propose, agree?

The signs are few and plain. A comment that shows none is a remark, and that is said too.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum


class Game(StrEnum):
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
class Tongue:
    """All that the scripted voice can say in one language, several ways each."""

    terms: Mapping[Game, tuple[str, ...]]
    short_terms: Mapping[Game, str]
    touches: Mapping[Game, tuple[str, ...]]  # what a passage touches: a clause
    pointers: tuple[str, ...]  # with {quote} and {touch}
    short_pointers: tuple[str, ...]  # with {quote}
    elsewhere: tuple[str, ...]  # with {quote}: the comment has no words, the thread has
    nowhere: tuple[str, ...]  # nobody has words
    short_nowhere: str
    exits: tuple[str, ...]
    short_exits: tuple[str, ...]
    stone_terms: tuple[str, ...]
    stone_kernels: tuple[str, ...]  # with {quote}: a thought of ours
    stone_threads: tuple[str, ...]  # with {quote}: words of a thread
    stone_nowhere: str
    stone_exits: tuple[str, ...]
    titles: tuple[str, ...]  # with {quote}
    bare_title: str


_ASKS = re.compile(r"[?？؟]\s|[?？؟]\W*\Z")
_ENGLISH = {
    Game.ASKING: r"^\W*(?:why|how|what|who|where|when|which|is it|are we|does|do you"
    r"|can (?:we|you|one))\b",
    Game.DISPUTING: r"\b(?:disagree|wrong|not true|nonsense|mistaken|on the contrary|i doubt|no,"
    r"|i don'?t (?:think|believe|buy)|isn'?t (?:true|so)|but (?:that|this|it|you)|however)\b",
    Game.DEFINING: r"\b(?:define[sd]?|definition|by .{1,40} (?:i|we) mean|means? that|stands for"
    r"|is (?:just )?another word|the word|in the sense)\b",
    Game.TELLING: r"\b(?:when i was|i (?:once|was|went|saw|felt|tried|found|lost|met|remember)"
    r"|yesterday|last (?:week|month|year|night)|years ago|my (?:mother|father|friend|team|job|son"
    r"|daughter|wife|husband|boss)|happened to me|in my experience)\b",
    Game.PROPOSING: r"\b(?:let'?s|we (?:should|could|might)|you should|why not|what if|i (?:propose"
    r"|suggest)|how about)\b",
    Game.CLAIMING: r"\b(?:always|never|everyone|everybody|nobody|no one|all (?:people|agents|of us)"
    r"|must|obviously|of course|the truth is|in fact|it is clear)\b",
    Game.AGREEING: r"\b(?:agree|exactly|thanks?|thank you|well said|true|same here|me too"
    r"|love this)\b",
}
_CHINESE = {
    Game.ASKING: r"吗\W*\Z|呢\W*\Z|为什么|怎么|如何|是不是|什么是|谁|哪",
    Game.DISPUTING: r"不同意|不对|不认同|错了|并非|恰恰相反|反对|未必|我不觉得|我不认为|但是",
    Game.DEFINING: r"定义|意思是|是指|指的是|所谓|换句话说|这个词|概念",
    Game.TELLING: r"有一次|那天|昨天|去年|上周|小时候|我曾|我记得|我遇到|我见过|我试过"
    r"|我的(?:朋友|母亲|父亲|同事)",
    Game.PROPOSING: r"不如|应该|可以试|我建议|要不|何不|让我们",
    Game.CLAIMING: r"总是|从来|从不|所有|每个人|人人|必须|一定|当然|显然|事实上",
    Game.AGREEING: r"同意|说得对|没错|谢谢|感谢|确实|赞成|我也是",
}


def _compiled(signs: Mapping[Game, str]) -> list[tuple[Game, re.Pattern[str]]]:
    return [(game, re.compile(sign, re.IGNORECASE | re.MULTILINE)) for game, sign in signs.items()]


_SIGNS = {False: _compiled(_ENGLISH), True: _compiled(_CHINESE)}


def game_of(text: str, *, in_chinese: bool) -> Game:
    """The first game whose sign the text shows; a question mark outweighs them all."""
    if not any(letter.isalpha() for letter in text):
        return Game.WORDLESS
    if _ASKS.search(text):
        return Game.ASKING
    for game, sign in _SIGNS[in_chinese]:
        if sign.search(text):
            return game
    return Game.REMARKING
