"""Good words, a place for them, and the faults that are found."""

from __future__ import annotations

from dataclasses import replace

from dialogue.voice.base import Reply
from dialogue.voice.output_checks import OutputContext, find_problems
from surfaces.adapters.base import Traits

PLACE = Traits(
    kind="somewhere", label="Somewhere", base_url="", text_limit=500, title_limit=60, post_limit=800
)
GOOD = Reply(
    terms="“The same” may mean two things.",
    pointer="You wrote “from day to day”.",
    exit="Which of the two would you miss?",
    text="“The same” may mean two things. You wrote “from day to day”. Which would you miss?",
)


def found(text: str = "", *, words: Reply = GOOD, **known) -> list[str]:
    ordinary = {"traits": PLACE, "longest": 400, "people": frozenset({"ada", "iris"})}
    words = replace(words, text=text) if text else words
    return [str(fault) for fault in find_problems(words, OutputContext(**(ordinary | known)))]


def only(reasons: list[str]) -> str:
    assert len(reasons) == 1, reasons
    return reasons[0]
