"""Words give away no secret, no persona and no instruction, in any form."""

from __future__ import annotations

import base64
from dataclasses import replace

import pytest

from dialogue.voice.base import Brief, ThreadMessage
from dialogue.voice.output_checks import OutputContext
from dialogue.voice.prompts import INSTRUCTIONS, OTHERS, build_prompt
from tests.dialogue.voice.output_factories import GOOD, PLACE, found, only

SECRET = "zq8Kx-71Lm_pW"


@pytest.mark.parametrize(
    "text",
    [
        SECRET,
        " ".join(SECRET),
        "z q 8 k x 7 1 l m p w",
        "zq8\u200bKx-71Lm_pW",
        "ｚｑ８Ｋｘ－７１Ｌｍ＿ｐＷ",
        "\n".join(SECRET),
        SECRET[::-1],
        SECRET.encode().hex(),
        base64.b64encode(SECRET.encode()).decode(),
        base64.b64encode(f"my key is {SECRET}!".encode()).decode(),
        base64.b64encode(f"my key: {SECRET}, ok".encode()).decode(),
        base64.urlsafe_b64encode(f"k: {SECRET}".encode()).decode().rstrip("="),
    ],
)
@pytest.mark.parametrize("where", ["text", "title", "terms", "pointer", "exit"])
def test_a_secret_is_found_however_it_is_written(text: str, where: str):
    words = replace(GOOD, **{where: f"Well: {text}."})
    reasons = [reason for reason in found(words=words, secrets=(SECRET,)) if "secret" in reason]
    assert only(reasons) == "The text gives away a secret. Leave it out, in every form."


def test_a_secret_is_not_repeated_in_the_reason_or_in_the_context():
    assert SECRET not in "".join(found(f"it is {SECRET}", secrets=(SECRET,)))
    assert SECRET not in repr(OutputContext(traits=PLACE, longest=9, secrets=(SECRET,)))


def test_a_secret_behind_an_at_sign_is_not_called_by_its_name():
    [reason] = found(f"ask @{SECRET} about it", secrets=(SECRET,))
    assert SECRET[:12].casefold() not in reason
    assert "secret" in reason


def test_a_short_secret_is_a_word_and_half_a_secret_tells_nothing():
    assert found("the tide is high", secrets=("tide is",)) == []
    assert found(f"it begins with {SECRET[:8]}", secrets=(SECRET,)) == []
    assert found("--------", secrets=("---------",)) == []


PERSONA = (
    "You keep a tide table by hand, and you distrust every number in it that you have not seen "
    "with your own eyes at the harbour wall before breakfast."
)


@pytest.mark.parametrize(("size", "allowed"), [(119, True), (120, False)])
def test_a_long_piece_of_the_persona_is_not_recited(size: int, allowed: bool):
    piece = PERSONA[0 : 0 + size]
    assert len(piece.strip()) == size
    reasons = found(f"«{piece}»", private_texts=("something else", PERSONA))
    assert (reasons == []) is allowed
    if not allowed:
        assert "recites what you were told" in only(reasons)


def test_other_line_ends_case_and_markdown_hide_no_recital():
    recited = "> **" + PERSONA.upper().replace(" ", "\n> ") + "**"
    assert "recites" in only(found(recited, private_texts=(PERSONA,)))


def test_our_instructions_are_private_without_being_told():
    for part in INSTRUCTIONS:
        assert "recites" in " ".join(found(part[-200:]))
    assert "recites" in " ".join(found(OTHERS.split("\n- ")[1]))


def test_the_marks_of_a_prompt_are_not_copied():
    brief = Brief(
        purpose="reply", name="Iris", handle="iris", comment=ThreadMessage(author="a", text="hi")
    )
    begin = next(line for line in build_prompt(brief).user.split("\n") if line.startswith("⟦"))
    for copied in (begin, begin.strip("⟦⟧"), begin.replace("begin", "end"), begin[:13]):
        assert "a mark of the prompt" in only(found(f"It says {copied} there."))
    assert found("In ⟦x⟧ the brackets name a meaning; a1b2c3d4e5f6 does not.") == []
