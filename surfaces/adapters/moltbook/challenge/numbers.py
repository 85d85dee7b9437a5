"""Find the numbers in a Moltbook challenge, as words or digits."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from itertools import pairwise

from surfaces.adapters.moltbook.challenge.tokenizer import (
    BEFORE_NOUN,
    Atom,
    ChallengeToken,
    TokenRole,
)

LARGEST_NUMBER = Decimal(10) ** 9
NUMERIC = {TokenRole.UNIT, TokenRole.TEEN, TokenRole.TENS, TokenRole.WHOLE}


class Unsolvable(ValueError):
    """No answer, or more than one."""


@dataclass(frozen=True, slots=True)
class SpelledNumber:
    value: Decimal
    first: int  # token
    last: int
    is_word_one: bool = False


def numbers_of(tokens: list[ChallengeToken], atoms: list[Atom]) -> list[SpelledNumber]:
    """Return the numbers in order."""
    _refuse_glue(tokens)
    numbers, at = [], 0
    while at < len(atoms):
        number, at = _number(atoms, at)
        if number:
            numbers.append(number)
    if any(abs(number.value) > LARGEST_NUMBER for number in numbers):
        raise Unsolvable("a number is too large to be meant")
    return _without_idle_ones(tokens, numbers)


def _refuse_glue(tokens: list[ChallengeToken]) -> None:
    """Digits broken by noise ("2]5") may be one number or two."""
    for before, token in pairwise(tokens):
        if token.is_glued and before.text[0].isdigit() and token.text[0].isdigit():
            raise Unsolvable("digits are broken by a symbol")


def _number(atoms: list[Atom], at: int) -> tuple[SpelledNumber | None, int]:
    """Read the number that begins at atom `at`, with all that belongs to it."""
    first = atoms[at]
    sign, start = Decimal(1), at
    if first.word == "negative" and _follows(atoms, at, NUMERIC):
        sign, at = Decimal(-1), at + 1
    if atoms[at].role not in NUMERIC | {TokenRole.SCALE}:  # a scale alone: "a hundred"
        return None, start + 1
    value, at = _below_hundred(atoms, at)
    while _follows(atoms, at - 1, {TokenRole.SCALE}):
        value, at = value * atoms[at].value, at + 1
        skip = 1 if _follows_word(atoms, at - 1, "and") else 0
        if _follows(atoms, at - 1 + skip, NUMERIC):
            rest, at = _below_hundred(atoms, at + skip)
            if _follows(atoms, at - 1, {TokenRole.SCALE}):
                raise Unsolvable("a number is told in more steps than expected")
            value += rest
    value, at = _decimals(atoms, at, value)
    alone = at - start == 1 and first.word == "one"
    return SpelledNumber(sign * value, first.first, atoms[at - 1].last, alone), at


def _below_hundred(atoms: list[Atom], at: int) -> tuple[Decimal, int]:
    value = atoms[at].value
    if atoms[at].role is TokenRole.TENS and _follows(atoms, at, {TokenRole.UNIT}):
        return value + atoms[at + 1].value, at + 2
    return value, at + 1


def _decimals(atoms: list[Atom], at: int, value: Decimal) -> tuple[Decimal, int]:
    if not (_follows_word(atoms, at - 1, "point") and _follows(atoms, at, {TokenRole.UNIT})):
        return value, at
    at, digits = at + 1, ""
    while at < len(atoms) and _follows(atoms, at - 1, {TokenRole.UNIT}):
        digits += str(atoms[at].value)
        at += 1
    return value + Decimal(f"0.{digits}"), at


def _follows(atoms: list[Atom], at: int, roles: set[TokenRole]) -> bool:
    """Whether the atom after `at` has such a role and stands right beside it."""
    return at + 1 < len(atoms) and atoms[at + 1].role in roles and _touch(atoms, at)


def _follows_word(atoms: list[Atom], at: int, word: str) -> bool:
    return at + 1 < len(atoms) and atoms[at + 1].word == word and _touch(atoms, at)


def _touch(atoms: list[Atom], at: int) -> bool:
    return atoms[at].last + 1 == atoms[at + 1].first


def _without_idle_ones(
    tokens: list[ChallengeToken], numbers: list[SpelledNumber]
) -> list[SpelledNumber]:
    """Leave out the "one" of "one claw" where two numbers are there without it."""
    if len(numbers) <= 2:
        return numbers

    def is_idle(number: SpelledNumber) -> bool:
        after = tokens[number.last + 1].text if number.last + 1 < len(tokens) else ""
        return number.is_word_one and after in BEFORE_NOUN

    return [number for number in numbers if not is_idle(number)]
