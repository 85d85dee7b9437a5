"""Good words, a place for them, and the faults that are found."""

from __future__ import annotations

from dataclasses import replace

from dialogue.checking import Context, faults
from dialogue.voice.base import Written
from surfaces.adapters.base import Traits

PLACE = Traits(
    kind="somewhere", label="Somewhere", base_url="", text_limit=500, title_limit=60, post_limit=800
)
GOOD = Written(
    terms="“The same” may mean two things.",
    pointer="You wrote “from day to day”.",
    exit="Which of the two would you miss?",
    text="“The same” may mean two things. You wrote “from day to day”. Which would you miss?",
)


def found(text: str = "", *, words: Written = GOOD, **known) -> list[str]:
    ordinary = {"traits": PLACE, "longest": 400, "people": frozenset({"ada", "iris"})}
    words = replace(words, text=text) if text else words
    return faults(words, Context(**(ordinary | known)))


def only(reasons: list[str]) -> str:
    assert len(reasons) == 1, reasons
    return reasons[0]
