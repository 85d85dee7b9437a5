"""Solve Moltbook's challenges: two numbers and one operation in a noisy text.

Moltbook skill.md 1.12.0, AI verification: "A] lO^bSt-Er S[wImS aT/ tW]eNn-Tyy
mE^tE[rS aNd] SlO/wS bY^ fI[vE" is 20 - 5. A wrong answer counts against the
account as much as none, so what can be read in two ways is not answered.
"""

import unicodedata
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from itertools import pairwise
from operator import add, mul, sub, truediv

from surfaces.adapters.moltbook.challenge.numbers import SpelledNumber, Unsolvable, numbers_of
from surfaces.adapters.moltbook.challenge.tokenizer import (
    BEFORE_NOUN,
    MINUS_SIGN,
    OVER_SIGN,
    TIMES_SIGN,
    Atom,
    ChallengeToken,
    Operation,
    TokenRole,
    atoms_of,
    tokens_of,
)

LONGEST_PUZZLE = 2000  # characters
CENT = Decimal("0.01")
# Signs that count anywhere between the numbers, and those that count only as all there is.
SIGNS = {"+": Operation.PLUS, "*": Operation.TIMES, TIMES_SIGN: Operation.TIMES,
         OVER_SIGN: Operation.OVER}  # fmt: skip
SHY_SIGNS = {"/": Operation.OVER, "-": Operation.MINUS, MINUS_SIGN: Operation.MINUS}
COMPUTE = dict(zip(Operation, (add, sub, mul, truediv), strict=True))
COMPARED = {"more", "faster", "less", "fewer", "slower"}


@dataclass(frozen=True, slots=True)
class Puzzle:
    tokens: list[ChallengeToken]
    atoms: list[Atom]
    numbers: list[SpelledNumber]

    def between(self) -> range:
        return range(self.numbers[0].last + 1, self.numbers[1].first)

    def has(self, word: str, where: range | None = None) -> bool:
        found = [atom.first for atom in self.atoms if atom.word == word]
        return any(where is None or at in where for at in found)


def solve(text: str) -> str:
    """Return the answer with two decimals, or raise `Unsolvable` with the reason."""
    if len(text) > LONGEST_PUZZLE:
        raise Unsolvable("it is too long for a puzzle")
    tokens = tokens_of(unicodedata.normalize("NFKC", text).lower().replace("_", "^"))
    reading = _read(tokens, lenient=False)
    if len(reading.numbers) != 2:
        # Some puzzles lose a letter ("six ten"); assume that only if nothing else works.
        lenient = _read(tokens, lenient=True)
        reading = lenient if len(lenient.numbers) == 2 else reading
    if odd := next((atom.word for atom in reading.atoms if atom.role is TokenRole.ODD), ""):
        raise Unsolvable(f"it asks for {odd}")
    if len(reading.numbers) == 1:
        left, op, right = _factor(reading)
    elif len(reading.numbers) == 2:
        op, why, place = _operation(reading)
        left, right = _in_order(reading, op, why, place)
    else:
        raise Unsolvable(f"it has {len(reading.numbers)} numbers, not two")
    if op is Operation.OVER and right == 0:
        raise Unsolvable("it divides by zero")
    answer: Decimal = COMPUTE[op](left, right).quantize(CENT, ROUND_HALF_UP)
    return f"{abs(answer) if answer == 0 else answer:f}"


def _read(tokens: list[ChallengeToken], *, lenient: bool) -> Puzzle:
    atoms = atoms_of(tokens, lenient=lenient)
    return Puzzle(tokens, atoms, numbers_of(tokens, atoms))


# The operation, the word that says so, the token where it stands.
Named = tuple[Operation, str, int]


def _operation(puzzle: Puzzle) -> Named:
    between = puzzle.between()
    meant = SIGNS | (SHY_SIGNS if len(between) == 1 else {})
    signs = [(puzzle.tokens[at].text, at) for at in between]
    found = [(meant[sign], sign, at) for sign, at in signs if sign in meant] + [
        (atom.op, atom.word, atom.first)
        for atom in puzzle.atoms
        if atom.role is TokenRole.STRONG and atom.op
    ]
    ops = {op for op, _, _ in found}
    if any(atom.role is TokenRole.FACTOR for atom in puzzle.atoms):
        raise Unsolvable("it has two numbers and a factor")
    if len(ops) == 1:
        _refuse_traps(puzzle, found[0])
        return found[0]
    if ops:
        raise Unsolvable("it names more than one operation")
    return _hinted(puzzle)


def _refuse_traps(puzzle: Puzzle, found: Named) -> None:
    op, word, place = found
    for before, atom in pairwise(puzzle.atoms):
        touching = before.last + 1 == atom.first
        if touching and before.word == "many" and atom.word == "times":
            raise Unsolvable("'how many times' asks for the opposite")
        if touching and before.first == place and atom.word == "to" and op is not Operation.TIMES:
            raise Unsolvable(f"what comes after '{word} to' may be the result")


def _hinted(puzzle: Puzzle) -> Named:
    """Without a named operation, use the hints if they agree."""
    if puzzle.has("per") and (puzzle.has("far") or puzzle.has("distance")):
        raise Unsolvable("a speed and a distance, but no operation")
    for before, atom in pairwise(puzzle.atoms):
        if before.word in ("much", "many") and atom.word in COMPARED:
            raise Unsolvable("it compares, in a direction that is not clear")
    hints = [
        (atom.op, atom.word, atom.first)
        for atom in puzzle.atoms
        if atom.role is TokenRole.WEAK and atom.op and not _is_side(puzzle, atom)
    ]
    if any(word == "each" for _, word, _ in hints):
        hints = [hint for hint in hints if hint[0] is not Operation.PLUS]
    ops = {op for op, _, _ in hints}
    if len(ops) != 1:
        raise Unsolvable("the hints disagree" if ops else "no operation is named")
    return hints[0]


def _is_side(puzzle: Puzzle, atom: Atom) -> bool:
    """The left of left and right."""
    after = atom.last + 1
    beside = puzzle.tokens[after].text if after < len(puzzle.tokens) else ""
    return atom.word == "left" and (puzzle.has("right") or beside in BEFORE_NOUN)


def _in_order(puzzle: Puzzle, op: Operation, why: str, place: int) -> tuple[Decimal, Decimal]:
    first, second = puzzle.numbers[0].value, puzzle.numbers[1].value
    if op in (Operation.PLUS, Operation.TIMES):
        return first, second
    between = puzzle.between()
    is_turned = any(puzzle.has(word, between) for word in ("from", "of"))
    if why in ("less", "fewer", "slower") and place in between and puzzle.has("than", between):
        return second, first
    if place in between and not is_turned:
        return first, second
    if op is Operation.MINUS:
        return _minus(puzzle, why, place, is_turned)
    if place < puzzle.numbers[0].first and any(
        puzzle.has(word, between) for word in ("by", "into", "among", "between")
    ):
        return first, second
    if place > puzzle.numbers[1].last and puzzle.has("by", range(place)):
        return first, second
    raise Unsolvable("which number is divided is not clear")


def _minus(puzzle: Puzzle, why: str, place: int, is_turned: bool) -> tuple[Decimal, Decimal]:
    first, second = puzzle.numbers[0].value, puzzle.numbers[1].value
    if is_turned:
        if place < puzzle.numbers[0].first:
            return second, first  # "subtract five from twenty"
        raise Unsolvable("what is taken from what is not clear")
    is_after = place > puzzle.numbers[1].last
    told_in_order = is_after or why == "difference" or puzzle.has("by", puzzle.between())
    if told_in_order and first >= second:
        return first, second
    raise Unsolvable("which number is the larger is not clear")


def _factor(puzzle: Puzzle) -> tuple[Decimal, Operation, Decimal]:
    """ "It doubles its speed": one number, and the other one is in the word."""
    factors = [atom for atom in puzzle.atoms if atom.role is TokenRole.FACTOR]
    others = [atom for atom in puzzle.atoms if atom.role is TokenRole.STRONG]
    if len(factors) != 1 or others or not factors[0].op:
        raise Unsolvable("it has one number, not two")
    return puzzle.numbers[0].value, factors[0].op, factors[0].value
