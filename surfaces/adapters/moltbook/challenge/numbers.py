"""Find the numbers in a Moltbook challenge, as words or digits."""

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
NOTHING = Atom(TokenRole.NOISE, "")


class Unsolvable(ValueError):
    """No answer, or more than one."""


@dataclass(frozen=True, slots=True)
class SpelledNumber:
    value: Decimal
    first: int  # token
    last: int
    is_word_one: bool = False


def numbers_of(tokens: list[ChallengeToken], atoms: list[Atom]) -> list[SpelledNumber]:
    for before, token in pairwise(tokens):  # "2]5" may be one number or two
        if token.is_glued and before.text[0].isdigit() and token.text[0].isdigit():
            raise Unsolvable("digits are broken by a symbol")
    numbers, at = [], 0
    while at < len(atoms):
        number, at = _number(atoms, at)
        if number:
            numbers.append(number)
    if any(abs(number.value) > LARGEST_NUMBER for number in numbers):
        raise Unsolvable("a number is too large to be meant")
    if len(numbers) <= 2:
        return numbers
    # Leave out the "one" of "one claw": two numbers are there without it.
    after = [*(token.text for token in tokens[1:]), ""]
    return [one for one in numbers if not (one.is_word_one and after[one.last] in BEFORE_NOUN)]


def _number(atoms: list[Atom], at: int) -> tuple[SpelledNumber | None, int]:
    """Read the number that begins at atom `at`, with all that belongs to it."""
    first = atoms[at]
    sign, start = Decimal(1), at
    if first.word == "negative" and _next(atoms, at).role in NUMERIC:
        sign, at = Decimal(-1), at + 1
    if atoms[at].role not in NUMERIC | {TokenRole.SCALE}:  # a scale alone: "a hundred"
        return None, start + 1
    value, at = _below_hundred(atoms, at)
    while _next(atoms, at - 1).role is TokenRole.SCALE:
        value, at = value * atoms[at].value, at + 1
        skip = 1 if _next(atoms, at - 1).word == "and" else 0
        if _next(atoms, at - 1 + skip).role in NUMERIC:
            rest, at = _below_hundred(atoms, at + skip)
            if _next(atoms, at - 1).role is TokenRole.SCALE:
                raise Unsolvable("a number is told in more steps than expected")
            value += rest
    if _next(atoms, at - 1).word == "point" and _next(atoms, at).role is TokenRole.UNIT:
        at, digits = at + 1, ""
        while _next(atoms, at - 1).role is TokenRole.UNIT:
            digits += str(atoms[at].value)
            at += 1
        value += Decimal(f"0.{digits}")
    alone = at - start == 1 and first.word == "one"
    return SpelledNumber(sign * value, first.first, atoms[at - 1].last, alone), at


def _below_hundred(atoms: list[Atom], at: int) -> tuple[Decimal, int]:
    value = atoms[at].value
    if atoms[at].role is TokenRole.TENS and _next(atoms, at).role is TokenRole.UNIT:
        return value + atoms[at + 1].value, at + 2
    return value, at + 1


def _next(atoms: list[Atom], at: int) -> Atom:
    """The atom right beside the one at `at`, or `NOTHING`."""
    is_there = at + 1 < len(atoms) and atoms[at].last + 1 == atoms[at + 1].first
    return atoms[at + 1] if is_there else NOTHING
